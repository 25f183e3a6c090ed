internal import DirectHTTP

/// Judges what depends on the rarer words of peers and callers: cookies of a domain or a path, policies for
/// the hosts below, TLS settings of a request, limits inside a body's framing, and cancellations.
struct PeerJudge {
    let world: World
    let number: Int
    let host: Int
    private var plan: Plan { world.plan }
    private var call: CallPlan { plan.calls[number] }

    /// Judges a request that has arrived.
    ///
    /// - Parameter tls: Whether the version of TLS is 1.2, and the client's identity; `nil` without TLS.
    func judge(
        _ head: ReceivedHead,
        on connection: SimulatedConnection,
        _ tls: (isOldVersion: Bool, identity: Int)?
    ) {
        judgeDomain(head)
        judgePath(head)
        judgeRetry()
        if let tls { judgeTLS(tls, on: connection) }
        // Whatever the client sends for a call, it sends before the call is cancelled or at once.
        if let cancelled = world.calls[number].cancelled, let sent = world.lastSends[connection.number] {
            world.kernel.count("judge: request of a cancelled call")
            let isBegunLater = cancelled < world.calls[number].start ?? 0
            if isBegunLater || sent > cancelled + 1_000_000 + world.slack {
                world.fault("cancellation", "a request of call \(number) is sent after it was cancelled")
            }
        }
    }

    /// A cookie of a domain is for its host and those below it, not for those beside it or above it.
    private func judgeDomain(_ head: ReceivedHead) {
        guard let cookie = head.value(of: "cookie") else { return }
        for other in plan.hosts.indices where cookie.reveals("wide-secret\(other)-") {
            world.kernel.count("judge: cookie of a domain")
            if world.name(other) != world.name(host), !plan.isBelow(host, other) {
                world.fault("secrets", "\(world.name(host)) got the cookie of \(world.name(other))")
            }
        }
    }

    /// A cookie of a path is for that path and those below it (RFC 6265, section 5.1.4).
    private func judgePath(_ head: ReceivedHead) {
        for pair in head.value(of: "cookie")?.split(separator: "; ") ?? [] where pair.hasPrefix("near=/") {
            world.kernel.count("judge: cookie of a path")
            let path = pair.dropFirst(5)
            if head.path != path, !head.path.hasPrefix(path + "/") {
                world.fault("cookies", "\(head.path) got the cookie of \(path)")
            }
        }
    }

    /// A server that says when to come again is not asked before.
    private func judgeRetry() {
        let isCut = plan.network.resets > 0 || plan.hosts[host].addresses.contains { $0.fate != .works }
        guard let last = world.calls[number].tries.last, last.reply.word == .retryAfter, number % 2 == 1,
            [429, 503].contains(last.reply.status), last.reply.ending == .complete, !last.reply.isEarly,
            plan.client.hedging == nil, plan.client.responseLimit == nil, !isCut, call.download == nil
        else { return }
        world.kernel.count("judge: Retry-After")
        if world.kernel.now < last.time + 1_000_000_000 {
            world.fault("retries", "call \(number) comes again too early")
        }
    }

    /// A request with TLS settings is sent on a connection that was made with them.
    private func judgeTLS(_ tls: (isOldVersion: Bool, identity: Int), on connection: SimulatedConnection) {
        // A redirect from another origin has dropped them.
        let isOwn = host == call.host && world.calls[number].requests == 0
        if plan.hosts[host].asksForIdentity == true {
            world.kernel.count("judge: identity of a client")
            let expected =
                world.settings?.identities(of: connection, in: world)
                ?? [call.tls?.identityNumber ?? (call.user == .certificate ? 1 : 0)]
            if !expected.contains(tls.identity), isOwn || tls.identity != 0 {
                world.fault("TLS settings", "call \(number) has identity \(tls.identity), not \(expected)")
            }
        }
        guard let settings = call.tls, isOwn, plan.hosts[host].isSecure else { return }
        world.kernel.count("judge: TLS settings of a request")
        let hasProof = settings != .staple || (plan.hosts[host].staple ?? .none) == .good
        if settings.isWrong || !hasProof || settings == .oldVersion && !tls.isOldVersion {
            world.fault("TLS settings", "call \(number) is sent on a connection that was not made for it")
        }
    }

    /// No plain request is sent to a host below one whose policy holds for it.
    func judgeStrictness() {
        guard plan.client.keepsHSTS == true, !plan.hasUsers else { return }
        let start = world.calls[number].start ?? 0
        for parent in plan.hosts.indices where plan.hosts[parent].coversSubdomains == true {
            guard plan.isBelow(host, parent) else { continue }
            world.kernel.count("judge: TLS only below")
            if world.isStrict(parent, run: plan.run(ofCall: number), before: start) {
                world.fault("TLS only", "a plain request for \(world.name(host)), call \(number)")
            }
        }
    }

    /// Judges an error: a line of the framing without end costs its limit, and no more.
    func judge(_ error: any Error) {
        if let error = error as? HTTPError { judgePhase(error) }
        guard let error = error as? HTTPError, case .http(let reason) = error.reason,
            call.replies.count == 1, let reply = call.replies.first, reply.ending == .floods,
            [.chunkLine, .trailers].contains(reply.flood), world.calls[number].requests > 0
        else { return }
        world.kernel.count("judge: limit of a line")
        if case .truncatedChunks = reason {
            world.fault("limit", "call \(number) has read a line without end to the end")
        }
    }
}

extension PeerJudge {
    /// An error names the phase that the call had come to, and with it who has caused it.
    private func judgePhase(_ error: HTTPError) {
        world.kernel.count("judge: phase of an error")
        let (kind, peers) = (ErrorKind(error), plan.peers)
        let isOfProxy = error.phase == .proxy
        if isOfProxy, plan.client.proxy == .none { fault(error, "without a proxy") }
        let isUnproved = peers?.hasWrongProxy == true && plan.client.acceptsAnyCertificate != true
        // A thread that the system refuses may be the one that loads the settings for the server.
        let isProxyBad =
            plan.client.proxy != .none && (peers?.isProxyGone == true || isUnproved)
            && (plan.kernel?.threadFailures ?? 0) == 0
        if isProxyBad, call.download == nil, [.connection, .certificate].contains(kind), !isOfProxy {
            fault(error, "which the proxy has caused")
        }
        if kind == .certificate, !isOfProxy, error.phase != .tls { fault(error, "of a certificate") }
        let hasPlainHosts = plan.hosts.allSatisfy { !$0.isSecure }
        if error.phase == .tls, hasPlainHosts, plan.client.proxy != .https { fault(error, "without TLS") }
        if error.phase == .body, world.calls[number].sentFields.isEmpty,
            call.resource == nil, call.download == nil, ![.events, .raw, .tunnel].contains(call.kind)
        {
            fault(error, "without a head")
        }
        if call.injection != nil, error.phase != .request, ![.limit, .cancelled, .name].contains(kind) {
            fault(error, "of a request with a line break in it")
        }
    }

    private func fault(_ error: HTTPError, _ words: String) {
        world.fault("phase", "call \(number) has an error of \(error.phase), \(words): \(error)")
    }
}
