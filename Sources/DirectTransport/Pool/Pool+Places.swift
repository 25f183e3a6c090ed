internal import DirectCore
internal import DirectIO

/// The slots within the limits, and the requests that wait for one.
extension Pool {
    /// Returns the record of the origin, a new one if there is none.
    mutating func origin(for key: PoolKey) -> Origin {
        if let origin = origins[key] { return origin }
        let origin = Origin(key)
        origins[key] = origin
        return origin
    }

    /// Removes the record of an origin without connections and waiters.
    mutating func forget(_ origin: Origin) {
        if origin.open == 0, origin.waiting.isEmpty { origins[origin.key] = nil }
    }

    /// Takes a slot.
    mutating func open(_ origin: Origin) {
        origin.open += 1
        openCount += 1
        file(origin)
    }

    /// Frees a slot, without passing it on.
    mutating func close(_ origin: Origin) {
        origin.open -= 1
        openCount -= 1
        file(origin)
    }

    /// Appends a request to the origin's queue.
    mutating func wait(_ origin: Origin, route: Route, kept: KeptConnections) -> Acquisition {
        lastTicket += 1
        origin.waiting.append(PoolWaiter(ticket: lastTicket, route: route, kept: kept))
        waitingCount += 1
        file(origin)
        return .wait(lastTicket, origin)
    }

    /// Gives a connection, or its slot, to the request that has waited longest. Returns false if no waiting request
    /// can use either.
    mutating func handOver(_ member: Member, origin: Origin, at now: Instant) -> Bool {
        // The origin that would get the slot if it were free.
        close(origin)
        let next = ready.first
        open(origin)
        guard let next else { return false }
        if next === origin, let first = origin.waiting.first, first.takes(member) {
            member.pooledState.uses += 1
            member.pooledState.since = now
            grant(origin, member: member)
        } else {
            retire(member, of: origin)
        }
        return true
    }

    /// Grants the first waiter of the origin a connection, or with `nil` the permit to dial in a slot that is
    /// already taken.
    private mutating func grant(_ origin: Origin, member: Member?) {
        guard let first = origin.waiting.removeFirst() else { return }
        waitingCount -= 1
        grants += 1
        origin.grants += 1
        file(origin)
        actions.grants.append(Assignment(ticket: first.ticket, member: member))
    }

    /// Passes free slots on to waiting requests, and removes the origin's record if it has neither connections nor
    /// waiters.
    mutating func cleanUp(_ origin: Origin) {
        assignFreeSlots()
        forget(origin)
    }

    /// Grants free slots to waiting requests. A slot of one origin can help a request for another one only where
    /// the limit on the total was in the way.
    mutating func assignFreeSlots() {
        while openCount < limits.total, let next = ready.first {
            open(next)
            grant(next, member: nil)
        }
    }

    /// Keeps `ready` complete and sorted. Call it whenever the origin's first waiter or its number of open
    /// connections may have changed.
    mutating func file(_ origin: Origin) {
        let ticket = origin.open < limits.perOrigin ? origin.waiting.first?.ticket : nil
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

    /// Returns the progress of the line that a request to the origin waits in: the origin's own, and also that of
    /// all origins if only the limit on the total is in its way.
    func progress(of origin: Origin) -> PoolProgress {
        PoolProgress(own: origin.grants, all: origin.open < limits.perOrigin ? grants : 0)
    }
}

/// The number of waiting requests that have been served so far. If it changes, the line has moved.
struct PoolProgress: Equatable {
    let own: Int
    let all: Int
}
