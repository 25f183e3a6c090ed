internal import Synchronization

/// Something a loop looks after: two points to wait at, and their deadlines.
///
/// A socket is one; bare, it serves for waits that no descriptor ends (a turn in a queue, a lookup on
/// another thread), which use `input` alone.
package class LoopHandle: @unchecked Sendable {
    package let loop: EventLoop
    package let input = WaitPoint()
    package let output = WaitPoint()
    /// Where the task that writes waits for input, and the task that reads for room: TLS may want the other
    /// direction, and each point has room for one task.
    private let writersInput = WaitPoint(isReady: true)
    private let readersOutput = WaitPoint(isReady: true)
    /// Set for good by the first task that waits there.
    private let isCrossed = Atomic<Bool>(false)
    /// Once set, input never blocks again: data and the end of the stream may share one event.
    private let hungUp = Atomic<Bool>(false)
    /// Where the loop keeps this handle; guarded by the loop's registry lock.
    final var slot = -1

    /// Which of two tasks waits, where one reads and another one writes.
    package enum Side {
        case reader
        case writer
    }

    package init(loop: EventLoop) {
        self.loop = loop
    }

    package final var isHungUp: Bool { hungUp.load(ordering: .relaxed) }

    /// Waits until there may be input, at a point of the task's own.
    package final func waitForInput(_ side: Side, until deadline: Instant) async -> WaitPoint.Wake {
        switch side {
        case .reader: await input.wait(until: deadline, on: loop)
        case .writer: await wait(crosswiseAt: writersInput, until: deadline)
        }
    }

    /// Waits until there may be room for output, at a point of the task's own.
    package final func waitForOutput(_ side: Side, until deadline: Instant) async -> WaitPoint.Wake {
        switch side {
        case .reader: await wait(crosswiseAt: readersOutput, until: deadline)
        case .writer: await output.wait(until: deadline, on: loop)
        }
    }

    /// Each of these points is ready at first, so the first wait ends at once: what happened before the mark was set
    /// has not been noted there, and the attempt that led here has to be made again.
    private func wait(crosswiseAt point: WaitPoint, until deadline: Instant) async -> WaitPoint.Wake {
        isCrossed.store(true, ordering: .sequentiallyConsistent)
        let wake = await point.wait(until: deadline, on: loop)
        // Cleared before the next attempt, as readiness always is.
        point.clear()
        return wake
    }

    /// Wakes the tasks that wait for what has happened.
    final func note(_ event: PollerEvent) {
        if event.isHungUp { hungUp.store(true, ordering: .releasing) }
        if event.canRead { input.signal() }
        if event.canWrite { output.signal() }
        guard isCrossed.load(ordering: .sequentiallyConsistent) else { return }
        if event.canRead { writersInput.signal() }
        if event.canWrite { readersOutput.signal() }
    }

    /// Wakes every task that waits here, for whatever it waits.
    package final func wakeAll() {
        input.signal()
        output.signal()
        writersInput.signal()
        readersOutput.signal()
    }

    /// The earliest deadline of the waits under way.
    final var earliestDeadline: Instant {
        let own = min(input.pendingDeadline, output.pendingDeadline)
        guard isCrossed.load(ordering: .sequentiallyConsistent) else { return own }
        return min(own, writersInput.pendingDeadline, readersOutput.pendingDeadline)
    }

    /// Whether a wait that ends at this moment is under way.
    final func hasWait(until moment: Instant) -> Bool {
        [input, output, writersInput, readersOutput].contains { $0.pendingDeadline == moment }
    }

    /// Ends the waits that are due. Returns when the next one will be.
    final func expire(ifBefore now: Instant) -> Instant {
        let own = min(input.expire(ifBefore: now), output.expire(ifBefore: now))
        guard isCrossed.load(ordering: .sequentiallyConsistent) else { return own }
        return min(own, writersInput.expire(ifBefore: now), readersOutput.expire(ifBefore: now))
    }
}
