internal import DirectCore
internal import DirectHTTP

/// Performs probes. Any number may run at the same time, each with its own deadline.
///
/// A probe with TLS makes two connections at the same time, one with SNI and one without. The first decides
/// whether the probe passes, and carries the request if there is one. The second is only for comparison. It
/// is skipped with `--skip-default`, and if the host is an IP address, which is never sent as SNI.
///
/// A probe without TLS makes one connection and one request.
struct ProbeEngine: Sendable {
    let tools: ProbeTools
    /// The event loop on which the probes run and wait.
    let loop: EventLoop
    /// Counts what the probe receives.
    let signs: SignsOfLife

    private var settings: ProbeSettings { tools.settings }

    /// Performs one probe, and repeats its first handshake as often as the settings say.
    func observe(_ probe: Probe) async -> Observation {
        var observation = await observeOnce(probe)
        if probe.target.usesTLS, settings.repeats > 1 { observation.repeats = await repeatFirst(probe) }
        return observation
    }

    /// Makes the first handshake again, one after the other. Each has the time limit of a probe.
    private func repeatFirst(_ probe: Probe) async -> [Handshake] {
        var handshakes: [Handshake] = []
        let serverName = serverNames(for: probe.target).first
        for _ in 1..<settings.repeats {
            if settings.interval > .zero {
                await sleep(until: loop.now.advanced(byNanoseconds: settings.interval.clampedNanoseconds))
            }
            let end = loop.now.advanced(byNanoseconds: tools.timeouts.total)
            let limits = DialLimits(CallLimit(tools.timeouts, until: end), loop: loop)
            handshakes.append(await repeated(probe, serverName, limits))
        }
        return handshakes
    }

    /// Performs one probe, with retries as the settings allow. All attempts share one deadline.
    private func observeOnce(_ probe: Probe) async -> Observation {
        let deadline = loop.now.advanced(byNanoseconds: tools.timeouts.total)
        let limits = DialLimits(CallLimit(tools.timeouts, until: deadline), loop: loop)
        var attempt = 1
        while true {
            var observation = await performAttempt(probe, limits)
            observation.attempts = attempt
            let pause = UInt64(100_000_000) << UInt64(min(attempt - 1, 5))
            guard attempt <= settings.retries, observation.isWorthRetrying,
                loop.now.advanced(byNanoseconds: pause) < deadline
            else { return observation }
            await sleep(until: loop.now.advanced(byNanoseconds: pause))
            attempt += 1
        }
    }

    private func performAttempt(_ probe: Probe, _ limits: DialLimits) async -> Observation {
        var observation = Observation(probe: probe, time: UnixTime.milliseconds)
        let start = loop.now
        if probe.target.usesTLS {
            await observeTLS(&observation, limits)
        } else {
            await observeWithoutTLS(&observation, limits)
        }
        if observation.total == nil { observation.total = loop.now.since(start) }
        return observation
    }

    private func observeWithoutTLS(_ observation: inout Observation, _ limits: DialLimits) async {
        let probe = observation.probe
        let start = loop.now
        let socket: Socket
        do throws(TransportError) {
            socket = try await probe.connect(limits)
        } catch {
            observation.connectFailure = HandshakeFailure(error, firstBytes: [])
            return
        }
        observation.tcpTime = loop.now.since(start)
        do throws(PreambleError) {
            try await Preamble(socket: socket, limits: limits).run(settings, for: probe)
        } catch {
            socket.close()
            observation.connectFailure = HandshakeFailure(error)
            return
        }
        let connection = probe.connection(over: socket, survey: nil)
        if let url = probe.target.url {
            observation.exchange = await request(url, over: connection, limits).run()
        }
        connection.close()
    }

    private func request(_ url: HTTPURL, over connection: Connection, _ limits: DialLimits) -> ProbeRequest {
        ProbeRequest(connection: connection, url: url, settings: settings, signs: signs, limits: limits)
    }

    /// Makes both handshakes at the same time, so that the comparison does not make the probe slower.
    private func observeTLS(_ observation: inout Observation, _ limits: DialLimits) async {
        let probe = observation.probe
        let names = serverNames(for: probe.target)
        guard let secondName = names.second else {
            observation.first = await makeFirst(&observation, serverName: names.first, limits)
            observation.otherKeys = await tryOtherKeys(observation, names.first, limits)
            return
        }
        async let second = makeSecond(probe, serverName: secondName, limits)
        observation.first = await makeFirst(&observation, serverName: names.first, limits)
        if observation.first?.tcpTime == nil {
            // The server cannot be reached. Leaving this scope cancels the second handshake.
            return
        }
        observation.second = await second
        observation.confirmation = await confirm(observation, names.first, secondName, limits)
        observation.otherKeys = await tryOtherKeys(observation, names.first, limits)
    }

    /// Makes a handshake for each kind of key that the first did not get, if that is wanted.
    private func tryOtherKeys(_ observation: Observation, _ name: SNI, _ limits: DialLimits) async
        -> [OtherKey]
    {
        guard settings.triesAllKeys, case .success(let served)? = observation.first?.outcome else {
            return []
        }
        let known = served.chain.leaf?.key.type ?? ""
        let kinds = OtherKey.Kind.allCases.filter { !known.hasPrefix($0.rawValue) }
        return await withTaskGroup(of: OtherKey.self) { group in
            for kind in kinds {
                group.addTask(executorPreference: loop) {
                    let keys: SurveyKeys = kind == .ec ? .ec : .rsa
                    let handshake = await repeated(observation.probe, name, accepting: keys, limits)
                    return OtherKey(kind: kind, handshake: handshake)
                }
            }
            var others: [OtherKey] = []
            for await other in group { others.append(other) }
            return others.sorted { $0.kind.rawValue < $1.kind.rawValue }
        }
    }

