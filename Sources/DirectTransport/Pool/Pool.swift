internal import DirectCore
internal import DirectIO

/// Decides which connection serves which request: a state machine without sockets, locks or a clock.
///
/// Connections are grouped by `PoolKey`: an origin (a name, never an address) and a proxy. Within an origin a
/// request gets only a connection to an address that its route allows.
///
/// A slot is one connection that counts towards the limits. It is in one of three states:
/// - dialling: `checkOut` or `warm` took the slot, and its holder makes the connection. Next: `admit` or
///   `deliver`, or `release` (`abandon`) if there is no connection.
/// - leased: one request uses the connection. Next: `checkIn`, `release` (the connection is gone), or `drop`
///   (it is gone, and the holder may dial again in the slot).
/// - idle: in `Record.idle`, until `takeIdle` leases it, `takeOut` lends it for an inspection, or
///   `removeIdle` closes it.
///
/// If there is neither a connection nor room for one, the request waits. Each origin has a queue, first in,
/// first out, with the urgent requests before all others. Tickets grow over all origins, so that `ready` can
/// name the request that has waited longest; those of urgent requests are negative.
///
/// After each call:
/// - `Record.open` counts the idle, leased and dialling connections of the origin, and is at most
///   `limits.perOrigin`; `openCount` is their sum, and at most `limits.total`. Requests may exceed both by
///   the places that are lent (`LentPlaces`). Such a connection is not kept.
/// - No request waits that a free slot could serve.
/// - `ready` holds exactly the origins whose first waiter is held up by the limit on the total alone.
///
/// The pool never closes or wakes anything itself. It collects these actions in `actions`; the caller takes
/// them after each call, under the same lock, and carries them out after unlocking.
struct Pool<Member: PoolMember> {
    /// The connections of one origin. A class, so that a leased connection is given back without another
    /// look-up.
    final class Record {
        package let key: PoolKey
        /// Its index in `origins`.
        fileprivate var index: Int
        /// The idle connections, the longest idle first.
        package var idle: [Member] {
            _read { yield unsafe idleMembers }
            _modify { yield unsafe &idleMembers }
        }
        /// Used only under the lock of the pool's owner, so no two accesses overlap and Swift need not check
        /// for it.
        @exclusivity(unchecked) private var idleMembers: [Member] = []
        /// The idle and the leased connections.
        var members: [Member] = []
        /// The number of idle, leased and dialling connections.
        package var open = 0
        /// The leased connections whose places are lent.
        var lent = LentPlaces()
        /// The requests that wait, in order.
        package var waiting = WaitingLine()
        /// The connections that are being made ahead of any request.
        var warming: [PoolWarming] = []
        /// The ticket under which `ready` holds this origin; `nil` if it does not.
        var filed: Ticket?
        /// The number of waiting requests that have been granted a connection or a slot.
        var grants = 0
        /// The route with the resolver's latest answer; `nil` if no resolver was asked.
        package var followed: Route?

        init(_ key: PoolKey, at index: Int) {
            self.key = key
            self.index = index
        }

        /// Whether this is the record of the key.
        func hasKey(equalTo other: PoolKey) -> Bool {
            other.consists(of: key.origin, proxy: key.proxy, profile: key.profile)
        }

        /// Whether this is the record of the target's origin and settings. No key is made for the comparison.
        func hasKey(of target: borrowing ConnectionTarget) -> Bool {
            key.proxy === target.proxy && key.profile === target.profile && target.url.hasOrigin(key.origin)
        }
    }

    /// A waiter's or a warming's number. Tickets only grow.
    typealias Ticket = Int

    /// The result of a check-out.
    enum Acquisition {
        case reuse(Member, Record)
        case dial(Record)
        case wait(Ticket, Record)
    }

    /// A waiter whose turn has come, and its connection; without one, it may dial.
    struct Assignment {
        var ticket: Ticket
        var member: Member?
    }

    /// The actions that the pool's owner must carry out.
    struct Actions {
        var close: [Member] = []
        var grants: [Assignment] = []

        var isEmpty: Bool { close.isEmpty && grants.isEmpty }
    }

    let limits: PoolLimits
    /// The origins that have a connection or a waiter. Their order, in which connections are closed, depends
    /// on the calls alone, as that of a dictionary's values does not.
    private(set) var origins: [Record] = []
    private(set) var originsByKey: [PoolKey: Record] = [:]
    /// The origin that was looked up last, one of `origins`. Most requests go to the origin of the one
    /// before, and comparing keys takes a tenth of the instructions of a look-up.
    private var latest: Record?
    /// The origins that have a waiter and may open another connection as far as their own limit goes, sorted
    /// by the first waiter's ticket. Only the limit on the total holds them up.
    var ready: [Record] = []
    /// The actions collected since the last `takeActions`.
    var actions = Actions()
    /// The open connections of all origins.
    var openCount = 0
    /// The places of all origins that are lent.
    var lent = LentPlaces()
    var idleCount = 0
    /// The sum of the idle connections' excess.
    var idleExcess = 0
    var waitingCount = 0
    var grants = 0
    var lastTicket = 0
    /// When all connections were last dismissed: a connection for a call that began before is closed after
    /// use.
    var lastDraining = Instant(nanoseconds: 0)

