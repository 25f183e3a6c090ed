internal import DirectHTTP

/// The causes that have reached a call: what has happened to its connections, at its addresses and to
/// itself. They are looked for when the world is over.
///
/// What else is in the world is no excuse for a call, however much of it there is.
struct Reasons {
    let world: World
    let number: Int
    private var plan: Plan { world.plan }
    private var call: CallPlan { plan.calls[number] }
    private var state: World.CallState { world.calls[number] }
    private var start: UInt64 { state.start ?? 0 }
    private var end: UInt64 { state.end ?? world.kernel.now }
    /// The replies that servers have begun to send.
    private var replies: [ReplyPlan] { state.tries.map(\.reply) }
    /// The hosts that the call has asked, or could have asked.
    private var hosts: Set<Int> {
        Set([call.host] + replies.filter { (300..<400).contains($0.status) }.map(\.target))
    }

    /// For so long a cause is noticed late: the loop may have been busy.
    private var lateness: UInt64 { 1_000_000_000 + world.callersWork }

    /// Judges all calls that have ended: each has a reason for its failure, and for the time that it took.
    static func judgeAll(_ world: World) {
        let all = world.calls.indices.filter { world.calls[$0].end != nil }
            .map { Reasons(world: world, number: $0) }
        let waiting = spread(Set(all.filter(\.mayWait).map(\.number)), in: all)
        let failing = spread(waiting.union(all.filter(\.mayFail).map(\.number)), in: all)
        for call in all {
            world.kernel.count("caller: ended call")
            if !waiting.contains(call.number) { call.judgeTime() }
            if !failing.contains(call.number) { call.judgeOutcome() }
        }
    }

    /// Adds the calls that waited for one of these, for as long as there are any.
    private static func spread(_ numbers: Set<Int>, in all: [Reasons]) -> Set<Int> {
        var numbers = numbers
        while let next = all.first(where: { !numbers.contains($0.number) && $0.waited(for: numbers) }) {
            numbers.insert(next.number)
        }
        return numbers
    }

    private func judgeTime() {
        world.kernel.count("judge: slow")
        let (elapsed, longest) = (end - start, longestTime)
        if elapsed > longest {
            world.fault("slow", "call \(number) took \(elapsed / 1000) of \(longest / 1000) microseconds")
        }
    }

    private func judgeOutcome() {
        world.kernel.count("judge: no reason")
        if let error = state.error {
            world.fault("no reason", "call \(number) ended with \(error)")
        }
    }

    /// Whether the call has ended with a limit of the client that had passed.
    private var isOverLimit: Bool {
        guard let error = state.error as? HTTPError else { return false }
        let client = plan.client
        switch error.reason {
        case .tooSlow: return client.slowestBytes != nil && hasPassed(client.slowestTime)
        case .timedOut where error.phase == .queue:
            return client.queueLimit.map(hasPassed) == true && sharers.contains { $0.end + lateness > end }
        case .timedOut, .resolver, .proxy:
            return [client.responseLimit, client.readLimit, client.connectLimit].contains {
                $0.map(hasPassed) == true
            }
        default: return false
        }
    }

    private func hasPassed(_ limit: Int) -> Bool { end - start >= UInt64(limit) * 1000 }

    // MARK: Causes of a failure

    /// Whether anything that makes calls fail has reached it.
    private var mayFail: Bool {
        [
            ("deadline", call.total.map(hasPassed) == true), ("limit", isOverLimit),
            ("cancellation", state.cancelled.map { $0 <= end } == true),
            ("damage", plan.mayFindDamage(number)), ("names", plan.namesMayVanish),
            ("silent content", hasSilentContent), ("cut response", hasEndedEarly),
            ("redirect", hasRedirectProblem), ("upload", hasUploadProblem), ("bytes behind", hasStrangeBytes),
        ].contains(where: counted)
    }

    private func counted(_ cause: (name: String, isThere: Bool)) -> Bool {
        if cause.isThere { world.kernel.count("excuse: \(cause.name)") }
        return cause.isThere
    }

    /// Whether a response of the call was cut, or could not be told from a cut one.
    private var hasEndedEarly: Bool {
        // Events go on over another connection.
        guard call.kind != .events else { return false }
        if replies.contains(where: { ![.complete, .closes].contains($0.ending) }) { return true }
        let isProxied = plan.client.proxy == .https
        // Without a close_notify the end of such a body cannot be told from a cut.
        if hosts.contains(where: { (plan.hosts[$0].isSecure || isProxied) && plan.hosts[$0].isRude }),
            replies.contains(where: { $0.framing == .untilClose })
        {
            return true
        }
        // A server that closes before it has read the client's new key resets the connection.
        return hosts.contains { (plan.hosts[$0].isSecure || isProxied) && plan.hosts[$0].updatesKeys }
            && replies.contains { $0.framing == .untilClose || $0.ending == .closes }
    }

