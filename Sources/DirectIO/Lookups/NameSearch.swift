package import DirectCore

/// A caller's question for the addresses of a name.
///
/// The resolver is asked for both families in one call, because only that gives what this machine is
/// configured for: the order of RFC 6724 across the families, and a name that the table of hosts has for one
/// family is not looked up elsewhere for the other (nsswitch.conf(5)). But such a call takes as long as the
/// slower family: if the answer for one is lost, glibc asks again after 5 s (resolv.conf(5), `timeout`). So
/// when it is late, or has failed without saying that there are no addresses, each family is asked for alone.
/// Then the first one that has addresses is enough to begin with.
package final class NameSearch: Sendable {
    /// Addresses, or the reason why there are none.
    struct Found {
        let answer: SystemLookups.Answer
        /// Whether the resolver has answered for both families.
        let isWhole: Bool
        /// When the resolver was called; `nil` if that is not known.
        let callStart: Instant?
    }

    /// The time that the addresses of one family wait for those of the other.
    enum Grace {
        /// As RFC 8305, section 3, recommends: IPv6 does not wait, and IPv4 waits for 50 ms.
        case race
        /// For a second: a list of addresses cannot be completed later.
        case list
        /// Until the deadline.
        case unlimited

        func nanoseconds(_ family: IPAddress.Family) -> UInt64 {
            switch self {
            case .race: family == .v4 ? 50_000_000 : 0
            case .list: 1_000_000_000
            case .unlimited: .max
            }
        }
    }

    /// A place among the callers of the resolver.
    private struct Place {
        let calls: LookupCalls
        let ticket: LookupPlan<LookupCalls.Asker>.Ticket
    }

    private struct State {
        var answers: LookupAnswers
        /// When the call for both families began.
        var callStart: Instant?
    }

    private let name: String
    private let lookups: SystemLookups
    private let start: Instant
    private let end: Instant
    private let turn: LoopHandle
    private let state: Locked<State>
    /// The first place is that for both families.
    private let places: Locked<[Place]>

    /// Asks for a name.
    ///
    /// - Parameter end: The end of the caller's wait, by the system's clock.
    init(_ name: String, until end: Instant, in lookups: SystemLookups, on loop: EventLoop) {
        self.name = name
        self.lookups = lookups
        self.end = end
        start = loop.now
        turn = LoopHandle(loop: loop)
        state = Locked(State(answers: LookupAnswers(hasFamilies: lookups.calls(for: .v4) != nil)))
        places = Locked([])
        ask(lookups.both, family: nil)
    }

    deinit {
        leave()
        // A call that has not begun is not late, and no caller waits for it any more.
        for place in places.withLock({ $0 }) where place.calls.progress(of: place.ticket) == .queued {
            place.calls.leave(place.ticket)
        }
    }

    /// The end of a wait.
    enum Limit {
        case instant(Instant)
        /// A time after the call of the resolver for both families has begun, and after the question.
        case answerTime(nanoseconds: UInt64, asked: Instant)

        func end(_ callStart: Instant?) -> Instant {
            switch self {
            case .instant(let instant): instant
            case .answerTime(let time, let asked):
                callStart.map { max(asked, $0).advanced(byNanoseconds: time) } ?? .never
            }
        }
    }

    /// Waits for addresses. Only one task may wait at a time.
    ///
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled before there are
    ///   addresses.
    func found(
        _ grace: Grace,
        until limit: Limit
    ) async throws(BlockingWork.Abandoned) -> Found {
        turn.loop.add(turn)
        defer { turn.loop.remove(turn) }
        var graceEnd = Instant.never
        while true {
            let nextLook = advance()
            let (known, callStart) = (state.withLock { $0.answers.extent }, callStart)
            var end = limit.end(callStart)
            var half: Found?
            switch known {
            case .whole(let answer): return Found(answer: answer, isWhole: true, callStart: callStart)
            case .half(let addresses, let family):
                half = Found(answer: .success(addresses), isWhole: false, callStart: callStart)
                if graceEnd == .never {
                    graceEnd = turn.loop.now.advanced(byNanoseconds: grace.nanoseconds(family))
                }
                end = end.atMost(graceEnd)
            case .open: break
            }
            let wake = await turn.waitForSignal(until: end.atMost(nextLook))
            // An answer counts even if it arrives together with the deadline.
            if wake == .ready || wake == .expired && turn.loop.now < end { continue }
            let news = state.withLock { $0.answers.extent }
            if case .whole = news { continue }
            if wake == .expired, news != known { continue }
            if wake == .expired, let half { return half }
            leave()
            throw wake == .cancelled ? .cancelled : .expired
        }
    }

    /// Returns all addresses once the resolver has answered for both families; none if it does not before the
    /// deadline.
    package func all(until deadline: Instant) async -> [IPAddress] {
        guard let found = try? await found(.unlimited, until: .instant(deadline)), found.isWhole else {
            return []
        }
        return (try? found.answer.get()) ?? []
    }

    /// Asks for the families if it is time, and starts the calls that have room. Returns the time of the next
    /// look.
    private func advance() -> Instant {
        var places = places.withLock { $0 }
        let moment = momentToAskFamilies(places)
        if moment <= turn.loop.now {
            for family in [IPAddress.Family.v4, .v6] {
                if let calls = lookups.calls(for: family) { ask(calls, family: family) }
            }
            places = self.places.withLock { $0 }
        }
        // A call that has taken long by now makes room for another one.
        for place in places { place.calls.beginCalls() }
        guard !turn.loop.isHeld else { return momentToAskFamilies(places) }
        return places.reduce(momentToAskFamilies(places)) { min($0, nextLook(at: $1)) }
    }

    /// The time at which each family is asked for alone: when the call for both has failed, or has begun a
    /// while ago; if it still waits for room among other calls, a while longer.
    private func momentToAskFamilies(_ places: [Place]) -> Instant {
        guard places.count == 1, let both = places.first, lookups.calls(for: .v4) != nil else {
            return .never
        }
        let (failed, isWhole) = state.withLock { ($0.answers.bothHasFailed, $0.answers.both != nil) }
        if failed { return start }
        if isWhole { return .never }
        guard !turn.loop.isHeld, let progress = both.calls.progress(of: both.ticket) else {
            return start.advanced(byNanoseconds: Self.delay)
        }
        switch progress {
        case .called(let callStart): return callStart.advanced(byNanoseconds: Self.delay)
        case .queued: return start.advanced(byNanoseconds: both.calls.patience)
        }
    }

    /// The time at which a caller looks again: when its call no longer counts as awaited. Until its call is
    /// started, it looks as often.
    private func nextLook(at place: Place) -> Instant {
        let (now, patience) = (turn.loop.now, place.calls.patience)
        switch place.calls.progress(of: place.ticket) {
        case .queued: return now.advanced(byNanoseconds: patience)
        case .called(let start):
            let end = start.advanced(byNanoseconds: patience)
            return end > now ? end : .never
        case nil: return .never
        }
    }

    private var callStart: Instant? {
        if let known = state.withLock({ $0.callStart }) { return known }
        guard let both = places.withLock({ $0.first }),
            case .called(let start) = both.calls.progress(of: both.ticket)
        else { return nil }
        return start
    }

    private func ask(_ calls: LookupCalls, family: IPAddress.Family?) {
        let (state, turn) = (state, turn)
        let ticket = calls.ask(name, until: end) { answer, callStart in
            state.withLock { state in
                state.answers.note(answer, about: family)
                if family == nil { state.callStart = callStart }
            }
            turn.input.signal()
        }
        places.withLock { $0.append(Place(calls: calls, ticket: ticket)) }
    }

    /// Leaves the calls. With the addresses of one family in hand the search stays: the next caller then
    /// joins a call that is known to be late, and need not wait for that again.
    private func leave() {
        guard !isHalf else { return }
        let places = places.withLock { places in
            defer { places = [] }
            return places
        }
        for place in places { place.calls.leave(place.ticket) }
    }

    private var isHalf: Bool {
        if case .half = state.withLock({ $0.answers.extent }) { true } else { false }
    }

    /// The nanoseconds after which the call for both families is late. Most answers take less, and the extra
    /// questions of those that take longer do no harm.
    private static let delay: UInt64 = 250_000_000
}
