internal import DirectIO

/// Decides which connection serves which request: a machine without sockets, locks or a clock.
///
/// It never closes or wakes anything itself. What is to be closed and who may go on gathers in its orders; its
/// user takes them after each call, in the same lock, and carries them out after letting go of it. Connections are
/// grouped by origin, which is a name and never an address; within an origin only those will do that lead to an
/// address the request allows.
struct Pool<Member: PoolMember> {
    struct Limits {
        /// Open connections to one origin, busy and idle together.
        var perOrigin = Int.max
        /// Open connections in all.
        var total = Int.max
        /// Idle connections in all.
        var idle = 1024
        /// How long a connection stays without work.
        var idleTime = UInt64.max
        /// How old it may become and serve again.
        var age = UInt64.max
        /// How many requests it may serve.
        var uses = Int.max
        /// Whether there is a resolver whose answers may change.
        var followsAnswers = true
    }

    /// The connections of one origin. A class, so that a connection on lease finds its way back without
    /// another look-up.
    final class Origin {
        let key: PoolKey
        /// The longest idle first.
        var idle: [Member] {
            _read { yield unsafe idleMembers }
            _modify { yield unsafe &idleMembers }
        }
        /// Only touched under the lock of the pool's user, so no two accesses overlap and Swift need not look for it.
        @exclusivity(unchecked) private var idleMembers: [Member] = []
        /// Idle and on lease.
        var members: [Member] = []
        /// Idle, on lease, and being dialled.
        var open = 0
        var waiting = WaitingLine()
        /// What is being dialled for nobody in particular.
        var warming: [PoolWarming] = []
        /// Under which ticket it is in the list of origins that have somebody who may dial.
        var filed: Ticket?
        /// How many have been granted their turn.
        var grants = 0
        /// The way that the resolver last pointed; nothing if none was asked.
        var followed: Route?

        init(_ key: PoolKey) {
            self.key = key
        }
    }

    typealias Ticket = Int

    enum Turn {
        case reuse(Member, Origin)
        case dial(Origin)
        case wait(Ticket, Origin)
    }

    /// Who need not wait any longer, and with which connection; without one, it may dial.
    struct Grant {
        var ticket: Ticket
        var member: Member?
    }

    /// What is to be done now that the machine has made up its mind.
    struct Orders {
        var close: [Member] = []
        var grants: [Grant] = []

        var isEmpty: Bool { close.isEmpty && grants.isEmpty }
    }

    let limits: Limits
    var origins: [PoolKey: Origin] = [:]
    /// Those that may have another connection and have somebody who waits for one, as far as only the limit on all
    /// together is in the way: who waits longest comes first.
    var ready: [Origin] = []
    var orders = Orders()
    var openCount = 0
    var idleCount = 0
    var waitingCount = 0
    var grants = 0
    var lastTicket = 0
    var lastDismissal = Instant(nanoseconds: 0)

    init(_ limits: Limits) {
        self.limits = limits
    }

    var hasIdle: Bool { idleCount > 0 }

    var hasOrders: Bool { !orders.isEmpty }

    /// What has gathered since the last time.
    mutating func takeOrders() -> Orders {
        defer { orders = Orders() }
        return orders
    }

    /// An idle connection that leads where the request may go.
    mutating func takeIdle(
        _ key: PoolKey,
        _ route: Route,
        _ kept: KeptConnections = .any,
        at now: Instant
    ) -> (Member, Origin)? {
        guard let origin = origins[key] else { return nil }
        if limits.followsAnswers { follow(route, origin) }
        guard let member = takeIdle(origin, route, kept, now) else {
            settle(origin)
            return nil
        }
        return (member, origin)
    }

    /// A connection for a request, or a permit to dial one, or a place in the queue.
    ///
    /// What is idle, or given back, and not among `kept` is passed over.
    mutating func checkOut(
        _ key: PoolKey,
        _ route: Route,
        _ kept: KeptConnections = .any,
        at now: Instant
    ) -> Turn {
        let origin = origin(for: key)
        if limits.followsAnswers { follow(route, origin) }
        if let member = takeIdle(origin, route, kept, now) { return .reuse(member, origin) }
        // What has just been closed for its age or its address has made room for who waits already.
        passOn()
        guard makeRoom(in: origin) else { return wait(origin, route, kept) }
        open(origin)
        return .dial(origin)
    }

    /// A connection has been made with the permit to dial, for a request that began at `start`.
    mutating func admit(_ member: Member, to origin: Origin, since start: Instant) {
        member.stay.turns = 1
        member.stay.since = start
        // It was resolved or dialled for what has been left since.
        member.stay.isDismissed = start <= lastDismissal
        origin.members.append(member)
    }

    /// Takes back a connection that is fit for another request.
    mutating func checkIn(_ member: Member, to origin: Origin, at now: Instant) {
        let expiry = expiry(of: member, at: now)
        let isOutdated = limits.followsAnswers && isOutdated(member, origin)
        guard now < expiry, !isOutdated else { return retire(member, origin) }
        if waitingCount > 0, handOver(member, origin, at: now) { return }
        member.stay = PoolStay(turns: member.stay.turns, since: now, expiry: expiry, isIdle: true)
        origin.idle.append(member)
        idleCount += 1
        trimIdle()
    }

    /// Takes back a connection that was granted and has not been used.
    mutating func takeBack(_ member: Member, to origin: Origin, at now: Instant) {
        member.stay.turns -= 1
        checkIn(member, to: origin, at: now)
    }

    /// A connection on lease is no more.
    mutating func release(_ member: Member, _ origin: Origin) {
        drop(member, origin)
        release(origin)
    }

    /// A permit to dial has come to nothing.
    mutating func release(_ origin: Origin) {
        close(origin)
        settle(origin)
    }

    /// A connection on lease is no more, but its holder keeps the place, and may dial.
    mutating func drop(_ member: Member, _ origin: Origin) {
        if let index = origin.members.firstIndex(where: { $0 === member }) {
            origin.members.remove(at: index)
        }
    }

    /// The caller no longer waits. False when it has been granted its turn already.
    mutating func leave(_ ticket: Ticket, _ origin: Origin) -> Bool {
        guard origin.waiting.remove(ticket) else { return false }
        waitingCount -= 1
        file(origin)
        forget(origin)
        return true
    }

    /// On this connection a request has waited in vain for the first byte of an answer: what has been idle since before
    /// it was lent, and leads to the same place, may be as dead, and is closed.
    mutating func dismissSiblings(of member: Member, _ origin: Origin) {
        let silent = origin.idle.filter {
            $0.endpoint == member.endpoint && $0.stay.since <= member.stay.since
        }
        for sibling in silent { removeIdle(sibling, of: origin) }
        if !silent.isEmpty { settle(origin) }
    }

    /// Closes what is idle, and what is busy or being dialled as soon as it is given back.
    mutating func dismissAll(at now: Instant) {
        lastDismissal = now
        sweep(at: .never) { _, _ in true }
        for origin in origins.values {
            for member in origin.members { member.stay.isDismissed = true }
        }
    }

    /// Closes the idle connections that `isDone` names and those whose time is over.
    mutating func sweep(at now: Instant, _ isDone: (Member, Origin) -> Bool) {
        for origin in Array(origins.values) where !origin.idle.isEmpty {
            let done = origin.idle.filter { $0.stay.expiry <= now || isDone($0, origin) }
            for member in done { removeIdle(member, of: origin) }
            if !done.isEmpty { settle(origin) }
        }
    }
}
