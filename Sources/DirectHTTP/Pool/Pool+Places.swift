internal import DirectIO

/// The places within the limits, and who waits for one.
extension Pool {
    mutating func origin(for key: PoolKey) -> Origin {
        if let origin = origins[key] { return origin }
        let origin = Origin(key)
        origins[key] = origin
        return origin
    }

    mutating func forget(_ origin: Origin) {
        if origin.open == 0, origin.waiting.isEmpty { origins[origin.key] = nil }
    }

    mutating func open(_ origin: Origin) {
        origin.open += 1
        openCount += 1
        file(origin)
    }

    mutating func close(_ origin: Origin) {
        origin.open -= 1
        openCount -= 1
        file(origin)
    }

    mutating func wait(_ origin: Origin, _ route: Route, _ kept: KeptConnections) -> Turn {
        lastTicket += 1
        origin.waiting.append(PoolWaiter(ticket: lastTicket, route: route, kept: kept))
        waitingCount += 1
        file(origin)
        return .wait(lastTicket, origin)
    }

    /// Gives a connection, or its place, to who waits longest, and says whether anybody does.
    mutating func handOver(_ member: Member, _ origin: Origin, at now: Instant) -> Bool {
        // Who would get its place, were it free?
        close(origin)
        let next = ready.first
        open(origin)
        guard let next else { return false }
        if next === origin, let first = origin.waiting.first, first.takes(member) {
            member.stay.turns += 1
            member.stay.since = now
            grant(origin, member)
        } else {
            retire(member, origin)
        }
        return true
    }

    private mutating func grant(_ origin: Origin, _ member: Member?) {
        guard let first = origin.waiting.removeFirst() else { return }
        waitingCount -= 1
        grants += 1
        origin.grants += 1
        file(origin)
        orders.grants.append(Grant(ticket: first.ticket, member: member))
    }

    /// Free places go to those who wait; an origin with nothing and nobody is not kept.
    mutating func settle(_ origin: Origin) {
        passOn()
        forget(origin)
    }

    /// Only a limit on all together lets a place of one origin help the next.
    mutating func passOn() {
        while openCount < limits.total, let next = ready.first {
            open(next)
            grant(next, nil)
        }
    }

    /// Keeps `ready` as it has to be. To be called whenever it may have changed who is the first to wait in the origin,
    /// or how many are open.
    mutating func file(_ origin: Origin) {
        let ticket = origin.open < limits.perOrigin ? origin.waiting.first?.ticket : nil
        guard ticket != origin.filed else { return }
        if let filed = origin.filed { ready.remove(at: readyIndex(of: filed)) }
        if let ticket { ready.insert(origin, at: readyIndex(of: ticket)) }
        origin.filed = ticket
    }

    /// Where the origin with that ticket is, or would be.
    private func readyIndex(of ticket: Ticket) -> Int {
        var low = 0
        var high = ready.count
        while low < high {
            let middle = (low + high) / 2
            if let filed = ready[middle].filed, filed < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// How far the line has come that a request to the origin waits in: that of the origin, or that of all, if only the
    /// limit on all together is in its way.
    func progress(of origin: Origin) -> PoolProgress {
        PoolProgress(own: origin.grants, all: origin.open < limits.perOrigin ? grants : 0)
    }
}

/// How many have been granted their turn so far. If it has changed, the line has moved.
struct PoolProgress: Equatable {
    let own: Int
    let all: Int
}
