internal import DirectCore
internal import DirectIO

/// A connection that is being made ahead of any request.
struct PoolWarming {
    let ticket: Int
    let route: Route
}

/// Connections made ahead of any request.
extension Pool {
    /// Returns permits for the connections that are missing until `count` are idle or being made. This never
    /// waits: there are only as many permits as the limits have room for.
    mutating func warm(_ key: PoolKey, route: Route, count: Int, at now: Instant) -> (Record, [Ticket]) {
        let origin = origin(for: key)
        if limits.tracksResolver { follow(route, origin: origin) }
        assignFreeSlots()
        func isWanted(_ member: Member) -> Bool { now < member.pooledState.expiry && member.serves(route) }
        let present = origin.idle.count(where: isWanted) + origin.warming.count { route.covers($0.route) }
        var tickets: [Ticket] = []
        while present + tickets.count < min(count, limits.idle), makeRoom(in: origin, sparing: isWanted) {
            open(origin)
            lastTicket += 1
            tickets.append(lastTicket)
            origin.warming.append(PoolWarming(ticket: lastTicket, route: route))
        }
        cleanUp(origin)
        return (origin, tickets)
    }

    /// Takes a connection that was made ahead, for a call that began at `start`. It goes to the request that
    /// has waited longest, or becomes idle.
    mutating func deliver(
        _ member: Member,
        to origin: Record,
        for ticket: Ticket,
        since start: Instant,
        at now: Instant
    ) {
        origin.warming.removeAll { $0.ticket == ticket }
        admit(member, to: origin, since: start)
        // It has served no request yet.
        member.pooledState.uses = 0
        checkIn(member, to: origin, at: now)
    }

    /// Gives up the slot of a connection that could not be made.
    mutating func abandon(_ ticket: Ticket, of origin: Record) {
        origin.warming.removeAll { $0.ticket == ticket }
        release(origin)
    }
}

extension Route {
    /// Whether every connection made for the other route may serve this one.
    fileprivate func covers(_ other: Route) -> Bool {
        switch (self, other) {
        case (.system, .system), (.literal, .literal), (.byProxy, .byProxy),
            (.unixSocket, .unixSocket):
            true
        case (_, .chosen(let selection)):
            selection.endpoints.allSatisfy { allows(.endpoint($0), from: selection.source) }
        default: false
        }
    }
}
