package import DirectCore
internal import Synchronization

/// An object that an event loop manages: wait points and their deadlines.
///
/// A socket is a subclass. On its own, a handle serves for waits that no descriptor ends (a turn in a queue,
/// a lookup on another thread), which use `input` only.
///
/// A socket may have one reading and one writing task at a time. The reader normally waits at `input` and the
/// writer at `output`. TLS may need the opposite direction, and a wait point takes only one task, so each
/// task has a second point for that case.
package class LoopHandle: @unchecked Sendable {
    /// The loop that observes the deadlines.
    package let loop: EventLoop
    /// The point at which the reading task waits for input.
    package let input = WaitPoint()
    /// The point at which the writing task waits for room for output.
    package let output = WaitPoint()
    /// The points at which the writing task waits for input and the reading task waits for room for output,
    /// since TLS may need the opposite direction.
    private let writersInput = WaitPoint(isReady: true)
    private let readersOutput = WaitPoint(isReady: true)
    /// Whether a task has ever waited at one of these two points. Never cleared.
    private let isCrossed = Atomic<Bool>(false)
    /// Whether the peer has hung up. Once set, input never blocks again, since data and the end of the stream
    /// may share one event.
    private let hungUp = Atomic<Bool>(false)
    /// Whether a read that returns less than was asked for may leave more behind. Once set, only a read that
    /// would block proves that there is no more.
    private let stopsShort: Atomic<Bool>
    /// Whether another thread or task ends its waits, and not a socket or the time. Set before it is
    /// registered.
    final var isForThread = true
    /// The handle whose waits for any event (``waitForAny(until:)``) this one's events end as well; `nil` for
    /// none. Set by a task on the loop, before it waits.
    package final var partner: LoopHandle?
    /// The handle's slot in the loop's registry; `nil` if it is in none. Guarded by the registry's lock.
    final var slot: Int?

    /// The task that waits: the one that reads or the one that writes.
    package enum Side {
        case reader
        case writer
    }

    /// Creates a handle for this loop. It must be added to the loop before a wait.
    ///
    /// - Parameter mayStopShort: Whether a read may return less than was asked for although there is more.
    package init(loop: EventLoop, mayStopShort: Bool = false) {
        self.loop = loop
        stopsShort = Atomic(mayStopShort)
    }

    /// Whether the peer has hung up.
    package final var isHungUp: Bool { hungUp.load(ordering: .relaxed) }

    /// Whether a read may return less than was asked for although there is more.
    final var mayStopShort: Bool { stopsShort.load(ordering: .relaxed) }

    /// Waits for a signal at `input` and takes it, for handles without a descriptor.
    ///
    /// The signal is taken before the caller looks at what it announces: one that comes later ends the next
    /// wait. It is also taken if the wait has expired or was cancelled, so a caller that waits again looks
    /// first.
    package final func waitForSignal(until deadline: Instant) async -> WaitPoint.Wake {
        let wake = await input.wait(until: deadline, on: loop)
        input.clear()
        return wake
    }

    /// Waits until there may be input, at the point that belongs to this task.
    package final func waitForInput(_ side: Side, until deadline: Instant) async -> WaitPoint.Wake {
        switch side {
        case .reader: await input.wait(until: deadline, on: loop)
        case .writer: await wait(crosswiseAt: writersInput, until: deadline)
        }
    }

    /// Waits until there may be room for output, at the point that belongs to this task.
    package final func waitForOutput(_ side: Side, until deadline: Instant) async -> WaitPoint.Wake {
        switch side {
        case .reader: await wait(crosswiseAt: readersOutput, until: deadline)
        case .writer: await output.wait(until: deadline, on: loop)
        }
    }

    /// Waits until anything happens on this handle, or on one whose ``partner`` it is: for a task that owns
    /// both directions of one or two sockets, and tries all of them again after each wait.
    package final func waitForAny(until deadline: Instant) async -> WaitPoint.Wake {
        await wait(crosswiseAt: writersInput, until: deadline)
    }

    /// Waits at a point for the opposite direction.
    ///
    /// Both points are ready at first, so that the first wait returns immediately. Events before `isCrossed`
    /// was set have not been noted there, so the operation must be tried again.
    private func wait(crosswiseAt point: WaitPoint, until deadline: Instant) async -> WaitPoint.Wake {
        isCrossed.store(true, ordering: .sequentiallyConsistent)
        let wake = await point.wait(until: deadline, on: loop)
        // Cleared before the next try, as readiness always is.
        point.clear()
        return wake
    }

    /// Wakes the reading task, whichever direction it waits for.
    package final func wakeReader() {
        input.signal()
        readersOutput.signal()
    }

    /// Wakes the tasks that wait for this event.
    ///
    /// A task that waits for the opposite direction is woken by its own direction as well. A reader that
    /// waits for room, because TLS has something to send first, must still take what arrives: a peer may not
    /// read before that.
    final func note(_ event: PollerEvent) {
        // Before the signal, so that the read that the signal allows knows it.
        if event.isHungUp { hungUp.store(true, ordering: .releasing) }
        if event.mayStopShort { stopsShort.store(true, ordering: .releasing) }
        if event.canRead { input.signal() }
        if event.canWrite { output.signal() }
        partner?.writersInput.signal()
        guard isCrossed.load(ordering: .sequentiallyConsistent) else { return }
        writersInput.signal()
        readersOutput.signal()
    }

    /// Wakes every waiting task, whatever it waits for.
    package final func wakeAll() {
        input.signal()
        output.signal()
        writersInput.signal()
        readersOutput.signal()
    }

    /// The earliest deadline of the waits in progress.
    final var earliestDeadline: Instant {
        let own = input.pendingDeadline.atMost(output.pendingDeadline)
        guard isCrossed.load(ordering: .sequentiallyConsistent) else { return own }
        return own.atMost(writersInput.pendingDeadline).atMost(readersOutput.pendingDeadline)
    }

    /// The number of waits in progress with exactly this deadline.
    final func waitCount(until moment: Instant) -> Int {
        [input, output, writersInput, readersOutput].count { $0.pendingDeadline == moment }
    }

    /// Notes which waits are due, before the loop looks at the sockets once more.
    final func noteLateness(at now: Instant) {
        for point in [input, output, writersInput, readersOutput] { point.noteLateness(at: now) }
    }

    /// Ends the waits that are due. Returns the earliest deadline of the others.
    final func expire(ifBefore now: Instant) -> Instant {
        let own = min(input.expire(ifBefore: now), output.expire(ifBefore: now))
        guard isCrossed.load(ordering: .sequentiallyConsistent) else { return own }
        return min(own, writersInput.expire(ifBefore: now), readersOutput.expire(ifBefore: now))
    }
}