    /// Whether bytes behind a response of another call may have come when the request had been sent.
    private var hasStrangeBytes: Bool {
        others.contains { other in
            other.replies.contains { $0.ending == .addsBytes } && !other.hosts.isDisjoint(with: hosts)
        }
    }

    /// Whether content decodes to nothing for longer than is accepted.
    private var hasSilentContent: Bool {
        guard let limit = plan.client.transfers?.silentContent else { return false }
        return plan.calls.contains { other in
            // A cache may answer with what the other call has brought.
            let isOfResource = other.resource != nil && other.resource == call.resource
            return (other == call || isOfResource)
                && other.replies.contains { ($0.emptyMembers ?? 0) * ReplyPlan.emptyMemberSize > limit }
        }
    }

    /// From https to http a redirect is refused. The last reply is repeated, so it must not be one.
    private var hasRedirectProblem: Bool {
        if let last = call.replies.last, (300..<400).contains(last.status) { return true }
        let redirects = call.replies.filter { (300..<400).contains($0.status) }
        // A redirect to itself that is kept in the cache never ends.
        if plan.client.caches, redirects.contains(where: { ($0.lifetime ?? 0) > 0 }) { return true }
        guard !redirects.isEmpty else { return false }
        if plan.hosts.contains(where: { $0.hasSocket == true }) { return true }
        return hosts.contains { plan.hosts[$0].isSecure } && hosts.contains { !plan.hosts[$0].isSecure }
    }

    /// A request that was cut off while it was sent cannot be repeated.
    private var hasUploadProblem: Bool {
        guard ![.get, .head, .prewarm, .raw, .events].contains(call.kind) else { return false }
        // Its redirect, or the refusal of a login, may cut it off.
        if call.isPlain == true || world.proxyGate != nil
            || hosts.contains(where: { plan.hosts[$0].digest != nil })
        {
            return true
        }
        if replies.contains(where: { $0.status != 200 || $0.isEarly }) { return true }
        // Which connection its server was about to close when the request came is not known here.
        let closing = plan.calls.contains {
            $0.replies.contains { $0.ending != .complete || $0.framing == .untilClose }
        }
        if closing || plan.hosts.contains(where: { $0.idleClose != nil }) { return true }
        return world.kernel.allConnections.contains { connection in
            isOfCall(connection)
                && [connection.times.ended, connection.times.broken].contains { time in
                    time.map { $0 + lateness > start && $0 <= end && isOpen(connection, at: $0) } ?? false
                }
        }
    }

    // MARK: Causes of a wait

    /// Whether anything that takes long has reached it: it may fail then as well.
    private var mayWait: Bool {
        let isFileUnclear = call.download != nil && (!plan.isFileSimple(number) || plan.sharesFile(number))
        return [
            ("response without end", replies.contains { [.stalls, .floods].contains($0.ending) }),
            ("server that stops", world.calls.indices.contains(where: stopsReading)),
            ("half a ticket", hosts.contains { (plan.hosts[$0].ticketPause ?? 0) > 1_000_000 }),
            ("no descriptor", world.kernel.shortages.contains { $0 + lateness > start && $0 <= end }),
            ("resolver", plan.resolvers?.isGood == false), ("rate", isLongInQueue),
            ("system", plan.kernel.map(plan.mayFailBySystem) == true), ("refusal", plan.isRefused(number)),
            ("vector", VectorJudge(world, number: number)?.vector.isComplete == false),
            ("late reading", call.isReadForLong), ("file", isFileUnclear),
            ("connection", world.kernel.allConnections.contains { isOfCall($0) && hasFailed($0) }),
        ].contains(where: counted)
    }

    /// Whether a server reads nothing more on a connection that the client may use again: half of a body can
    /// be all of it.
    private func stopsReading(_ other: Int) -> Bool {
        let other = Reasons(world: world, number: other)
        return other.replies.contains { $0.ending == .stalls }
            && !other.hosts.isDisjoint(with: hosts)
    }

    /// Whether the call may have used the connection, or waited for it.
    private func isOfCall(_ connection: SimulatedConnection) -> Bool {
        connection.times.connect <= end && connection.times.closed.map { $0 + lateness >= start } ?? true
            && connection.place.map { hosts.contains($0.host) } ?? true
    }

    private func isOpen(_ connection: SimulatedConnection, at time: UInt64) -> Bool {
        // A close_notify may come before the end of its connection does.
        let late = UInt64(plan.network.longestDelay) * 2000
        return time <= connection.times.closed.map { $0 + late } ?? .max
    }

    /// Whether the network, or the address, has failed the connection before the call was over.
    private func hasFailed(_ connection: SimulatedConnection) -> Bool {
        if let time = connection.times.broken, plan.network.resets > 0, time <= end,
            isOpen(connection, at: time), time + lateness > start
        {
            return true
        }
        guard let place = connection.place else { return false }
        switch plan.hosts[place.host].addresses[place.address].fate {
        case .works: return false
        case .dies: return connection.times.broken != nil || connection.times.connected == nil
        case .appears: return connection.times.connected == nil
        case .fails, .stops, .refuses, .silent, .closes, .freezes, .wrongCertificate, .unknownIssuer:
            return true
        }
    }

