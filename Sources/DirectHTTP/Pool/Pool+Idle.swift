internal import DirectHTTP1
internal import DirectIO

/// What is idle: who may have it, and for how long it stays.
extension Pool {
    /// The one used last: it is the likeliest to be alive.
    mutating func takeIdle(
        _ origin: Origin,
        _ route: Route,
        _ kept: KeptConnections,
        _ now: Instant
    ) -> Member? {
        var index = origin.idle.count
        while index > 0 {
            index -= 1
            let member = origin.idle[index]
            var stay = member.stay
            if !(now < stay.expiry) {
                removeIdle(member, of: origin)
            } else if member.serves(route), kept.include(member) {
                origin.idle.remove(at: index)
                idleCount -= 1
                stay.isIdle = false
                stay.since = now
                stay.turns += 1
                member.stay = stay
                return member
            }
        }
        return nil
    }

    /// Where a resolver's answer has changed, idle connections that follow it are closed.
    mutating func follow(_ route: Route, _ origin: Origin) {
        guard let answer = route.answer, origin.followed?.answer != answer else { return }
        origin.followed = route
        for member in origin.idle where member.followsAnswers && !member.serves(route) {
            removeIdle(member, of: origin)
        }
    }

    func isOutdated(_ member: Member, _ origin: Origin) -> Bool {
        guard let followed = origin.followed, member.followsAnswers else { return false }
        return !member.serves(followed)
    }

    /// How long the connection may wait for work. Not at all if it has served as often as it may.
    func expiry(of member: Member, at now: Instant) -> Instant {
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

    /// Closes a connection on lease; its place passes on.
    mutating func retire(_ member: Member, _ origin: Origin) {
        orders.close.append(member)
        release(member, origin)
    }

    /// Takes an idle connection out for a look at it, as if it were lent. False if it is not idle any more.
    mutating func takeOut(_ member: Member, of origin: Origin) -> Bool {
        guard member.stay.isIdle, let index = origin.idle.firstIndex(where: { $0 === member }) else {
            return false
        }
        origin.idle.remove(at: index)
        idleCount -= 1
        member.stay.isIdle = false
        return true
    }

    /// Puts it back where it was, if nothing has happened in the meantime that it would have been closed for; whoever
    /// waits gets it.
    mutating func putBack(_ member: Member, to origin: Origin, at now: Instant) {
        let isOutdated = limits.followsAnswers && isOutdated(member, origin)
        guard now < member.stay.expiry, !member.stay.isDismissed, !isOutdated else {
            return retire(member, origin)
        }
        if waitingCount > 0, handOver(member, origin, at: now) { return }
        member.stay.isIdle = true
        let index = origin.idle.firstIndex { $0.stay.since > member.stay.since } ?? origin.idle.endIndex
        origin.idle.insert(member, at: index)
        idleCount += 1
        trimIdle()
    }

    /// Closes an idle connection. What becomes of its place is the caller's affair.
    mutating func removeIdle(_ member: Member, of origin: Origin) {
        if let index = origin.idle.firstIndex(where: { $0 === member }) { origin.idle.remove(at: index) }
        drop(member, origin)
        member.stay.isIdle = false
        idleCount -= 1
        close(origin)
        orders.close.append(member)
    }

    mutating func trimIdle() {
        if idleCount > limits.idle { _ = closeLongestIdle() }
    }

    var longestIdleSince: Instant? { longestIdle()?.0.stay.since }

    /// Closes the connection that has been idle for longest. False if nothing is idle.
    mutating func closeLongestIdle() -> Bool {
        guard let (oldest, its) = longestIdle() else { return false }
        removeIdle(oldest, of: its)
        settle(its)
        return true
    }

    /// Whether one more connection to the origin may be open: where the limits are reached the longest idle one is
    /// closed for it, if there is one that is not to be spared.
    mutating func makeRoom(
        in origin: Origin,
        sparing isSpared: (Member) -> Bool = { _ in false }
    ) -> Bool {
        if origin.open >= limits.perOrigin {
            // What is idle leads elsewhere.
            guard let oldest = origin.idle.first(where: { !isSpared($0) }) else { return false }
            removeIdle(oldest, of: origin)
        } else if openCount >= limits.total {
            guard let (oldest, its) = longestIdle(except: { $0 === origin && isSpared($1) }) else {
                return false
            }
            removeIdle(oldest, of: its)
            if its !== origin { forget(its) }
        }
        return true
    }

    private func longestIdle(except isSpared: (Origin, Member) -> Bool = { _, _ in false }) -> (
        Member, Origin
    )? {
        guard idleCount > 0 else { return nil }
        var longest: (member: Member, origin: Origin)?
        for origin in origins.values {
            guard let candidate = origin.idle.first(where: { !isSpared(origin, $0) }) else { continue }
            if let longest, longest.member.stay.since <= candidate.stay.since { continue }
            longest = (candidate, origin)
        }
        return longest.map { ($0.member, $0.origin) }
    }
}
