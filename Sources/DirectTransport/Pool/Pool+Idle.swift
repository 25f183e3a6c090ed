internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Idle connections: which request may have one, and how long it stays.
extension Pool {
    /// Takes the idle connection that was used last, which is the likeliest to be alive.
    mutating func takeIdle(
        _ origin: Record,
        route: borrowing Route,
        kept: KeptConnections,
        now: Instant
    ) -> Member? {
        var index = origin.idle.count
        while index > 0 {
            index -= 1
            let member = origin.idle[index]
            var pooledState = member.pooledState
            if !(now < pooledState.expiry) {
                removeIdle(member, of: origin)
            } else if member.serves(route), kept.include(member) {
                origin.idle.remove(at: index)
                discount(idle: member)
                pooledState.isIdle = false
                pooledState.since = now
                pooledState.uses += 1
                member.pooledState = pooledState
                return member
            }
        }
        return nil
    }

    /// Closes idle connections that track the resolver's answer, if the answer has changed and they do not
    /// serve the new one.
    mutating func follow(_ route: Route, origin: Record) {
        guard let answer = route.answer, origin.followed?.answer != answer else { return }
        origin.followed = route
        for member in origin.idle where member.tracksResolver && !member.serves(route) {
            removeIdle(member, of: origin)
        }
    }

    /// Whether the connection tracks the resolver's answer and does not serve the latest one.
    func isOutdated(_ member: Member, of origin: Record) -> Bool {
        guard let followed = origin.followed, member.tracksResolver else { return false }
        return !member.serves(followed)
    }

    /// Returns the moment until which the connection may stay idle: the earliest that the limits on idle time
    /// and age and the server's `Keep-Alive` hint allow. That is `now` if it has served as many requests as
    /// it may, or is to be closed.
    func expiry(of member: Member, at now: Instant) -> Instant {
        guard member.pooledState.uses < limits.uses, !member.pooledState.isDraining else { return now }
        var idleTime = limits.idleTime
        if let hint = member.keepAlive {
            guard hint.max != 0 else { return now }
            idleTime = min(idleTime, hint.restTime)
        }
        let byIdleTime = now.advanced(byNanoseconds: idleTime)
        let byAge = member.createdAt.advanced(byNanoseconds: limits.age)
        return byAge < byIdleTime ? byAge : byIdleTime
    }

    /// Closes a leased connection and passes its slot on.
    mutating func retire(_ member: Member, of origin: Record) {
        actions.close.append(member)
        release(member, of: origin)
    }

    /// Takes an idle connection out for inspection, as if it were leased. Returns false if it is not idle any
    /// more.
    mutating func takeOut(_ member: Member, of origin: Record) -> Bool {
        guard member.pooledState.isIdle, let index = origin.idle.firstIndex(where: { $0 === member }) else {
            return false
        }
        origin.idle.remove(at: index)
        discount(idle: member)
        member.pooledState.isIdle = false
        return true
    }

    /// Puts an inspected connection back where it was in the idle order, or closes it if a reason to do so
    /// has come up in the meantime. A waiting request gets it first.
    mutating func putBack(_ member: Member, to origin: Record, at now: Instant) {
        let isOutdated = limits.tracksResolver && isOutdated(member, of: origin)
        guard now < member.pooledState.expiry, !member.pooledState.isDraining, !isOutdated else {
            return retire(member, of: origin)
        }
        if waitingCount > 0, handOver(member, origin: origin, at: now) { return }
        guard !exceedsLimits(origin) else { return retire(member, of: origin) }
        member.pooledState.isIdle = true
        let index =
            origin.idle.firstIndex { $0.pooledState.since > member.pooledState.since } ?? origin.idle.endIndex
        origin.idle.insert(member, at: index)
        count(idle: member)
        trimIdle()
    }

    /// Closes an idle connection. The caller decides what happens to its slot.
    mutating func removeIdle(_ member: Member, of origin: Record) {
        if let index = origin.idle.firstIndex(where: { $0 === member }) { origin.idle.remove(at: index) }
        drop(member, of: origin)
        member.pooledState.isIdle = false
        discount(idle: member)
        close(origin)
        actions.close.append(member)
    }

    /// Adds a connection that has become idle to the sums.
    @inline(__always)
    mutating func count(idle member: Member) {
        idleCount += 1
        idleExcess += member.excess
    }

    /// Removes a connection that is no longer idle from the sums.
    @inline(__always)
    private mutating func discount(idle member: Member) {
        idleCount -= 1
        idleExcess -= member.excess
    }

    /// Closes the longest idle connection if there is one more than the limit on idle connections, and the
    /// largest ones while their certificates have more bytes than the limit. Large ones make room for each
    /// other, not ordinary ones for them.
    mutating func trimIdle() {
        if idleCount > limits.idle { _ = closeLongestIdle() }
        while idleExcess > limits.idleExcess {
            let all = origins.lazy.flatMap { origin in origin.idle.lazy.map { ($0, origin) } }
            guard let (largest, its) = all.max(by: { $0.0.excess < $1.0.excess }) else { return }
            removeIdle(largest, of: its)
            cleanUp(its)
        }
    }

    /// The moment since which the longest idle connection has been idle; `nil` if none is idle.
    var longestIdleSince: Instant? { longestIdle()?.0.pooledState.since }

    /// Closes the connection that has been idle for longest. Returns false if none is idle.
    mutating func closeLongestIdle() -> Bool {
        guard let (oldest, its) = longestIdle() else { return false }
        removeIdle(oldest, of: its)
        cleanUp(its)
        return true
    }

    /// Returns whether one more connection to the origin may be opened. Where a limit is reached, this closes
    /// the longest idle connection to make room, unless all are spared.
    mutating func makeRoom(
        in origin: Record,
        sparing isSpared: (Member) -> Bool = { _ in false }
    ) -> Bool {
        if origin.open >= limits.perOrigin {
            // The idle connections that are not spared here do not serve the request.
            guard let oldest = origin.idle.first(where: { !isSpared($0) }) else { return false }
            removeIdle(oldest, of: origin)
        }
        while openCount >= limits.total {
            guard let (oldest, its) = longestIdle(except: { $0 === origin && isSpared($1) }) else {
                return false
            }
            removeIdle(oldest, of: its)
            if its !== origin { forget(its) }
        }
        return true
    }

    /// Returns the longest idle connection that is not spared, over all origins.
    private func longestIdle(except isSpared: (Record, Member) -> Bool = { _, _ in false }) -> (
        Member, Record
    )? {
        guard idleCount > 0 else { return nil }
        var longest: (member: Member, origin: Record)?
        for origin in origins {
            guard let candidate = origin.idle.first(where: { !isSpared(origin, $0) }) else { continue }
            if let longest, longest.member.pooledState.since <= candidate.pooledState.since { continue }
            longest = (candidate, origin)
        }
        return longest.map { ($0.member, $0.origin) }
    }
}

extension KeepAliveHint {
    /// The nanoseconds for which an idle connection is trusted: less than the server promises, because a
    /// request takes time to reach it.
    fileprivate var restTime: UInt64 {
        guard let timeout else { return .max }
        let nanoseconds = UInt64(timeout) * 1_000_000_000
        return nanoseconds - min(1_000_000_000, nanoseconds / 2)
    }
}
