import Glibc
import Synchronization

/// How long each request took, in microseconds.
final class Latencies: Sendable {
    private let all = Mutex<[Int32]>([])

    func removeAll() { all.withLock { $0 = [] } }
    func add(_ some: [Int32]) { all.withLock { $0 += some } }

    /// Prints the figures in the form of ``report(units:from:to:memoryAtStart:)``, on the same line.
    func report() {
        let sorted = all.withLock { $0.sorted() }
        guard !sorted.isEmpty else { return }
        print(
            "p50_us=\(sorted[sorted.count / 2])",
            "p99_us=\(sorted[sorted.count * 99 / 100])",
            terminator: " "
        )
    }
}
