internal import DirectHTTP

/// What may make a call fail.
extension Reasons {
    /// The causes that have reached the call.
    var causes: [Cause] {
        let all: [(String, Set<ErrorKind>, Bool)] = [
            ("cancellation", [.cancelled], state.cancelled.map { $0 <= end } == true),
            ("deadline", [.limit, .name], call.total.map(hasPassed) == true),
            ("limit", [.limit], isOverLimit),
            ("wait", [.limit], state.error != nil && waits > 1_000_000_000),
            ("cut response", [.connection, .content, .limit, .download], hasEndedEarly),
            ("silent content", [.content, .limit], hasSilentContent),
            ("bytes behind", [.content, .connection], hasStrangeBytes),
            ("redirect", [.redirect], hasRedirectProblem),
            ("socket", [.redirect, .other], hasRedirect && plan.hosts.contains { $0.hasSocket == true }),
            ("lost request", [.connection], !isRepeatable && connections.contains(where: hasLostRequest)),
            ("cut upload", [.connection], hasCutUpload),
            ("body sent once", [.redirect], hasSentBodyOnce),
            ("reset", [.connection, .name], connections.contains(where: wasReset)),
            ("address", [.connection, .limit], connections.contains { isBad($0, proof: false) }),
            ("certificate", [.certificate], connections.contains { isBad($0, proof: true) }),
            (
                "list of certificates", [.certificate, .connection],
                connections.contains(where: hasHostileList)
            ),
            ("no descriptor", [.connection, .limit], hasLackedDescriptor),
            (
                "status of a download", [.download],
                call.download != nil && replies.contains { $0.status >= 400 }
            ),
            ("refusal by a proxy", [.proxy, .connection, .certificate, .download], isRefused),
            (
                "roots or pins", [.certificate, .connection],
                call.tls?.isWrong == true && hosts.contains { plan.hosts[$0].isSecure }
            ),
            ("limit of a body", [.content], hasLargeBody),
            ("injection", [.other, .content], call.injection != nil),
            (
                "staple", [.certificate, .connection],
                call.tls == .staple
                    && hosts.contains { plan.hosts[$0].isSecure && plan.hosts[$0].staple != .good }
            ),
            ("resolver", [.name, .limit, .connection], hasBadAnswer),
            ("names", [.name], plan.namesMayVanish && hasMoved),
            ("lookup", [.name], plan.kernel?.lookups?.fails == true && asksSystem),
            (
                "thread", [.name, .connection, .download, .cache],
                plan.kernel.map { $0.threadFailures > 0 } == true
            ),
            ("stop", [.limit, .name], isStopped),
            ("damage", [.cache], hasReadCache && plan.mayFindDamage(number)),
            ("page", [.other], leadsElsewhere),
            ("settings", [.connection, .limit], areSettingsUnclear),
            ("file", [.download, .content, .connection, .limit], isFileUnclear),
        ]
        return all.filter(\.2).map { Cause(name: $0.0, kinds: $0.1) }
    }

    func hasPassed(_ limit: Int) -> Bool { end - start >= UInt64(limit) * 1000 }

    // MARK: Limits

    /// Whether the call has ended with a limit of the client that had passed.
    private var isOverLimit: Bool {
        guard let error = state.error as? HTTPError else { return false }
        let client = plan.client
        switch error.reason {
        case .tooSlow: return client.slowestBytes != nil && hasPassed(client.slowestTime)
        case .timedOut where error.phase == .queue:
            return client.queueLimit.map(hasPassed) == true && sharers.contains { $0.end + lateness > end }
                || slowestRate != nil && hasPassed(30_000_000)
        case .timedOut where [.response, .body].contains(error.phase) && hasLeftBytes: return false
        case .timedOut:
            return [client.responseLimit, client.readLimit, client.connectLimit].contains {
                $0.map(hasPassed) == true
            }
        default: return false
        }
    }

    /// Whether the peer's bytes had waited to be read when the client gave it up as silent.
    private var hasLeftBytes: Bool {
        guard let times = state.arrivals.last?.connection.times, let closed = times.closed, closed <= end
        else { return false }
        world.kernel.count("judge: silence of a peer")
        return times.unread.map { $0 + world.slack < closed } ?? false
    }

    /// Whether the program was stopped while the call was under way.
    private var isStopped: Bool {
        guard let stop = plan.kernel?.stop,
            stop.isLong
                || plan.resolvers?.services.contains(where: { $0.attemptLimit <= stop.length }) == true
        else { return false }
        let begin = 1_000_000_000 + UInt64(stop.time) * 1000
        return begin <= end && begin + UInt64(stop.length) * 1000 + lateness >= start
    }

