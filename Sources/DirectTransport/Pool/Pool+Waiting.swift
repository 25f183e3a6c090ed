/// The requests that wait, and the places that are lent to the urgent ones.
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

    /// Lends the place of a leased connection of the origin to urgent requests, until `reclaim`.
    mutating func lend(_ origin: Record) {
        origin.lent += 1
        lentCount += 1
        file(origin)
        assignFreeSlots()
    }

    /// Ends a `lend`.
    mutating func reclaim(_ origin: Record) {
        origin.lent -= 1
        lentCount -= 1
        file(origin)
    }

    /// The origin whose first waiter has waited longest of those that may have one more connection now.
    var next: Record? {
        guard let first = ready.first, let ticket = first.filed else { return nil }
        return openCount - (ticket < 0 ? lentCount : 0) < limits.total ? first : nil
    }

    /// Whether an urgent request may have a place that is lent.
    func hasLentRoom(in origin: Record) -> Bool {
        origin.open - origin.lent < limits.perOrigin && openCount - lentCount < limits.total
    }

    /// Whether urgent requests have made the open connections more than the limits allow.
    func exceedsLimits(_ origin: Record) -> Bool {
        origin.open > limits.perOrigin || openCount > limits.total
    }

    /// Keeps `ready` complete and sorted. Call it whenever the origin's first waiter or its number of open
    /// connections may have changed.
    mutating func file(_ origin: Record) {
        let ticket = origin.waiting.first.flatMap {
            origin.open - ($0.ticket < 0 ? origin.lent : 0) < limits.perOrigin ? $0.ticket : nil
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
