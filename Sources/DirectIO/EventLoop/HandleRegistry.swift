internal import DirectCore

/// The handles of one loop, each in its own slot, and the removed handles that are still to be released.
struct HandleRegistry {
    private(set) var handles: [LoopHandle?] = []
    private var freeSlots: [Int] = []
    /// Removed handles. They are kept because the events that the loop is currently handling may still refer
    /// to them.
    var departed: [LoopHandle] = []

    /// Whether no handle is registered.
    var isEmpty: Bool { handles.count == freeSlots.count }

    /// Adds a handle, in a free slot if there is one.
    mutating func insert(_ handle: LoopHandle) {
        if let slot = freeSlots.popLast() {
            handles[slot] = handle
            handle.slot = slot
        } else {
            handle.slot = handles.count
            handles.append(handle)
        }
    }

    /// Returns the handles with a wait that is due, and the earliest deadline of the others.
    func scan(at now: Instant) -> (due: [LoopHandle], next: Instant) {
        var due: [LoopHandle] = []
        var next = Instant.never
        for case let handle? in handles {
            let earliest = handle.earliestDeadline
            if earliest <= now { due.append(handle) } else { next = next.atMost(earliest) }
        }
        return (due, next)
    }

    /// Moves a handle to the removed ones, if it is registered.
    mutating func remove(_ handle: LoopHandle) {
        let slot = handle.slot
        guard slot >= 0 else { return }
        handle.slot = -1
        handles[slot] = nil
        freeSlots.append(slot)
        departed.append(handle)
    }
}