    /// Whether it may have waited for a connection that one of these calls has kept for long.
    private func waited(for numbers: Set<Int>) -> Bool {
        sharers.contains { numbers.contains($0.number) && $0.end - $0.start > 1_000_000_000 }
    }

    /// The calls that were under way beside it, or had ended just before.
    private var others: [Reasons] {
        world.calls.indices.filter { $0 != number && world.calls[$0].start != nil }
            .map { Reasons(world: world, number: $0) }
            .filter { $0.start <= end && $0.end + lateness >= start }
    }

    /// Those of them that could keep a connection from it.
    private var sharers: [Reasons] {
        let client = plan.client
        guard client.connections != nil || client.perOrigin != nil else { return [] }
        return others.filter { client.connections != nil || !$0.hosts.isDisjoint(with: hosts) }
    }

    /// Whether slow bodies may keep all connections until the queue's own limit of 30 seconds.
    private var isLongInQueue: Bool {
        guard let rate = slowestRate else { return false }
        let bytes = plan.calls.map { call in
            (call.upload + (call.replies.map(\.size).max() ?? 0)) * (call.replies.count + 3)
        }
        return bytes.reduce(0, +) / rate > 25
    }

    private var slowestRate: Int? {
        [plan.client.transfers?.receivingRate, plan.client.transfers?.sendingRate].compactMap { $0 }.min()
    }

    /// The longest time that a call takes for which everything works, in nanoseconds: as long as all calls
    /// under way beside it one after the other, with the waits of all retries and the limits that are there
    /// for other reasons.
    private var longestTime: UInt64 {
        let calls = [call] + others.map(\.call)
        return UInt64(500_000 + calls.map(longestTime).reduce(0, +) + (plan.kernel?.stop?.length ?? 0)) * 1000
            + 3_000_000 * UInt64(calls.count)
    }

    /// The longest time of one call, in microseconds.
    private func longestTime(of call: CallPlan) -> Int {
        let network = plan.network
        // A connection, its name and its handshakes; then each segment may have to wait for room.
        let requests = call.replies.count + 3
        let opening = 60_000 + 12 * network.longestDelay + network.longestThreadStart * 4
        let file = call.download.flatMap { plan.files?[$0.file].size } ?? 0
        let bytes = (call.upload + file + (call.replies.map(\.size).max() ?? 0)) * requests
        let window = min(network.receiveBuffer, network.sendBuffer, network.segmentLimit)
        let moving = (bytes / max(1, window / 2) + 4) * 3 * network.longestDelay
        let work = bytes * network.byteCost / 1000 * 2 + 400 * network.jobCost / 1000
        let pauses = (call.upload / 10_000 + 1) * call.uploadPause * requests + bytes / 10
        let replies = call.replies.map { reply in
            let late =
                reply.isEarly && reply.lateReading > 0 ? call.upload / reply.lateReading * reply.latePause : 0
            return reply.delay + reply.parts * reply.pause + late
        }
        let isRepeated = plan.client.retries || call.download != nil || call.kind == .events
        let waits = isRepeated ? 5_000_000 : 0
        let reading = call.reading == .slowly ? (bytes / 1000 + 30) * 5000 : 0
        // A cache folder is found, read and written on threads.
        let disk =
            plan.keeping?.cache == nil && call.kind != .file ? 0 : 30 * network.longestThreadStart * requests
        // A service is connected to, and asked, for each request.
        let resending = plan.resolvers?.asksByDatagram == true ? 2_500_000 : 0
        let asking = plan.resolvers == nil ? 0 : (2 * opening + 400_000 + resending) * requests
        let proxy = (plan.client.proxyPause ?? 0) * 60 * requests
        let rated = slowestRate.map { (bytes / $0 + 2) * 1_000_000 } ?? 0
        let tickets = (plan.hosts.compactMap(\.ticketPause).max() ?? 0) * requests
        let vector = call.sequence.flatMap { SequenceVector.all[$0]?.duration } ?? 0
        let flood = call.isFlooded ? network.byteCost * 4000 : 0
        return opening * requests + moving + work + pauses + (replies.max() ?? 0) * requests + waits + reading
            + proxy + disk + asking + tickets + rated + flood + call.work + call.start
            + vector * 1_000_000 + (call.expectsContinue ? 1_100_000 * requests : 0)
    }
}

extension CallPlan {
    /// Whether a server reads an upload for seconds after it has answered: the next request on that
    /// connection waits.
    var isReadForLong: Bool {
        replies.contains { reply in
            reply.isEarly && reply.lateReading > 0 && upload / reply.lateReading * reply.latePause > 5_000_000
        }
    }
}
