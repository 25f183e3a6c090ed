internal import DirectIO

/// A connection that is being made before a request wants it.
struct PoolWarming {
    let ticket: Int
    let route: Route
}

/// Connections that are made before a request wants them.
extension Pool {
    /// Permits for the connections that are missing until so many are idle, or are being made to be. Nothing waits for
    /// room here: there are no more permits than the limits have room for.
    mutating func warm(_ key: PoolKey, _ route: Route, count: Int, at now: Instant) -> (Origin, [Ticket]) {
        let origin = origin(for: key)
        if limits.followsAnswers { follow(route, origin) }
        passOn()
        func isWanted(_ member: Member) -> Bool { now < member.stay.expiry && member.serves(route) }
        let present = origin.idle.count(where: isWanted) + origin.warming.count { route.covers($0.route) }
        var tickets: [Ticket] = []
        while present + tickets.count < min(count, limits.idle), makeRoom(in: origin, sparing: isWanted) {
            open(origin)
            lastTicket += 1
            tickets.append(lastTicket)
            origin.warming.append(PoolWarming(ticket: lastTicket, route: route))
        }
        settle(origin)
        return (origin, tickets)
    }

    /// The connection has been made, for a call that began at `start`: it goes to whoever waits longest, else it is idle.
    mutating func deliver(
        _ member: Member,
        to origin: Origin,
        for ticket: Ticket,
        since start: Instant,
        at now: Instant
    ) {
        origin.warming.removeAll { $0.ticket == ticket }
        admit(member, to: origin, since: start)
        // It has served nothing yet.
        member.stay.turns = 0
        checkIn(member, to: origin, at: now)
    }

    /// The connection could not be made.
    mutating func abandon(_ ticket: Ticket, _ origin: Origin) {
        origin.warming.removeAll { $0.ticket == ticket }
        release(origin)
    }
}

extension Route {
    /// Whether every connection that is made for the other route may serve this one.
    fileprivate func covers(_ other: Route) -> Bool {
        switch (self, other) {
        case (.system, .system), (.literal, .literal), (.byProxy, .byProxy): true
        case (_, .chosen(let choice)): choice.endpoints.allSatisfy { leads(to: $0, from: choice.source) }
        default: false
        }
    }
}
