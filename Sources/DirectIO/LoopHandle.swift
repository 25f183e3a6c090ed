internal import Synchronization

/// Something a loop looks after: two points to wait at, and their deadlines.
///
/// A socket is one; bare, it serves for waits that no descriptor ends (a turn in a queue, a lookup on
/// another thread), which use `input` alone.
package class LoopHandle: @unchecked Sendable {
    package let loop: EventLoop
    package let input = WaitPoint()
    package let output = WaitPoint()
    /// Once set, input never blocks again: data and the end of the stream may share one event.
    private let hungUp = Atomic<Bool>(false)
    /// Where the loop keeps this handle; guarded by the loop's registry lock.
    final var slot = -1

    package init(loop: EventLoop) {
        self.loop = loop
    }

    package final var isHungUp: Bool { hungUp.load(ordering: .relaxed) }

    final func noteHangUp() { hungUp.store(true, ordering: .releasing) }

    /// Ends the waits that are due; else says when the first one will be.
    final func expire(ifBefore now: Instant) -> Instant {
        min(input.expire(ifBefore: now), output.expire(ifBefore: now))
    }
}
