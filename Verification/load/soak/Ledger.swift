import DirectHTTP
import Glibc
import Synchronization

/// What has happened so far.
final class Ledger: Sendable {
    private struct Counts {
        var isStopped = false
        var successes: [String: Int] = [:]
        var failures: [String: Int] = [:]
        /// What a caller was given that is not what the right server has.
        var wrong: [String] = []
        var overrun = Overrun()
        var cancelling = Overrun()
        var recoveries: [(time: Duration, peer: String)] = []
        var unrecovered: [String] = []
        /// The calls that are not over, by number.
        var open: [Int: String] = [:]
        var lastNumber = 0
    }

    /// The latest end of a call: after its limit, and after that without what the machine took.
    struct Overrun {
        var longest = Duration.zero, longestOwn = Duration.zero
        var what = "-", whatOwn = "-"

        mutating func add(_ late: Duration, machine: Duration, of call: String) {
            if late > longest { (longest, what) = (late, call) }
            if late - machine > longestOwn { (longestOwn, whatOwn) = (late - machine, call) }
        }
    }

    let machine: MachineWatch
    let probes = Queue()
    private let counts = Mutex(Counts())

    init(machine: MachineWatch) { self.machine = machine }

    var isStopped: Bool { counts.withLock(\.isStopped) }

    func stop() {
        counts.withLock { $0.isStopped = true }
        probes.finish()
    }

    /// Takes note of a call, and returns its number.
    func began(_ call: String) -> Int {
        counts.withLock { counts in
            counts.lastNumber += 1
            counts.open[counts.lastNumber] = call
            return counts.lastNumber
        }
    }

    func isOver(_ number: Int) { _ = counts.withLock { $0.open.removeValue(forKey: number) } }

    /// Waits until all calls are over, but not for ever.
    func calm(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while counts.withLock({ !$0.open.isEmpty }), ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    func succeeded(_ kind: String) { counts.withLock { $0.successes[kind, default: 0] += 1 } }
    func failed(_ reason: String) { counts.withLock { $0.failures[reason, default: 0] += 1 } }

    func gotWrong(_ what: String) { counts.withLock { $0.wrong.append(what) } }

    /// Takes note of a call that had to be over at a moment.
    func ended(_ call: String, due: ContinuousClock.Instant, isCancelled: Bool = false) {
        let now = ContinuousClock.now
        guard now > due else { return }
        let taken = now - due > .milliseconds(50) ? machine.taken(from: due, to: now) : .zero
        counts.withLock { counts in
            if isCancelled {
                counts.cancelling.add(now - due, machine: taken, of: call)
            } else {
                counts.overrun.add(now - due, machine: taken, of: call)
            }
        }
    }

    func recovered(after time: Duration?, _ peer: String) {
        counts.withLock { counts in
            if let time { counts.recoveries.append((time, peer)) } else { counts.unrecovered.append(peer) }
        }
    }

    func print() {
        let counts = counts.withLock { $0 }
        for (kind, count) in counts.successes.sorted(by: { $0.key < $1.key }) {
            say("success \(count) \(kind)")
        }
        for (reason, count) in counts.failures.sorted(by: { $0.value > $1.value }) {
            say("failure \(count) \(reason)")
        }
        for call in counts.open.values { say("endless \(call)") }
        for what in counts.wrong { say("wrong \(what)") }
        for (name, each) in [("deadline", counts.overrun), ("cancellation", counts.cancelling)] {
            say(
                "overrun \(name) \(milliseconds(each.longest)) \(milliseconds(each.longestOwn)) \(each.what); \(each.whatOwn)"
            )
        }
        for (time, peer) in counts.recoveries { say("recovery \(milliseconds(time)) \(peer)") }
        for peer in counts.unrecovered { say("unrecovered \(peer)") }
    }

    private func milliseconds(_ time: Duration) -> Int { Int(time / .milliseconds(1)) }
}

/// Names that one task takes in the order in which others append them.
struct Queue: Sendable {
    let names: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (names, continuation) = AsyncStream.makeStream() }

    func append(_ name: String) { continuation.yield(name) }
    func finish() { continuation.finish() }
}

/// The name of an error's case and where it happened, without what differs from one call to the next.
func description(of error: any Error) -> String {
    if let error = error as? UnexpectedStatus { return "status \(error.status.code)" }
    guard let error = error as? HTTPError else { return "\(type(of: error))" }
    let reason = Mirror(reflecting: error.reason)
    guard let first = reason.children.first, let label = first.label else {
        return "\(error.phase): \(error.reason)"
    }
    let inner = Mirror(reflecting: first.value)
    if inner.displayStyle == .enum, let name = inner.children.first?.label {
        return "\(error.phase): \(label).\(name)"
    }
    return inner.displayStyle == .enum
        ? "\(error.phase): \(label).\(first.value)" : "\(error.phase): \(label)"
}