    // MARK: Responses

    /// Whether a response of the call was cut, or could not be told from a cut one.
    private var hasEndedEarly: Bool {
        // Events go on over another connection.
        guard call.kind != .events else { return false }
        if replies.contains(where: isCut) { return true }
        // Without a close_notify the end of such a body cannot be told from a cut.
        let isRude = hosts.contains { hasTLS($0) && plan.hosts[$0].isRude }
        if isRude, replies.contains(where: { $0.framing == .untilClose }) { return true }
        // A server that closes before it has read the client's new key resets the connection.
        return updatesKeys
            && replies.contains { $0.framing == .untilClose || $0.ending == .closes || $0.isLast }
    }

    /// Whether the end of a reply is missing, for a caller that waits for it.
    private func isCut(_ reply: ReplyPlan) -> Bool {
        switch reply.ending {
        case .complete, .closes, .addsBytes, .addsResponse: false
        case .closesBefore: true
        case .floods: true
        case .breaksOff, .stalls: call.kind != .head && call.reading != .none
        }
    }

    /// Whether bytes behind a response may have come when a request of the call had been sent.
    private var hasStrangeBytes: Bool {
        world.calls.contains { other in
            other.tries.contains { request in
                request.reply.addsSomething && request.reply.framing != .untilClose
                    && mayHaveUsed(request.connection, after: request.time + 1)
            }
        }
    }

    /// Whether content decodes to nothing for longer than is accepted.
    private var hasSilentContent: Bool {
        guard let limit = plan.client.transfers?.silentContent else { return false }
        return plan.calls.indices.contains { other in
            // A cache may answer with what the other call has brought.
            let isOfResource = call.resource != nil && plan.calls[other].resource == call.resource
            return (other == number || isOfResource)
                && world.calls[other].tries.contains {
                    ($0.reply.emptyMembers ?? 0) * ReplyPlan.emptyMemberSize > limit
                }
        }
    }

    /// Whether a redirect leads from https to http, or to a Unix domain socket, or never ends.
    private var hasRedirectProblem: Bool {
        if let last = call.replies.last, (300..<400).contains(last.status) { return true }
        let redirects = replies.filter { (300..<400).contains($0.status) }
        // A redirect to itself that is kept in the cache never ends.
        if plan.client.caches, redirects.contains(where: { ($0.lifetime ?? 0) > 0 }) { return true }
        guard !redirects.isEmpty else { return false }
        guard plan.client.hedging == nil, call.download == nil else {
            return hosts.contains { plan.hosts[$0].isSecure } && hosts.contains { !plan.hosts[$0].isSecure }
        }
        var isSecure = plan.hosts[call.host].isSecure
        for reply in redirects {
            let wasSecure = isSecure
            isSecure = plan.hosts[reply.target].isSecure
            if wasSecure, !isSecure { return true }
        }
        return false
    }

    private var hasLargeBody: Bool {
        guard let limit = plan.client.bodyLimit, call.reading == .fetch else { return false }
        return call.resource != nil || call.replies.contains { $0.size > limit }
    }

    private var hasRedirect: Bool { replies.contains { (300..<400).contains($0.status) } }

    /// Whether the call may have got a response that the cache has kept.
    private var hasReadCache: Bool {
        guard replies.isEmpty || call.replies.contains(where: { $0.confirms == true }) else { return false }
        return plan.calls.indices.contains { other in
            plan.calls[other].resource == call.resource && plan.calls[other].host == call.host
                && world.calls[other].tries.contains { $0.reply.size > 60_000 && $0.time <= end }
        }
    }

    // MARK: Requests

    private var isRepeatable: Bool {
        [.get, .head, .prewarm, .raw, .events].contains(call.kind)
    }

    /// Whether the end of its connection has met a request on its way, of which the server has seen nothing.
    private func hasLostRequest(_ connection: SimulatedConnection) -> Bool {
        guard connection.times.lastRequest != nil, connection.sentSinceRequest > closingBytes,
            world.lastSends[connection.number] ?? 0 >= start
        else { return false }
        return [connection.times.ended, connection.times.broken].contains { time in
            time.map { $0 <= end + closingDelay && wasOpen(connection, at: $0) } ?? false
        }
    }

    /// The number of bytes since the last request that are no other request: those that close TLS.
    private var closingBytes: Int {
        let isSecret = plan.client.proxy == .https || hosts.contains { plan.hosts[$0].isSecure }
        return isSecret && plan.network.shortSends == 0 ? 80 : 0
    }

