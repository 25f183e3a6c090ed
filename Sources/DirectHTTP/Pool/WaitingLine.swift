/// A request that waits for a connection, or for a place to dial one.
struct PoolWaiter {
    let ticket: Int
    let route: Route
    let kept: KeptConnections

    func takes(_ member: some PoolMember) -> Bool { kept.include(member) && member.serves(route) }
}

/// Who waits for the connections of one origin, first come first served. A step costs the same however many wait, and
/// to leave costs the logarithm.
struct WaitingLine {
    private struct Slot {
        let ticket: Int
        /// `nil` if it has left.
        var waiter: PoolWaiter?
    }

    /// In the order of their tickets, which only grow.
    private var slots: [Slot] = []
    /// Where the first one is who still waits.
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var first: PoolWaiter? { isEmpty ? nil : slots[head].waiter }

    mutating func append(_ waiter: PoolWaiter) {
        slots.append(Slot(ticket: waiter.ticket, waiter: waiter))
        count += 1
    }

    mutating func removeFirst() -> PoolWaiter? {
        guard let first else { return nil }
        vacate(head)
        return first
    }

    /// False if the ticket is not in the line any more.
    mutating func remove(_ ticket: Int) -> Bool {
        let index = index(of: ticket)
        guard index < slots.count, slots[index].ticket == ticket, slots[index].waiter != nil else {
            return false
        }
        vacate(index)
        return true
    }

    private mutating func vacate(_ index: Int) {
        slots[index].waiter = nil
        count -= 1
        while head < slots.count, slots[head].waiter == nil { head += 1 }
        // Paid for by the steps that have emptied as many slots.
        guard slots.count > 2 * count + Self.emptySlots else { return }
        slots = slots.filter { $0.waiter != nil }
        head = 0
    }

    /// Where the ticket is, or would be.
    private func index(of ticket: Int) -> Int {
        var low = head
        var high = slots.count
        while low < high {
            let middle = (low + high) / 2
            if slots[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static let emptySlots = 32
}
