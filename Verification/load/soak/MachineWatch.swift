import Dispatch
import Glibc
import Synchronization

/// Measures how long the machine kept this process waiting for a processor, so that a deadline missed for
/// that reason is not held against the client.
final class MachineWatch: Sendable {
    private struct State {
        /// The time that was taken away so far, at moments 20 ms apart, for the last minute.
        var moments: [(at: ContinuousClock.Instant, taken: Duration)] = []
        var waited: [String: Int] = [:]
    }

    private static let interval = Duration.milliseconds(20)
    private let state = Mutex(State())

    init() {
        DispatchQueue(label: "machine").async { [self] in
            while true { sample() }
        }
    }

    /// The time for which the process could not run between two moments: the larger of how late its timer was
    /// and how long one of its threads stood in the queue for a processor.
    func taken(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) -> Duration {
        state.withLock { state in
            let before = state.moments.last { $0.at <= start } ?? state.moments.first
            let after = state.moments.first { $0.at >= end } ?? state.moments.last
            guard let before, let after else { return .zero }
            return after.taken - before.taken
        }
    }

    private func sample() {
        let due = ContinuousClock.now + Self.interval
        usleep(20_000)
        let waits = Self.waits()
        state.withLock { state in
            let queued = waits.map { $0.value - (state.waited[$0.key] ?? $0.value) }.max() ?? 0
            let now = ContinuousClock.now
            let taken = max(now - due, .nanoseconds(queued))
            state.waited = waits
            state.moments.append((now, (state.moments.last?.taken ?? .zero) + taken))
            if state.moments.count > 6000 { state.moments.removeFirst(3000) }
        }
    }

    /// For each thread the nanoseconds that it has waited for a processor.
    private static func waits() -> [String: Int] {
        var result: [String: Int] = [:]
        guard let folder = opendir("/proc/self/task") else { return result }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let file = fopen("/proc/self/task/\(name)/schedstat", "r") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 128)
            guard fgets(&line, 128, file) != nil else { continue }
            let numbers = String(
                decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
                as: UTF8.self
            )
            .split(separator: " ")
            if numbers.count > 1 { result[name] = Int(numbers[1]) }
        }
        return result
    }
}
