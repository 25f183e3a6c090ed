internal import Synchronization

/// A clock that stands still until it is moved by hand, and the date that goes with it.
///
/// A loop that is made with one fires its deadlines when the clock is moved past them, and at no other time. Tests
/// of time-outs use it: their verdict does not depend on how fast or how busy the machine is.
package final class HeldClock: Sendable {
    private let start: (instant: Instant, date: UnixTime)
    private let nanoseconds: Atomic<UInt64>
    private let state = Locked(State())

    private struct State {
        var loops: [EventLoop] = []
        var observers: [Observer] = []
        var observerCount = 0
    }

    private struct Observer {
        let number: Int
        let moment: Instant
        let continuation: UnsafeContinuation<Void, Never>
    }

    /// A clock that shows the system's time of this moment.
    package init() {
        start = (.now, .now)
        nanoseconds = Atomic(start.instant.nanoseconds)
    }

    package var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .sequentiallyConsistent)) }

    /// The date when the clock was made, and the time that has been let pass since.
    package var date: UnixTime {
        let passed = now.nanoseconds - start.instant.nanoseconds
        return start.date.advanced(bySeconds: Int64(clamping: passed / 1_000_000_000))
    }

    /// Moves the clock forward, and lets its loops end the waits that are due.
    package func advance(by duration: Duration) {
        nanoseconds.wrappingAdd(duration.clampedNanoseconds, ordering: .sequentiallyConsistent)
        for loop in state.withLock({ $0.loops }) { loop.clockHasMoved() }
    }

    /// Whether a wait that ends at this moment is under way.
    package func hasWait(until moment: Instant) -> Bool {
        state.withLock { $0.loops }.contains { $0.hasWait(until: moment) }
    }

    /// Returns once a wait that ends at this moment is under way: what is to be tested has come that far.
    package func waitBegins(until moment: Instant) async throws(CancellationError) {
        let number = state.withLock { state in
            state.observerCount += 1
            return state.observerCount
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let observer = Observer(number: number, moment: moment, continuation: continuation)
                state.withLock { $0.observers.append(observer) }
                // Looked at afterwards: a wait or a cancellation that comes later finds the observer.
                if Task.isCancelled || hasWait(until: moment) { resume { $0.number == number } }
            }
        } onCancel: {
            resume { $0.number == number }
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// To be called when the wait can be seen by `hasWait`.
    func noteWait(until moment: Instant) {
        resume { $0.moment == moment }
    }

    func attach(_ loop: EventLoop) {
        state.withLock { $0.loops.append(loop) }
    }

    private func resume(_ isMeant: (Observer) -> Bool) {
        let meant = state.withLock { state in
            defer { state.observers.removeAll(where: isMeant) }
            return state.observers.filter(isMeant)
        }
        for observer in meant { observer.continuation.resume() }
    }
}
