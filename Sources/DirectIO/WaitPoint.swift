internal import Synchronization

/// Where one task waits for one thing: a socket's input or its room for output, a turn, an answer.
///
/// An atomic word says "nothing yet", "ready", or holds the one continuation that waits. Any thread may
/// signal it and the waiting task may run on any executor. At most one task waits at a time: who owns the
/// lease on the thing. Deadline and cancellation wake the same continuation: nothing is raced, nothing is
/// allocated.
package final class WaitPoint: Sendable {
    /// Why a wait is over.
    package enum Wake: UInt8, Sendable {
        /// The event has come, or may have: try again.
        case ready = 0
        case expired = 1
        case cancelled = 2
    }

    /// Idle, ready, or the bits of the continuation that waits.
    private let word: Atomic<UInt>
    /// The number of the wait in the upper bits, the `Wake` that stops it in the lowest eight.
    ///
    /// A deadline or cancellation that comes late for one wait must not end the next one: every stop
    /// names its wait, and misses when that is over.
    private let stop = Atomic<UInt64>(0)
    private let deadline = Atomic<UInt64>(.max)

    package init(isReady: Bool = false) {
        word = Atomic(isReady ? Word.ready : Word.idle)
    }

    /// Whether the event may have come. Only ever a hint: the system call decides.
    package var isReady: Bool { word.load(ordering: .acquiring) == Word.ready }

    /// To be called before the system call that uses up the readiness, so that an event which comes
    /// during the call is not lost. Only readiness is taken back: a continuation that waits stays.
    package func clear() {
        _ = word.compareExchange(expected: Word.ready, desired: Word.idle, ordering: .sequentiallyConsistent)
    }

    /// Says that the event has come, and wakes who waits for it. From any thread, any number of times.
    package func signal() {
        let before = word.exchange(Word.ready, ordering: .sequentiallyConsistent)
        guard before > Word.ready else { return }
        unsafeBitCast(before, to: UnsafeContinuation<Void, Never>.self).resume()
    }

    /// Waits for the event, until `deadline` on the loop's clock, or until the task is cancelled.
    package func wait(until deadline: Instant, on loop: EventLoop) async -> Wake {
        if isReady { return .ready }
        let number = begin(until: deadline, on: loop)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { park($0) }
        } onCancel: {
            end(number, .cancelled)
        }
        self.deadline.store(.max, ordering: .relaxed)
        return Wake(rawValue: UInt8(truncatingIfNeeded: stop.load(ordering: .acquiring))) ?? .ready
    }

    /// When the wait that is under way has to end, unless it has been stopped already.
    var pendingDeadline: Instant {
        let stopped = stop.load(ordering: .acquiring)
        let due = Instant(nanoseconds: deadline.load(ordering: .sequentiallyConsistent))
        return stopped & 0xFF == 0 ? due : .never
    }

    /// Ends the wait if its deadline has come; else says when that will be.
    func expire(ifBefore now: Instant) -> Instant {
        // The number first: with a new number comes the new deadline (see `begin`).
        let stopped = stop.load(ordering: .acquiring)
        let due = Instant(nanoseconds: deadline.load(ordering: .sequentiallyConsistent))
        guard due < .never, stopped & 0xFF == 0 else { return .never }
        guard due <= now else { return due }
        end(stopped >> 8, .expired)
        return .never
    }

    private func begin(until instant: Instant, on loop: EventLoop) -> UInt64 {
        let number = (stop.load(ordering: .relaxed) >> 8) &+ 1
        // Between the two stores an old number meets no deadline, so a scan cannot end the new wait early.
        deadline.store(.max, ordering: .relaxed)
        stop.store(number << 8, ordering: .releasing)
        guard instant < .never else { return number }
        // In one order with the loop's scan: it sees this deadline, or we see that it has begun anew.
        deadline.store(instant.nanoseconds, ordering: .sequentiallyConsistent)
        loop.noteDeadline(instant)
        return number
    }

    private func end(_ number: UInt64, _ reason: Wake) {
        // The event came first, and the task has only not had its turn yet: a busy executor is no late peer.
        guard word.load(ordering: .sequentiallyConsistent) != Word.ready else { return }
        let running = number << 8
        let (exchanged, _) = stop.compareExchange(
            expected: running,
            desired: running | UInt64(reason.rawValue),
            ordering: .sequentiallyConsistent
        )
        if exchanged { signal() }
    }

    private func park(_ continuation: UnsafeContinuation<Void, Never>) {
        let waiting = unsafeBitCast(continuation, to: UInt.self)
        let (parked, _) = word.compareExchange(
            expected: Word.idle,
            desired: waiting,
            ordering: .sequentiallyConsistent
        )
        // A stop signals as well, so whoever came first has left the word ready.
        if !parked { continuation.resume() }
    }

    private enum Word {
        static let idle: UInt = 0
        static let ready: UInt = 1
    }
}