    /// Repeats the handshake whose result is surprising: the first unless it got the right certificate, else
    /// the second if it differs. One address may stand for several servers, of which some are set up
    /// otherwise.
    private func confirm(
        _ observation: Observation,
        _ firstName: SNI,
        _ secondName: SNI,
        _ limits: DialLimits
    ) async -> Confirmation? {
        let identity = try? observation.probe.target.identity
        // A handshake that is repeated anyway needs no confirmation.
        guard settings.repeats == 1, let first = observation.first?.side(identity), first != .unknown else {
            return nil
        }
        let second = observation.second?.side(identity) ?? .unknown
        // What was sent as SNI is expected to decide the certificate only if it is the host's own name.
        let expectsMatch = firstName == SNI(name: observation.probe.target.host.name?.text)
        if expectsMatch, !first.isMatching {
            return Confirmation(side: .first, handshake: await repeated(observation.probe, firstName, limits))
        }
        guard first != second else { return nil }
        return Confirmation(side: .second, handshake: await repeated(observation.probe, secondName, limits))
    }

    /// Makes the first handshake, and sends the request over its connection if there is one.
    private func makeFirst(
        _ observation: inout Observation,
        serverName: SNI,
        _ limits: DialLimits
    ) async -> Handshake {
        let probe = observation.probe
        let (handshake, connection, tls) = await Handshake.perform(
            with: probe,
            offering: Handshake.Offer(serverName: serverName.name, offersHTTP: probe.target.url != nil),
            tools: tools,
            signs: signs,
            limits: limits
        )
        var exchangeTime = Duration.zero
        if let connection {
            let start = loop.now
            if let url = probe.target.url, handshake.speaksHTTP,
                settings.insecure || isAuthenticated(handshake, target: probe.target)
            {
                observation.exchange = await request(url, over: connection, limits).run()
                observation.exchange?.wasAskedToRenegotiate = tls?.hasRefusedRenegotiation ?? false
                exchangeTime = loop.now.since(start)
            }
            connection.close()
        }
        // The time that the probe itself spends computing between these steps is not counted.
        if let tcp = handshake.tcpTime, let tls = handshake.tlsTime {
            observation.total = tcp + tls + exchangeTime
        }
        return handshake
    }

    /// Makes the handshake for comparison, again after a failure that may be temporary.
    private func makeSecond(_ probe: Probe, serverName: SNI, _ limits: DialLimits) async -> Handshake {
        var attempt = 0
        while true {
            let handshake = await repeated(probe, serverName, limits)
            guard case .failure(let failure) = handshake.outcome, failure.isTransient, !failure.isRejection,
                attempt < settings.retries
            else { return handshake }
            attempt += 1
        }
    }

    /// Makes a handshake that carries no request.
    private func repeated(
        _ probe: Probe,
        _ serverName: SNI,
        accepting keys: SurveyKeys = .all,
        _ limits: DialLimits
    ) async -> Handshake {
        let (handshake, connection, _) = await Handshake.perform(
            with: probe,
            offering: Handshake.Offer(serverName: serverName.name, keys: keys),
            tools: tools,
            signs: signs,
            limits: limits
        )
        connection?.close()
        return handshake
    }

    /// Whether the certificate authenticates the server. Unless it does, or `--insecure` is given, no request
    /// is sent.
    private func isAuthenticated(_ handshake: Handshake, target: ProbeTarget) -> Bool {
        guard case .success(let served) = handshake.outcome else { return false }
        if case .revoked? = served.staple?.status { return false }
        return served.chain.judgement.isTrusted && served.chain.match(try? target.identity) != nil
    }

    /// Returns what the two handshakes send as SNI. `second` is `nil` if no second handshake is made.
    private func serverNames(for target: ProbeTarget) -> (first: SNI, second: SNI?) {
        let host = SNI(name: target.host.name?.text)
        switch settings.serverName {
        case .host: return (host, settings.skipsDefault || host == .omitted ? nil : SNI.omitted)
        case .other(let name): return (SNI(name: name), settings.skipsDefault ? nil : SNI.omitted)
        case .none: return (.omitted, settings.skipsDefault || host == .omitted ? nil : host)
        }
    }

    /// The server name that a handshake sends, or that it sends none.
    private struct SNI: Hashable {
        static let omitted = SNI(name: nil)

        let name: String?
    }

    private func sleep(until moment: Instant) async {
        // If the probe is cancelled, `sleep` throws. The attempt that follows then fails at its first wait,
        // so the probe still ends with an observation.
        try? await loop.sleep(until: moment)
    }
}

extension Handshake {
    /// Whether the server has chosen HTTP/1.1, or no protocol at all.
    fileprivate var speaksHTTP: Bool {
        guard case .success(let served) = outcome, let chosen = served.facts.alpn else { return true }
        return chosen == "http/1.1"
    }
}

extension Observation {
    /// Whether another attempt may have a better result: the connection failed for a reason that may be
    /// temporary, or the connection was lost during the exchange.
    fileprivate var isWorthRetrying: Bool {
        if let firstFailure { return firstFailure.isTransient }
        if case .broken? = exchange?.failure { return true } else { return false }
    }
}
