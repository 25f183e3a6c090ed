/// The handles of one loop, each in a slot of its own, and those that wait to be let go.
struct HandleRegistry {
    private(set) var handles: [LoopHandle?] = []
    private var freeSlots: [Int] = []
    /// Removed, but the events that the loop is just handing out may still speak of them.
    var departed: [LoopHandle] = []

    mutating func insert(_ handle: LoopHandle) {
        if let slot = freeSlots.popLast() {
            handles[slot] = handle
            handle.slot = slot
        } else {
            handle.slot = handles.count
            handles.append(handle)
        }
    }

    /// The handles with a wait that is due, and the earliest deadline of the others.
    func scan(at now: Instant) -> (due: [LoopHandle], next: Instant) {
        var due: [LoopHandle] = []
        var next = Instant.never
        for case let handle? in handles {
            let earliest = handle.earliestDeadline
            if earliest <= now { due.append(handle) } else { next = min(next, earliest) }
        }
        return (due, next)
    }

    mutating func remove(_ handle: LoopHandle) {
        let slot = handle.slot
        guard slot >= 0 else { return }
        handle.slot = -1
        handles[slot] = nil
        freeSlots.append(slot)
        departed.append(handle)
    }
}
