/// The places that are lent, of one origin or of all.
struct LentPlaces {
    /// All of them: urgent requests may have them.
    var count = 0
    /// Those that any request may have, one at a time, when no other place is left.
    var toAnyone = 0

    /// Returns how many connections more than the limit may be open for a request.
    ///
    /// Requests that are not urgent may be refused as well and lend their own places, so they never have more
    /// than the limit once more. An urgent one does not wait for the one of them.
    func extra(besides open: Int, limit: Int, isUrgent: Bool) -> Int {
        if isUrgent, count > 0 { return count + 1 }
        return toAnyone == open ? limit : 0
    }

    fileprivate mutating func add(_ number: Int, isToAnyone: Bool) {
        count += number
        if isToAnyone { toAnyone += number }
    }
}

/// The requests that wait, and the places that are lent to them.
extension Pool {
    /// Appends a request to the origin's queue.
    mutating func wait(
        _ origin: Record,
        route: Route,
        kept: KeptConnections,
        isUrgent: Bool
    ) -> Acquisition {
        lastTicket += 1
        let ticket = isUrgent ? Ticket.min + lastTicket : lastTicket
        origin.waiting.insert(PoolWaiter(ticket: ticket, route: route, kept: kept))
        waitingCount += 1
        file(origin)
        return .wait(ticket, origin)
    }

    /// Lends the place of a leased connection of the origin to urgent requests, or to any, until `reclaim`.
    mutating func lend(_ origin: Record, toAnyone isToAnyone: Bool) {
        origin.lent.add(1, isToAnyone: isToAnyone)
        lent.add(1, isToAnyone: isToAnyone)
        file(origin)
        assignFreeSlots()
    }

    /// Ends a `lend`.
    mutating func reclaim(_ origin: Record, fromAnyone isToAnyone: Bool) {
        origin.lent.add(-1, isToAnyone: isToAnyone)
        lent.add(-1, isToAnyone: isToAnyone)
        file(origin)
    }

    /// The origin whose first waiter has waited longest of those that may have one more connection now.
    var next: Record? {
        guard let first = ready.first, let ticket = first.filed else { return nil }
        return hasRoomInTotal(isUrgent: ticket < 0) ? first : nil
    }

    /// Whether a request may have one more connection, with the places that are lent.
    func hasLentRoom(in origin: Record, isUrgent: Bool) -> Bool {
        hasRoom(in: origin, isUrgent: isUrgent) && hasRoomInTotal(isUrgent: isUrgent)
    }

    private func hasRoom(in origin: Record, isUrgent: Bool) -> Bool {
        let limit = limits.perOrigin
        return origin.open - origin.lent.extra(besides: origin.open, limit: limit, isUrgent: isUrgent) < limit
    }

    private func hasRoomInTotal(isUrgent: Bool) -> Bool {
        openCount - lent.extra(besides: openCount, limit: limits.total, isUrgent: isUrgent) < limits.total
    }

    /// Whether the places that are lent have made the open connections more than the limits allow.
    func exceedsLimits(_ origin: Record) -> Bool {
        origin.open > limits.perOrigin || openCount > limits.total
    }

    /// Keeps `ready` complete and sorted. Call it whenever the origin's first waiter or its number of open
    /// connections may have changed.
    mutating func file(_ origin: Record) {
        let ticket = origin.waiting.first.flatMap {
            hasRoom(in: origin, isUrgent: $0.ticket < 0) ? $0.ticket : nil
        }
        guard ticket != origin.filed else { return }
        if let filed = origin.filed { ready.remove(at: readyIndex(of: filed)) }
        if let ticket { ready.insert(origin, at: readyIndex(of: ticket)) }
        origin.filed = ticket
    }

    /// Returns the index in `ready` of the origin filed under that ticket, or the index to insert it at.
    private func readyIndex(of ticket: Ticket) -> Int {
        var low = 0
        var high = ready.count
        while low < high {
            let middle = (low + high) / 2
            if let filed = ready[middle].filed, filed < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the progress of the line that a request to the origin waits in: the origin's own, and also
    /// that of all origins if only the limit on the total is in its way.
    func progress(of origin: Record) -> PoolProgress {
        PoolProgress(own: origin.grants, all: origin.open < limits.perOrigin ? grants : 0)
    }
}

/// The number of waiting requests that have been served so far. If it changes, the line has moved.
struct PoolProgress: Equatable {
    let own: Int
    let all: Int
}

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