    /// Whether a server may have ended a connection before it had read an upload.
    private var hasCutUpload: Bool {
        guard !isRepeatable else { return false }
        // A redirect to TLS, or the refusal of a login, may cut it off.
        if call.isPlain == true { return true }
        let isChallenged = world.proxyGate != nil || hosts.contains { plan.hosts[$0].digest != nil }
        if call.expectsContinue, isChallenged { return true }
        return replies.contains { reply in
            reply.isEarly
                && (reply.lateReading == 0 || reply.framing == .untilClose || reply.isLast
                    || reply.ending != .complete && !reply.addsSomething)
        }
    }

    private var updatesKeys: Bool { hosts.contains { hasTLS($0) && plan.hosts[$0].updatesKeys } }
    private func hasTLS(_ host: Int) -> Bool { plan.hosts[host].isSecure || plan.client.proxy == .https }

    /// Whether a request would have to be sent again whose body can be sent once.
    private var hasSentBodyOnce: Bool {
        guard [.stream, .streamOfKnownLength].contains(call.kind) else { return false }
        if call.isPlain == true || hosts.contains(where: { plan.hosts[$0].digest != nil }) { return true }
        return replies.contains { [307, 308].contains($0.status) }
    }

    // MARK: Connections

    /// The connections that the call may have used, or waited for.
    var connections: [SimulatedConnection] {
        world.kernel.allConnections.filter { connection in
            connection.times.connect <= end && connection.times.closed.map { $0 >= start } ?? true
                && connection.place.map { hosts.contains($0.host) } ?? true
        }
    }

    /// Whether the call may have sent a request on the connection since a time.
    private func mayHaveUsed(_ connection: SimulatedConnection, after time: UInt64 = 0) -> Bool {
        if state.arrivals.contains(where: { $0.connection === connection && $0.time >= time }) { return true }
        // No request has arrived, or another one is on its way.
        return connection.times.lastRequest == nil
            || connection.sentSinceRequest > 0
                && world.lastSends[connection.number].map { $0 >= max(start, time) && $0 <= end } ?? false
    }

    private func wasOpen(_ connection: SimulatedConnection, at time: UInt64) -> Bool {
        time <= connection.times.closed.map { $0 + closingDelay } ?? .max
    }

    /// A close_notify may come before the end of its connection does.
    private var closingDelay: UInt64 { UInt64(plan.network.longestDelay) * 2000 }

    /// Whether the network has broken a connection of the call.
    private func wasReset(_ connection: SimulatedConnection) -> Bool {
        guard plan.network.resets > 0, let time = connection.times.broken, time <= end,
            wasOpen(connection, at: time), time + lateness > start
        else { return false }
        return mayHaveUsed(connection)
    }

    /// Whether the address of the connection has failed it before the call was over.
    ///
    /// - Parameter proof: Whether it is its certificate that is wrong, or anything else.
    private func isBad(_ connection: SimulatedConnection, proof: Bool) -> Bool {
        guard let place = connection.place else { return false }
        let host = plan.hosts[place.host]
        let fate = host.addresses[place.address].fate
        if proof { return host.isSecure && [.wrongCertificate, .unknownIssuer].contains(fate) }
        switch fate {
        case .works, .wrongCertificate, .unknownIssuer: return false
        case .dies: return connection.times.broken ?? .max <= end || connection.times.connected == nil
        // Another address is tried.
        case .appears: return connection.times.connected == nil && !hasBetterAddress(host)
        // When the call's time is over, no other address is tried.
        case .refuses, .fails: return !hasBetterAddress(host) || call.total.map(hasPassed) == true
        case .silent: return !hasBetterAddress(host)
        case .stops: return 1_000_000_000 + UInt64(host.addresses[place.address].changeTime) * 1000 <= end
        case .closes, .freezes: return true
        }
    }

    private func hasHostileList(_ connection: SimulatedConnection) -> Bool {
        connection.place.map { plan.hosts[$0.host].addresses[$0.address].list != nil } ?? false
    }

    /// Whether an address of the host works, and the client knows it: after a bad status it tries others. In
    /// TLS 1.2 a ticket is part of the handshake.
    private func hasBetterAddress(_ host: HostPlan) -> Bool {
        plan.resolvers == nil && plan.kernel?.lookups == nil && host.hasSocket != true
            && host.ticketPause ?? 0 <= 1_000_000
            && !replies.contains { [421, 502, 503, 504].contains($0.status) }
            && host.addresses.contains { $0.fate == .works }
    }

    var hasLackedDescriptor: Bool {
        world.kernel.shortages.contains { $0 + lateness > start && $0 <= end }
    }

    // MARK: Proxies and names