    init(_ limits: PoolLimits) {
        self.limits = limits
    }

    /// Whether any connection is idle.
    var hasIdle: Bool { idleCount > 0 }

    /// Whether there are actions to carry out.
    var hasActions: Bool { !actions.isEmpty }

    /// Returns the actions collected since the last call.
    mutating func takeActions() -> Actions {
        defer { actions = Actions() }
        return actions
    }

    /// Leases an idle connection that the route allows, or returns `nil`.
    mutating func takeIdle(
        _ key: PoolKey,
        route: Route,
        kept: KeptConnections = .any,
        at now: Instant
    ) -> (Member, Record)? {
        guard let origin = knownOrigin(for: key) else { return nil }
        return takeIdle(of: origin, route: route, kept: kept, at: now)
    }

    /// Does the same for a target. No key is made for the origin that was looked up last.
    mutating func takeIdle(_ target: borrowing ConnectionTarget, at now: Instant) -> (Member, Record)? {
        if let latest, latest.hasKey(of: target) {
            return takeIdle(of: latest, route: target.route, kept: target.kept, at: now)
        }
        return takeIdle(target.poolKey, route: target.route, kept: target.kept, at: now)
    }

    @inline(__always)
    private mutating func takeIdle(
        of origin: Record,
        route: borrowing Route,
        kept: KeptConnections,
        at now: Instant
    )
        -> (Member, Record)?
    {
        if limits.tracksResolver { follow(route, origin: origin) }
        guard let member = takeIdle(origin, route: route, kept: kept, now: now) else {
            cleanUp(origin)
            return nil
        }
        return (member, origin)
    }

    /// Returns a connection for a request, or a permit to dial one, or a place in the queue.
    ///
    /// Connections that `kept` does not admit are passed over, idle ones now and returned ones later.
    ///
    /// - Parameter isUrgent: Whether all places that are lent count as free.
    mutating func checkOut(
        _ key: PoolKey,
        route: Route,
        kept: KeptConnections = .any,
        isUrgent: Bool = false,
        at now: Instant
    ) -> Acquisition {
        let origin = origin(for: key)
        if limits.tracksResolver { follow(route, origin: origin) }
        if let member = takeIdle(origin, route: route, kept: kept, now: now) { return .reuse(member, origin) }
        // Connections that were just closed for their age or address have made room for earlier waiters.
        assignFreeSlots()
        guard makeRoom(in: origin) || hasLentRoom(in: origin, isUrgent: isUrgent) else {
            return wait(origin, route: route, kept: kept, isUrgent: isUrgent)
        }
        open(origin)
        return .dial(origin)
    }

    /// Returns a permit to dial a connection; `nil` if there is no room for it, or others wait for room.
    mutating func permitAtOnce(_ key: PoolKey, route: Route) -> Record? {
        let origin = origin(for: key)
        if limits.tracksResolver { follow(route, origin: origin) }
        assignFreeSlots()
        guard waitingCount == 0, makeRoom(in: origin) else {
            cleanUp(origin)
            return nil
        }
        open(origin)
        return origin
    }

    /// Adds a connection that was made with a permit to dial, for a request that began at `start`. It is
    /// leased.
    mutating func admit(_ member: Member, to origin: Record, since start: Instant) {
        member.pooledState.uses = 1
        member.pooledState.since = start
        // It was resolved or dialled for a network that has been left since.
        member.pooledState.isDraining = start <= lastDraining
        origin.members.append(member)
    }

    /// Takes back a connection that can serve another request. It goes to the request that has waited
    /// longest, becomes idle, or is closed if its time is over or its address outdated.
    mutating func checkIn(_ member: Member, to origin: Record, at now: Instant) {
        let expiry = expiry(of: member, at: now)
        let isOutdated = limits.tracksResolver && isOutdated(member, of: origin)
        guard now < expiry, !isOutdated else { return retire(member, of: origin) }
        if waitingCount > 0, handOver(member, origin: origin, at: now) { return }
        guard !exceedsLimits(origin) else { return retire(member, of: origin) }
        member.pooledState = PooledState(
            uses: member.pooledState.uses,
            since: now,
            expiry: expiry,
            isIdle: true
        )
        origin.idle.append(member)
        count(idle: member)
        trimIdle()
    }

    /// Takes back a connection that was granted but not used.
    mutating func takeBack(_ member: Member, to origin: Record, at now: Instant) {
        member.pooledState.uses -= 1
        checkIn(member, to: origin, at: now)
    }

    /// Ends the lease of a connection that is gone, and frees its slot.
    mutating func release(_ member: Member, of origin: Record) {
        drop(member, of: origin)
        release(origin)
    }

