internal import DirectCore

/// The handles of one loop, and the removed handles that are still to be released.
struct HandleRegistry {
    /// Without gaps, so that a scan costs no more after a time with many.
    private(set) var handles: [LoopHandle] = []
    /// Removed handles. They are kept because the events that the loop is currently handling may still refer
    /// to them.
    var departed: [LoopHandle] = []

    /// Adds a handle.
    mutating func insert(_ handle: LoopHandle) {
        handle.slot = handles.count
        handles.append(handle)
    }

    /// Returns the handles with a wait that is due, and the earliest deadline of the others.
    func scan(at now: Instant) -> (due: [LoopHandle], next: Instant) {
        var due: [LoopHandle] = []
        var next = Instant.never
        for handle in handles {
            let earliest = handle.earliestDeadline
            if earliest <= now { due.append(handle) } else { next = next.atMost(earliest) }
        }
        return (due, next)
    }

    /// Moves a handle to the removed ones, if it is registered.
    mutating func remove(_ handle: LoopHandle) {
        guard let slot = handle.slot, let last = handles.popLast() else { return }
        // The last one takes its place.
        if last !== handle {
            handles[slot] = last
            last.slot = slot
        }
        handle.slot = nil
        departed.append(handle)
    }
}
