internal import DirectIO

/// Decides which connection serves which request: a machine without sockets, locks or a clock.
///
/// It never closes or wakes anything itself. What is to be closed and who may go on gathers in its orders; its
/// user takes them after each call, and closes after letting go of the lock. Connections are grouped by origin,
/// which is a name and never an address; within an origin only those will do that lead to an address the
/// request allows.
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
        fileprivate(set) var idle: [Member] = []
        /// Idle and on lease.
        fileprivate(set) var members: [Member] = []
        /// Idle, on lease, and being dialled.
        fileprivate(set) var open = 0
        fileprivate(set) var waiting: [Waiter] = []
        /// The way that the resolver last pointed; nothing if none was asked.
        fileprivate var followed: Route?

        fileprivate init(_ key: PoolKey) {
            self.key = key
        }
    }

    typealias Ticket = Int

    struct Waiter {
        var ticket: Ticket
        var route: Route
        /// Whether no kept connection will do.
        var wantsFresh = false

        func takes(_ member: Member) -> Bool { !wantsFresh && member.serves(route) }
    }

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

    private let limits: Limits
    private(set) var origins: [PoolKey: Origin] = [:]
    private var orders = Orders()
    private var openCount = 0
    private var idleCount = 0
    private var waitingCount = 0
    private var lastTicket = 0
    private var lastDismissal = Instant(nanoseconds: 0)

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
    mutating func takeIdle(_ key: PoolKey, _ route: Route, at now: Instant) -> (Member, Origin)? {
        guard let origin = origins[key] else { return nil }
        if limits.followsAnswers { follow(route, origin) }
        guard let member = takeIdle(origin, route, now) else {
            settle(origin)
            return nil
        }
        return (member, origin)
    }

    /// A connection for a request, or a permit to dial one, or a place in the queue.
    ///
    /// With `fresh` it is a permit in the end: what is idle, or given back, is passed over.
    mutating func checkOut(_ key: PoolKey, _ route: Route, fresh: Bool = false, at now: Instant) -> Turn {
        let origin = origin(for: key)
        if limits.followsAnswers { follow(route, origin) }
        if !fresh, let member = takeIdle(origin, route, now) { return .reuse(member, origin) }
        // What has just been closed for its age or its address has made room for who waits already.
        passOn(origin)
        if origin.open >= limits.perOrigin {
            // What is idle leads elsewhere: the longest idle makes room.
            guard let oldest = origin.idle.first else { return wait(origin, route, fresh) }
            removeIdle(oldest, of: origin)
        } else if openCount >= limits.total {
            guard let (oldest, its) = longestIdle else { return wait(origin, route, fresh) }
            removeIdle(oldest, of: its)
            if its !== origin { forget(its) }
        }
        open(origin)
        return .dial(origin)
    }

    /// A connection has been made with the leave to dial, for a request that began at `start`.
    mutating func admit(_ member: Member, to origin: Origin, since start: Instant) {
        member.stay.turns = 1
        // It was resolved or dialled for what has been left since.
        member.stay.isDismissed = start <= lastDismissal
        origin.members.append(member)
    }

    /// Takes back a connection that is fit for another request.
    mutating func checkIn(_ member: Member, to origin: Origin, at now: Instant) {
        let expiry = expiry(of: member, at: now)
        let isOutdated = limits.followsAnswers && isOutdated(member, origin)
        guard now < expiry, !isOutdated else { return retire(member, origin) }
        if waitingCount > 0, handOver(member, origin) { return }
        member.stay = PoolStay(turns: member.stay.turns, idleSince: now, expiry: expiry, isIdle: true)
        origin.idle.append(member)
        idleCount += 1
        if idleCount > limits.idle, let (oldest, its) = longestIdle {
            removeIdle(oldest, of: its)
            settle(its)
        }
    }

    /// A connection on lease is no more.
    mutating func release(_ member: Member, _ origin: Origin) {
        drop(member, origin)
        release(origin)
    }

    /// A leave to dial has come to nothing.
    mutating func release(_ origin: Origin) {
        origin.open -= 1
        openCount -= 1
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
        guard let index = origin.waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
        origin.waiting.remove(at: index)
        waitingCount -= 1
        forget(origin)
        return true
    }

    /// Closes what is idle, and what is busy or being dialled as soon as it is given back.
    mutating func dismissAll(at now: Instant) {
        lastDismissal = now
        sweep(at: .never) { _ in true }
        for origin in origins.values {
            for member in origin.members { member.stay.isDismissed = true }
        }
    }

    /// Closes the idle connections that `isDone` names and those whose time is over.
    mutating func sweep(at now: Instant, _ isDone: (Member) -> Bool) {
        for origin in Array(origins.values) where !origin.idle.isEmpty {
            let done = origin.idle.filter { $0.stay.expiry <= now || isDone($0) }
            for member in done { removeIdle(member, of: origin) }
            for _ in done { settle(origin) }
        }
    }

    private mutating func origin(for key: PoolKey) -> Origin {
        if let origin = origins[key] { return origin }
        let origin = Origin(key)
        origins[key] = origin
        return origin
    }

    /// The one used last: it is the likeliest to be alive.
    private mutating func takeIdle(_ origin: Origin, _ route: Route, _ now: Instant) -> Member? {
        var index = origin.idle.count
        while index > 0 {
            index -= 1
            let member = origin.idle[index]
            var stay = member.stay
            if !(now < stay.expiry) {
                removeIdle(member, of: origin)
            } else if member.serves(route) {
                origin.idle.remove(at: index)
                idleCount -= 1
                stay.isIdle = false
                stay.turns += 1
                member.stay = stay
                return member
            }
        }
        return nil
    }

    /// Where a resolver's answer has changed, idle connections that follow it are closed.
    private mutating func follow(_ route: Route, _ origin: Origin) {
        guard let answer = route.answer, origin.followed?.answer != answer else { return }
        origin.followed = route
        for member in origin.idle where member.followsAnswers && !member.serves(route) {
            removeIdle(member, of: origin)
        }
    }

    private func isOutdated(_ member: Member, _ origin: Origin) -> Bool {
        guard let followed = origin.followed, member.followsAnswers else { return false }
        return !member.serves(followed)
    }

    /// How long the connection may wait for work. Not at all if it has served as often as it may.
    private func expiry(of member: Member, at now: Instant) -> Instant {
        guard member.stay.turns < limits.uses, !member.stay.isDismissed else { return now }
        var idleTime = limits.idleTime
        if let hint = member.keepAlive {
            guard hint.max != 0 else { return now }
            idleTime = min(idleTime, hint.restTime)
        }
        let byIdleTime = now.advanced(byNanoseconds: idleTime)
        let byAge = member.birth.advanced(byNanoseconds: limits.age)
        return byAge < byIdleTime ? byAge : byIdleTime
    }

    /// Gives a connection, or its place, to who waits longest, and says whether anybody does.
    private mutating func handOver(_ member: Member, _ origin: Origin) -> Bool {
        origin.open -= 1
        openCount -= 1
        let next = nextInLine(origin)
        origin.open += 1
        openCount += 1
        guard let next else { return false }
        if next === origin, let first = origin.waiting.first, first.takes(member) {
            member.stay.turns += 1
            grant(origin, member)
        } else {
            retire(member, origin)
        }
        return true
    }

    /// Closes a connection on lease; its place passes on.
    private mutating func retire(_ member: Member, _ origin: Origin) {
        orders.close.append(member)
        release(member, origin)
    }

    /// Closes an idle connection. What becomes of its place is the caller's affair.
    private mutating func removeIdle(_ member: Member, of origin: Origin) {
        if let index = origin.idle.firstIndex(where: { $0 === member }) { origin.idle.remove(at: index) }
        drop(member, origin)
        member.stay.isIdle = false
        idleCount -= 1
        origin.open -= 1
        openCount -= 1
        orders.close.append(member)
    }

    private mutating func wait(_ origin: Origin, _ route: Route, _ fresh: Bool) -> Turn {
        lastTicket += 1
        origin.waiting.append(Waiter(ticket: lastTicket, route: route, wantsFresh: fresh))
        waitingCount += 1
        return .wait(lastTicket, origin)
    }

    private mutating func open(_ origin: Origin) {
        origin.open += 1
        openCount += 1
    }

    private mutating func grant(_ origin: Origin, _ member: Member?) {
        let first = origin.waiting.removeFirst()
        waitingCount -= 1
        orders.grants.append(Grant(ticket: first.ticket, member: member))
    }

    /// Free places go to those who wait; an origin with nothing and nobody is not kept.
    private mutating func settle(_ origin: Origin) {
        passOn(origin)
        forget(origin)
    }

    private mutating func passOn(_ origin: Origin) {
        while waitingCount > 0, let next = nextInLine(origin) {
            open(next)
            grant(next, nil)
        }
    }

    /// Who has waited longest, of those who may dial now. Only a limit on all together lets a place of one
    /// origin help the next.
    private func nextInLine(_ origin: Origin) -> Origin? {
        if limits.total == .max { return mayDial(origin) ? origin : nil }
        guard openCount < limits.total else { return nil }
        return origins.values.filter(mayDial).min {
            ($0.waiting.first?.ticket ?? 0) < ($1.waiting.first?.ticket ?? 0)
        }
    }

    private func mayDial(_ origin: Origin) -> Bool {
        !origin.waiting.isEmpty && origin.open < limits.perOrigin
    }

    private var longestIdle: (Member, Origin)? {
        var longest: (member: Member, origin: Origin)?
        for origin in origins.values {
            guard let candidate = origin.idle.first else { continue }
            if let longest, longest.member.stay.idleSince <= candidate.stay.idleSince { continue }
            longest = (candidate, origin)
        }
        return longest.map { ($0.member, $0.origin) }
    }

    private mutating func forget(_ origin: Origin) {
        if origin.open == 0, origin.waiting.isEmpty { origins[origin.key] = nil }
    }
}
