internal import DirectIO

/// What the pool needs to know of a connection.
protocol PoolMember: AnyObject {
    /// Since when it has been waiting for work. Written by the pool alone.
    var idleSince: Instant { get set }

    /// Whether a request that wants to go this way may use it.
    func serves(_ route: Route) -> Bool
}

/// Decides which connection serves which request: a machine without sockets, locks or a clock.
///
/// It never closes or wakes anything itself but says what is to be closed and who may go on; its user does
/// that after letting go of the lock. Connections are grouped by origin, which is a name and never an
/// address; within an origin only those will do that lead to an address the request allows.
struct Pool<Member: PoolMember> {
    struct Limits {
        /// Open connections to one origin, busy and idle together.
        var perOrigin = Int.max
        /// Idle connections in all.
        var idle = 1024
        /// How long a connection stays without work.
        var idleTime = UInt64.max
    }

    /// The connections of one origin. A class, so that a connection on lease finds its way back without
    /// another look-up.
    final class Origin {
        let key: PoolKey
        /// The longest idle first.
        fileprivate(set) var idle: [Member] = []
        /// Idle, on lease, and being dialled.
        fileprivate(set) var open = 0
        fileprivate var waiting: [Waiter] = []

        fileprivate init(_ key: PoolKey) {
            self.key = key
        }
    }

    typealias Ticket = Int

    struct Waiter {
        var ticket: Ticket
        var route: Route
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
        var close: Member?
        var grant: Grant?
    }

    private let limits: Limits
    private var origins: [PoolKey: Origin] = [:]
    private var idleCount = 0
    private var lastTicket = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// An idle connection that leads where the request may go.
    mutating func takeIdle(_ key: PoolKey, _ route: Route) -> (Member, Origin)? {
        guard let origin = origins[key], let member = takeIdle(origin, route) else { return nil }
        return (member, origin)
    }

    /// A connection for a request, or leave to dial one, or a place in the queue.
    mutating func checkOut(
        _ key: PoolKey,
        _ route: Route,
        fresh: Bool = false
    ) -> (turn: Turn, close: Member?) {
        let origin = origin(for: key)
        if !fresh, let member = takeIdle(origin, route) { return (.reuse(member, origin), nil) }
        if origin.open < limits.perOrigin {
            origin.open += 1
            return (.dial(origin), nil)
        }
        // Full, and what is idle leads elsewhere: the longest idle makes room.
        if let stale = origin.idle.first {
            origin.idle.removeFirst()
            idleCount -= 1
            return (.dial(origin), stale)
        }
        lastTicket += 1
        origin.waiting.append(Waiter(ticket: lastTicket, route: route))
        return (.wait(lastTicket, origin), nil)
    }

    /// Takes back a connection that is fit for another request.
    mutating func checkIn(_ member: Member, to origin: Origin, at now: Instant) -> Orders {
        if let first = origin.waiting.first {
            origin.waiting.removeFirst()
            guard member.serves(first.route) else {
                // Its slot passes to the waiter.
                return Orders(close: member, grant: Grant(ticket: first.ticket, member: nil))
            }
            return Orders(close: nil, grant: Grant(ticket: first.ticket, member: member))
        }
        member.idleSince = now
        origin.idle.append(member)
        idleCount += 1
        guard idleCount > limits.idle else { return Orders() }
        return Orders(close: takeLongestIdle(), grant: nil)
    }

    /// A connection on lease, or one that was being dialled, is no more.
    mutating func release(_ origin: Origin) -> Grant? {
        if let first = origin.waiting.first {
            origin.waiting.removeFirst()
            return Grant(ticket: first.ticket, member: nil)
        }
        forget(origin)
        return nil
    }

    /// The caller no longer waits. False when it has been granted its turn already.
    mutating func leave(_ ticket: Ticket, _ origin: Origin) -> Bool {
        guard let index = origin.waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
        origin.waiting.remove(at: index)
        return true
    }

    /// Takes out the idle connections that `isDone` names and those that have been idle for too long.
    mutating func sweep(at now: Instant, _ isDone: (Member) -> Bool) -> [Member] {
        var done: [Member] = []
        for origin in Array(origins.values) where !origin.idle.isEmpty {
            var kept: [Member] = []
            for member in origin.idle {
                let due = member.idleSince.advanced(byNanoseconds: limits.idleTime)
                if due <= now || isDone(member) { done.append(member) } else { kept.append(member) }
            }
            let gone = origin.idle.count - kept.count
            guard gone > 0 else { continue }
            origin.idle = kept
            idleCount -= gone
            for _ in 0..<gone { forget(origin) }
        }
        return done
    }

    var hasIdle: Bool { idleCount > 0 }

    private mutating func origin(for key: PoolKey) -> Origin {
        if let origin = origins[key] { return origin }
        let origin = Origin(key)
        origins[key] = origin
        return origin
    }

    /// The one used last: it is the likeliest to be alive.
    private mutating func takeIdle(_ origin: Origin, _ route: Route) -> Member? {
        guard let index = origin.idle.lastIndex(where: { $0.serves(route) }) else { return nil }
        idleCount -= 1
        return origin.idle.remove(at: index)
    }

    private mutating func takeLongestIdle() -> Member? {
        var oldest: Origin?
        for origin in origins.values {
            guard let candidate = origin.idle.first else { continue }
            if let known = oldest?.idle.first, known.idleSince <= candidate.idleSince { continue }
            oldest = origin
        }
        guard let oldest else { return nil }
        idleCount -= 1
        let member = oldest.idle.removeFirst()
        forget(oldest)
        return member
    }

    /// One open connection fewer; an origin with none is not kept.
    private mutating func forget(_ origin: Origin) {
        origin.open -= 1
        if origin.open == 0, origin.waiting.isEmpty { origins[origin.key] = nil }
    }
}
