package import DirectCore
internal import Synchronization

/// A point at which one task at a time waits for one event: input on a socket, room for output, its turn, or
/// a reply.
///
/// `word` is in one of three states: idle, ready, or the bits of the continuation of the waiting task.
///
/// - ``signal()``: any state → ready. Resumes the continuation if there was one.
/// - ``clear()``: ready → idle. A waiting continuation stays.
/// - ``wait(until:on:)``: idle → waiting. Returns immediately if ready.
///
/// Any thread may signal, and the waiting task may run on any executor. Only one task may wait at a time,
/// namely the one that holds the lease on the resource. A deadline or a cancellation resumes the same
/// continuation as the event does, so nothing is raced and nothing is allocated.
///
/// A task that waits with the same deadline has made no progress that moves it. So two things end a series of
/// such waits although each finds the event: once the deadline has passed and the loop has looked at the
/// sockets once more, the next wait has expired; and when some have returned without suspension the task
/// yields, and deadline and cancellation are looked at. Otherwise a peer that sends a byte now and then, or
/// readiness that is never cleared, would put a limit off for ever.
package final class WaitPoint: Sendable {
    /// The reason why a wait has ended.
    package enum Wake: UInt8, Sendable {
        /// The event has happened, or may have: try again.
        case ready = 0
        /// The deadline has passed.
        case expired = 1
        /// The task was cancelled.
        case cancelled = 2
    }

    /// Idle, ready, or the bits of the waiting continuation.
    private let word: Atomic<UInt>
    /// The number of the wait in the upper bits, and the ``Wake`` that ended it in the lowest eight.
    ///
    /// A late deadline or cancellation of one wait must not end the next. Every stop therefore names its
    /// wait, and has no effect once that wait is over.
    private let stop = Atomic<UInt64>(0)
    /// The deadline of the wait in progress, in nanoseconds on the loop's clock.
    private let deadline = Atomic<UInt64>(.max)
    /// The deadline that had passed when the loop looked at the sockets once more; 0 if none has.
    private let lateDeadline = Atomic<UInt64>(0)
    /// The waits that have returned without suspension, since one was suspended or had another deadline than
    /// `hastyDeadline`. Both belong to the waiting task.
    private let hastyWaits = Atomic<Int>(0)
    private let hastyDeadline = Atomic<UInt64>(0)

    /// Creates a wait point that is idle or ready.
    init(isReady: Bool = false) {
        word = Atomic(isReady ? Word.ready : Word.idle)
    }

    /// Whether the event may have happened. This is only a hint; the system call decides.
    package var isReady: Bool { word.load(ordering: .acquiring) == Word.ready }

    /// Clears the readiness. Call this before the system call that consumes it, so that an event during the
    /// call is not lost. A waiting continuation stays.
    package func clear() {
        _ = word.compareExchange(expected: Word.ready, desired: Word.idle, ordering: .sequentiallyConsistent)
    }

    /// Notes that the event has happened and wakes the waiting task. May be called from any thread, any
    /// number of times.
    package func signal() {
        let before = word.exchange(Word.ready, ordering: .sequentiallyConsistent)
        guard before > Word.ready else { return }
        unsafeBitCast(before, to: UnsafeContinuation<Void, Never>.self).resume()
    }

    /// Waits until the event happens, the deadline passes on the loop's clock, or the task is cancelled.
    package func wait(until deadline: Instant, on loop: EventLoop) async -> Wake {
        if lateDeadline.load(ordering: .relaxed) == deadline.nanoseconds { return .expired }
        if isReady {
            guard isHasty(deadline) else { return .ready }
            await loop.yield()
            if Task.isCancelled { return .cancelled }
            return loop.now >= deadline ? .expired : .ready
        }
        hastyWaits.store(0, ordering: .relaxed)
        let number = begin(until: deadline, on: loop)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { park($0) }
        } onCancel: {
            end(number, reason: .cancelled)
        }
        self.deadline.store(.max, ordering: .relaxed)
        return Wake(rawValue: UInt8(truncatingIfNeeded: stop.load(ordering: .acquiring))) ?? .ready
    }

    /// Counts a wait that returns without suspension. Returns whether it is one too many.
    private func isHasty(_ deadline: Instant) -> Bool {
        let isSame = hastyDeadline.load(ordering: .relaxed) == deadline.nanoseconds
        let count = isSame ? hastyWaits.load(ordering: .relaxed) + 1 : 1
        hastyDeadline.store(deadline.nanoseconds, ordering: .relaxed)
        hastyWaits.store(count < Self.mostHastyWaits ? count : 0, ordering: .relaxed)
        return count >= Self.mostHastyWaits
    }

    private static let mostHastyWaits = 8

    /// The deadline of the wait in progress, or ``Instant/never`` if there is none or it has been stopped.
    var pendingDeadline: Instant {
        let stopped = stop.load(ordering: .acquiring)
        let due = Instant(nanoseconds: deadline.load(ordering: .sequentiallyConsistent))
        return stopped & 0xFF == 0 ? due : .never
    }

    /// Notes that the deadline of the wait in progress has passed, before the loop looks at the sockets once
    /// more and ends the wait if that brings nothing.
    func noteLateness(at now: Instant) {
        let due = pendingDeadline
        if due <= now { lateDeadline.store(due.nanoseconds, ordering: .relaxed) }
    }

    /// Ends the wait if its deadline has passed. Otherwise returns the deadline.
    func expire(ifBefore now: Instant) -> Instant {
        // The number is read first, since a new number is stored before the new deadline (see `begin`).
        let stopped = stop.load(ordering: .acquiring)
        let due = Instant(nanoseconds: deadline.load(ordering: .sequentiallyConsistent))
        guard due < .never, stopped & 0xFF == 0 else { return .never }
        guard due <= now else { return due }
        end(stopped >> 8, reason: .expired)
        return .never
    }

    /// Starts a new wait and returns its number.
    private func begin(until instant: Instant, on loop: EventLoop) -> UInt64 {
        let number = (stop.load(ordering: .relaxed) >> 8) &+ 1
        // Between the two stores, the old number goes with no deadline, so a scan cannot end the new wait
        // early.
        deadline.store(.max, ordering: .relaxed)
        stop.store(number << 8, ordering: .releasing)
        guard instant < .never else { return number }
        // Sequentially consistent with the loop's scan: it sees this deadline, or we see that the loop has
        // reset its own.
        deadline.store(instant.nanoseconds, ordering: .sequentiallyConsistent)
        loop.noteDeadline(instant)
        return number
    }

    /// Ends the wait with this number, unless the event has happened or the wait is over.
    private func end(_ number: UInt64, reason: Wake) {
        // The event came first, and the task has only not run yet. A busy executor must not look like a late
        // peer.
        guard word.load(ordering: .sequentiallyConsistent) != Word.ready else { return }
        let running = number << 8
        let (exchanged, _) = stop.compareExchange(
            expected: running,
            desired: running | UInt64(reason.rawValue),
            ordering: .sequentiallyConsistent
        )
        if exchanged { signal() }
    }

    /// Stores the continuation if the word is still idle, else resumes it.
    private func park(_ continuation: UnsafeContinuation<Void, Never>) {
        let waiting = unsafeBitCast(continuation, to: UInt.self)
        let (parked, _) = word.compareExchange(
            expected: Word.idle,
            desired: waiting,
            ordering: .sequentiallyConsistent
        )
        // A stop signals too, so an event or a stop that came first has left the word ready.
        if !parked { continuation.resume() }
    }

    private enum Word {
        static let idle: UInt = 0
        static let ready: UInt = 1
    }
}
