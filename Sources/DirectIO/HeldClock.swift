internal import Synchronization

/// A clock that stands still until it is moved by hand.
///
/// A loop that is made with one fires its deadlines when the clock is moved past them, and at no other time. Tests
/// of time-outs use it: their verdict does not depend on how fast or how busy the machine is.
package final class HeldClock: Sendable {
    private let nanoseconds: Atomic<UInt64>
    private let loops = Locked<[EventLoop]>([])

    /// A clock that shows the system's time of this moment.
    package init() {
        nanoseconds = Atomic(Instant.now.nanoseconds)
    }

    package var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .sequentiallyConsistent)) }

    /// Moves the clock forward, and lets its loops end the waits that are due.
    package func advance(by duration: Duration) {
        nanoseconds.wrappingAdd(duration.clampedNanoseconds, ordering: .sequentiallyConsistent)
        for loop in loops.withLock({ $0 }) { loop.clockHasMoved() }
    }

    func attach(_ loop: EventLoop) {
        loops.withLock { $0.append(loop) }
    }
}