    /// Whether the proxy refuses the call's tunnel, or has not proved its name.
    private var isRefused: Bool {
        guard let peers = plan.peers, plan.client.proxy != .none else { return false }
        // Plain requests are passed on without a tunnel, if the client has only names.
        let needsTunnel = plan.client.resolving != .system || hosts.contains { plan.hosts[$0].isSecure }
        let hasNoLogin = peers.login.map { !$0.isAccepted || $0.digest.uses != nil } ?? false
        return peers.hasWrongProxy || peers.isProxyGone == true || hasNoLogin
            || peers.refusal != nil && needsTunnel
    }

    /// Whether the call may have asked the system's resolver.
    private var asksSystem: Bool {
        plan.client.proxy != .none || plan.resolvers?.endsWithSystem == true
            || plan.resolvers == nil && [.system, .request].contains(plan.client.resolving)
    }

    /// Whether a resolver has not answered, a little before the call or during it: that may have been kept.
    private var hasBadAnswer: Bool {
        guard let resolvers = plan.resolvers else { return false }
        // The network loses datagrams.
        guard !resolvers.isGood else { return resolvers.asksByDatagram && plan.network.resets > 0 }
        let kept = UInt64(max(resolvers.cache?.negative ?? 0, resolvers.cache?.shortest ?? 0)) * 1000
        let lifetime = UInt64(resolvers.lifetime) * 1_000_000_000
        if world.badAnswers.contains(where: { $0 <= end && $0 + max(kept, lifetime) + lateness >= start }) {
            return true
        }
        return resolvers.services.contains { service in
            service.attemptLimit < (service.format == .datagram ? 3_000_000 : 1_000_000)
                || service.servers.contains { server in
                    // Datagrams to a server that is not there are not seen.
                    service.format == .datagram && server.fate != .works
                        || 3 * server.delay >= service.attemptLimit
                }
        }
    }

    /// Whether hosts have moved a little before the call or during it.
    private var hasMoved: Bool {
        guard let resolvers = plan.resolvers else { return false }
        let kept = max(
            UInt64(resolvers.cache?.negative ?? 0) * 1000,
            resolvers.span(seconds: resolvers.lifetime)
        )
        return resolvers.moves.contains { move in
            let time = 1_000_000_000 + UInt64(move) * 1000
            return time <= end && time + kept + lateness + UInt64(resolvers.cache?.stale ?? 0) * 1000 >= start
        }
    }

    /// Whether a page leads to another origin, or the first one has been redirected to TLS.
    private var leadsElsewhere: Bool {
        plan.leadsElsewhere(number) || call.isPaged == true && call.isPlain == true && state.hasCrossed
    }

    // MARK: Files

    /// Whether the files of the client's settings could not be used, and were not known to it before. For
    /// other origins it has settings without its certificate.
    var areSettingsUnclear: Bool {
        guard let settings = world.settings else { return false }
        let isKnown = call.isAlone != true && !hasRedirect
        let known = plan.calls.indices.filter { isKnown && plan.calls[$0].isAlone != true }.flatMap { other in
            let host = plan.calls[other].host
            // What leads to a Unix domain socket has a context of its own, with the certificate of all.
            let isOwn = host == call.host || plan.hosts.allSatisfy { $0.hasSocket != true }
            return world.calls[other].tries.filter { $0.place?.host == host }.map { (isOwn, $0.time) }
        }
        let times = [known.filter(\.0), known].map { $0.map(\.1).min() ?? .max }
        return settings.mayFail(from: start, to: end, knownSince: times[0], identitySince: times[1])
    }

    /// Whether what servers say of the call's file is not true, or not of one version.
    private var isFileUnclear: Bool {
        guard let number = call.download?.file, let file = plan.files?[number] else { return false }
        let isDiskBad = plan.disk.map { $0.failures > 0 || $0.capacity != nil } ?? false
        if isDiskBad || plan.client.acceptsAnyCertificate == true || hasUntrueFile { return true }
        let isChanged = file.changes.contains { change in
            let time = 1_000_000_000 + UInt64(change) * 1000
            return time <= end && time + UInt64(2 * file.lag) * 1000 + lateness >= start
        }
        return isChanged
            || plan.calls.indices.contains { other in
                guard other != self.number, plan.calls[other].download?.file == number,
                    let begin = world.calls[other].start, begin <= end
                else { return false }
                let other = Reasons(world: world, number: other)
                // What it has left is continued.
                let isLeft = other.state.error != nil
                return other.end >= start || isLeft && (other.call.host != call.host || other.hasUntrueFile)
            }
    }

    /// Whether a server has sent something else than the file, or says something wrong of it.
    private var hasUntrueFile: Bool {
        replies.contains { reply in
            reply.rangeFault != nil || (300..<400).contains(reply.status) && reply.target != call.host
        }
    }
}
