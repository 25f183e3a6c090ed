package import DirectCore
internal import Synchronization

/// A clock that stands still until it is moved by hand, and the date that goes with it.
///
/// A loop with such a clock ends waits only when the clock is moved past their deadlines. Tests of time
/// limits use it, so that their result does not depend on how fast or how busy the machine is.
package final class HeldClock: Sendable {
    private let start: (instant: Instant, date: UnixTime)
    private let nanoseconds: Atomic<UInt64>
    private let state = Locked(State())

    private struct State {
        var loops: [EventLoop] = []
        var observers: [Observer] = []
        var observerCount = 0
    }

    /// A test that waits until so many waits with this deadline are in progress.
    private struct Observer {
        let number: Int
        let moment: Instant
        let count: Int
        let continuation: UnsafeContinuation<Void, Never>
    }

    /// Creates a clock that shows the system's current time.
    package init() {
        start = (.now, .now)
        nanoseconds = Atomic(start.instant.nanoseconds)
    }

    /// The time that the clock shows.
    package var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .sequentiallyConsistent)) }

    /// The date at which the clock was created, plus the time by which it has been moved since.
    package var date: UnixTime {
        let passed = now.nanoseconds - start.instant.nanoseconds
        return start.date.advanced(bySeconds: Int64(clamping: passed / 1_000_000_000))
    }

    /// Moves the clock forward and makes its loops end the waits that are due.
    package func advance(by duration: Duration) {
        nanoseconds.wrappingAdd(duration.clampedNanoseconds, ordering: .sequentiallyConsistent)
        for loop in state.withLock({ $0.loops }) { loop.clockHasMoved() }
    }

    /// The number of waits in progress with exactly this deadline.
    func waitCount(until moment: Instant) -> Int {
        state.withLock { $0.loops }.reduce(0) { $0 + $1.waitCount(until: moment) }
    }

    /// Returns once a wait with exactly this deadline is in progress, or so many of them, that is, once the
    /// code under test has got that far.
    package func waitBegins(until moment: Instant, count: Int = 1) async throws(CancellationError) {
        let number = state.withLock { state in
            state.observerCount += 1
            return state.observerCount
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let observer = Observer(
                    number: number,
                    moment: moment,
                    count: count,
                    continuation: continuation
                )
                state.withLock { $0.observers.append(observer) }
                // Tested after the observer was added: a wait or cancellation that comes later finds it.
                if Task.isCancelled || waitCount(until: moment) >= count { resume { $0.number == number } }
            }
        } onCancel: {
            resume { $0.number == number }
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// Resumes the observers of this deadline. Call it when ``waitCount(until:)`` can see the wait.
    func noteWait(until moment: Instant) {
        guard state.withLock({ $0.observers.contains { $0.moment == moment } }) else { return }
        let count = waitCount(until: moment)
        resume { $0.moment == moment && $0.count <= count }
    }

    /// Adds a loop that uses this clock.
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