    /// Frees the slot of a permit that led to no connection.
    mutating func release(_ origin: Record) {
        close(origin)
        cleanUp(origin)
    }

    /// Ends the lease of a connection that is gone. The holder keeps the slot and may dial in it.
    mutating func drop(_ member: Member, of origin: Record) {
        if let index = origin.members.firstIndex(where: { $0 === member }) {
            origin.members.remove(at: index)
        }
    }

    /// Removes a waiter that gave up. Returns false if it has already been granted its turn.
    mutating func leave(_ ticket: Ticket, of origin: Record) -> Bool {
        guard origin.waiting.remove(ticket) else { return false }
        waitingCount -= 1
        file(origin)
        forget(origin)
        return true
    }

    /// Closes the idle connections to the same endpoint that have been idle since before this one was leased.
    /// A request on this one got no first byte of a response in time, so they may be as dead.
    mutating func dismissSiblings(of member: Member, _ origin: Record) {
        let silent = origin.idle.filter {
            $0.endpoint == member.endpoint && $0.pooledState.since <= member.pooledState.since
        }
        for sibling in silent { removeIdle(sibling, of: origin) }
        if !silent.isEmpty { cleanUp(origin) }
    }

    /// Closes the idle connections now, and those that are leased or being dialled when they are given back.
    mutating func closeWhenIdle(at now: Instant) {
        lastDraining = now
        sweep(at: .never) { _, _ in true }
        for origin in origins {
            for member in origin.members { member.pooledState.isDraining = true }
        }
    }

    /// Closes idle connections whose time is over, at most so many. Returns whether there may be more.
    mutating func closeExpired(at now: Instant, atMost limit: Int) -> Bool {
        var left = limit
        for origin in origins where !origin.idle.isEmpty {
            let done = Array(origin.idle.lazy.filter { $0.pooledState.expiry <= now }.prefix(left))
            for member in done { removeIdle(member, of: origin) }
            if !done.isEmpty { cleanUp(origin) }
            left -= done.count
            if left == 0 { return true }
        }
        return false
    }

    /// Closes the idle connections that `isDone` selects and those whose time is over.
    mutating func sweep(at now: Instant, _ isDone: (Member, Record) -> Bool) {
        for origin in origins where !origin.idle.isEmpty {
            let done = origin.idle.filter { $0.pooledState.expiry <= now || isDone($0, origin) }
            for member in done { removeIdle(member, of: origin) }
            if !done.isEmpty { cleanUp(origin) }
        }
    }
}

/// The slots within the limits, and the requests that wait for one.
extension Pool {
    /// Returns the record of the origin, a new one if there is none.
    mutating func origin(for key: PoolKey) -> Record {
        if let origin = knownOrigin(for: key) { return origin }
        let origin = Record(key, at: origins.count)
        origins.append(origin)
        originsByKey[key] = origin
        return origin
    }

    /// Returns the record of an origin; `nil` if there is none.
    private mutating func knownOrigin(for key: PoolKey) -> Record? {
        if let latest, latest.hasKey(equalTo: key) { return latest }
        guard let origin = originsByKey[key] else { return nil }
        latest = origin
        return origin
    }

    /// Removes the record of an origin without connections and waiters.
    mutating func forget(_ origin: Record) {
        guard origin.open == 0, origin.waiting.isEmpty, originsByKey.removeValue(forKey: origin.key) != nil,
            let last = origins.popLast()
        else { return }
        // The last one takes its place.
        if last !== origin {
            origins[origin.index] = last
            last.index = origin.index
        }
        if latest === origin { latest = nil }
    }

    /// Takes a slot.
    mutating func open(_ origin: Record) {
        origin.open += 1
        openCount += 1
        file(origin)
    }

    /// Frees a slot, without passing it on.
    mutating func close(_ origin: Record) {
        origin.open -= 1
        openCount -= 1
        file(origin)
    }

    /// Gives a connection, or its slot, to the request that has waited longest. Returns false if no waiting
    /// request can use either.
    mutating func handOver(_ member: Member, origin: Record, at now: Instant) -> Bool {
        // The origin that would get the slot if it were free.
        close(origin)
        let next = next
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
    private mutating func grant(_ origin: Record, member: Member?) {
        guard let first = origin.waiting.removeFirst() else { return }
        waitingCount -= 1
        grants += 1
        origin.grants += 1
        file(origin)
        actions.grants.append(Assignment(ticket: first.ticket, member: member))
    }

    /// Passes free slots on to waiting requests, and removes the origin's record if it has neither
    /// connections nor waiters.
    mutating func cleanUp(_ origin: Record) {
        assignFreeSlots()
        forget(origin)
    }

    /// Grants free slots to waiting requests. A slot of one origin can help a request for another one only
    /// where the limit on the total was in the way.
    mutating func assignFreeSlots() {
        while let next {
            open(next)
            grant(next, member: nil)
        }
    }
}
