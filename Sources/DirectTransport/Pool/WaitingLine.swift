/// A request that waits for a connection, or for a slot to dial one.
struct PoolWaiter {
    let ticket: Int
    let route: Route
    let kept: KeptConnections

    /// Whether the request may use this connection.
    func takes(_ member: some PoolMember) -> Bool { kept.include(member) && member.serves(route) }
}

/// The requests that wait for connections to one origin, in the order of their tickets. Removing the first
/// costs amortised constant time however long the queue is; inserting one with the largest ticket, or
/// removing any other, costs the logarithm of its length.
struct WaitingLine {
    private struct Slot {
        let ticket: Int
        /// `nil` if it has left the queue.
        var waiter: PoolWaiter?
    }

    /// The slots in the order of their tickets, behind those that are empty.
    private var slots: [Slot] = []
    /// The index of the first slot that is not empty.
    private var head = 0
    /// The number of requests that wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var first: PoolWaiter? { isEmpty ? nil : slots[head].waiter }

    mutating func insert(_ waiter: PoolWaiter) {
        slots.insert(Slot(ticket: waiter.ticket, waiter: waiter), at: index(of: waiter.ticket))
        count += 1
    }

    /// Removes and returns the request that has waited longest.
    mutating func removeFirst() -> PoolWaiter? {
        guard let first else { return nil }
        vacate(head)
        return first
    }

    /// Removes a request. Returns false if its ticket is not in the queue any more.
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
        // Amortised: this costs as much as the calls that have emptied the slots.
        guard slots.count > 2 * count + Self.emptySlots else { return }
        slots = slots.filter { $0.waiter != nil }
        head = 0
    }

    /// Returns the index of the ticket, or the index that it would have.
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
