internal import DirectCore
internal import DirectHTTP
internal import DirectTLS

/// Performs probes. Any number may run at the same time, each with its own deadline.
///
/// A probe with TLS makes two connections at the same time, one with SNI and one without. The first decides
/// whether the probe passes, and carries the request if there is one. The second is only for comparison
/// (`ComparedHandshakes`). It is skipped with `--skip-default`, and if the host is an IP address, which is
/// never sent as SNI.
///
/// A probe without TLS makes one connection and one request.
struct ProbeEngine: Sendable {
    let tools: ProbeTools
    /// The event loop on which the probes run and wait.
    let loop: EventLoop
    /// Counts what the probe receives.
    let signs: SignsOfLife

    private var settings: ProbeSettings { tools.settings }

    /// Performs one probe, and repeats its first handshake as often as the settings say. Issuers and hellos
    /// written by hand have the time limit of the probe once more, together.
    func observe(_ probe: Probe) async -> Observation {
        var observation = await observeOnce(probe)
        if probe.target.usesTLS, settings.repeats > 1 { observation.repeats = await repeatFirst(probe) }
        let observed = observation
        async let hellos = surveyHellos(observed)
        observation.revocations = await askIssuers(of: observed.served, probe.address)
        observation.hellos = await hellos
        return observation
    }

    /// Asks what the issuers say of the certificates, of all at the same time.
    private func askIssuers(of answers: [Handshake.Served], _ address: IPAddress) async -> [[UInt8]:
        Revocation]
    {
        guard settings.asksIssuers else { return [:] }
        return await withTaskGroup(of: ([UInt8], Revocation?).self) { [limit = settings.timeout] group in
            for answer in answers {
                group.addTask(executorPreference: loop) {
                    let desk = RevocationDesk.shared
                    return (answer.hash, await desk.ask(about: answer.chain, at: address, within: limit))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// Makes the first handshake again, one after the other. Each has the time limit of a probe.
    private func repeatFirst(_ probe: Probe) async -> [Handshake] {
        var handshakes: [Handshake] = []
        let serverName = serverNames(for: probe.target).first
        let turn = tools.turns.turn(at: probe.endpoint, on: loop)
        for _ in 1..<settings.repeats {
            if settings.interval > .zero {
                await sleep(until: loop.now.advanced(byNanoseconds: settings.interval.clampedNanoseconds))
            }
            _ = await turn.join()
            handshakes.append(await repeated(probe, serverName, limit))
            turn.end()
        }
        return handshakes
    }

    /// The limits of a probe that begins now.
    private var limit: CallLimit {
        let end = loop.now.advanced(byNanoseconds: tools.timeouts.total)
        return CallLimit(tools.timeouts, until: end)
    }

    /// Performs one probe, with retries as the settings allow. All attempts share one deadline.
    private func observeOnce(_ probe: Probe) async -> Observation {
        let limit = limit
        var attempt = 1
        while true {
            var observation = await performAttempt(probe, within: limit)
            observation.attempts = attempt
            let pause = UInt64(100_000_000) << UInt64(min(attempt - 1, 5))
            guard attempt <= settings.retries, observation.isWorthRetrying,
                loop.now.advanced(byNanoseconds: pause) < limit.end
            else { return observation }
            await sleep(until: loop.now.advanced(byNanoseconds: pause))
            attempt += 1
        }
    }

    private func performAttempt(_ probe: Probe, within limit: CallLimit) async -> Observation {
        var observation = Observation(probe: probe, time: UnixTime.milliseconds)
        let turn = tools.turns.turn(at: probe.endpoint, on: loop)
        // The wait for it does not count.
        let limit = probe.target.usesTLS ? limit.later(by: await turn.join()) : limit
        let start = loop.now
        if probe.target.usesTLS {
            await observeTLS(&observation, turn, within: limit)
        } else {
            await observeWithoutTLS(&observation, within: limit)
        }
        if observation.total == nil { observation.total = loop.now.since(start) }
        return observation
    }

    private func observeWithoutTLS(_ observation: inout Observation, within limit: CallLimit) async {
        let probe = observation.probe
        let start = loop.now
        let socket: Socket
        do throws(TransportError) {
            socket = try await probe.connect(within: limit, through: settings.proxy, on: loop)
        } catch {
            observation.connectFailure = HandshakeFailure(connecting: error, through: settings.proxy)
            return
        }
        observation.tcpTime = loop.now.since(start)
        do throws(HandshakeFailure) {
            try await Preamble(socket: socket, end: limit.end).run(settings, for: probe)
        } catch {
            socket.close()
            observation.connectFailure = error
            return
        }
        let connection = probe.connection(over: socket, survey: nil)
        if let url = probe.target.url {
            observation.exchange = await request(url, over: connection, within: limit).run()
        }
        connection.close()
    }

    private func request(_ url: HTTPURL, over connection: Connection, within limit: CallLimit)
        -> ProbeRequest
    {
        ProbeRequest(connection: connection, url: url, settings: settings, signs: signs, limit: limit)
    }

    private func observeTLS(
        _ observation: inout Observation,
        _ turn: AddressTurns.Turn,
        within limit: CallLimit
    ) async {
        let probe = observation.probe
        let names = serverNames(for: probe.target)
        async let asked = records(of: probe.target)
        var limit = limit
        if let secondName = names.second {
            limit = limit.later(by: await compare(&observation, names.first, secondName, turn, limit))
        } else {
            observation.take(await makeFirst(probe, serverName: names.first, limit))
            turn.end()
        }
        guard settings.isDeep || settings.triesECH else { return }
        limit = limit.later(by: await turn.join())
        defer { turn.end() }
        observation.otherKeys = await tryOtherKeys(observation, names.first, limit)
        observation.ech = await examineECH(observation, await asked, within: limit)
    }

    /// The HTTPS records of the target, if they are wanted.
    private func records(of target: ProbeTarget) async -> [RecordReply]? {
        guard let records = tools.records, let host = target.host.name else { return nil }
        return await records.replies(for: host, port: target.port, on: loop)
    }

    /// Makes a handshake with each configuration of Encrypted Client Hello that the records have.
    private func examineECH(
        _ observation: Observation,
        _ replies: [RecordReply]?,
        within limit: CallLimit
    ) async -> ECHFinding? {
        guard let replies else { return nil }
        var finding = ECHFinding(replies: replies)
        let (probe, host) = (observation.probe, SNI(name: observation.probe.target.host.name?.text))
        guard EncryptedClientHello.isSupported, observation.first?.tcpTime != nil else { return finding }
        let configs = finding.configs(for: Endpoint(probe.address, port: probe.port), port: probe.port)
        // Resolvers seldom have different ones.
        for config in configs.prefix(3) {
            let handshake = await repeated(probe, host, limit) { $0.ech = config }
            var trial = ECHTrial(publicName: config.publicName, handshake: handshake)
            if trial.verdict == .staleKeys, let fresh = handshake.refusal?.fresh {
                trial.retry = await repeated(probe, host, limit) { $0.ech = fresh }
            }
            finding.trials.append(trial)
        }
        return finding
    }

    /// Makes both handshakes at the same time, and surprising ones again. Returns the nanoseconds that do
    /// not count.
    private func compare(
        _ observation: inout Observation,
        _ firstName: SNI,
        _ secondName: SNI,
        _ turn: AddressTurns.Turn,
        _ limit: CallLimit
    ) async -> UInt64 {
        let probe = observation.probe
        let patience = settings.comparisonTime.clampedNanoseconds
        var compared = ComparedHandshakes(
            .init(
                loop: loop,
                end: limit.end,
                more: settings.confirmsInTime ? 0 : settings.timeout.clampedNanoseconds,
                patience: patience,
                // Beyond that, waiting for one would leave the others no time.
                slowest: { min(tools.memory.slowest(at: probe.endpoint) ?? 0, patience * 3 / 8) },
                turn: turn,
                first: { await makeFirst(probe, serverName: firstName, limit) },
                second: { await makeSecond(probe, serverName: secondName, limit) },
                again: { side, end in
                    let name = side == .first ? firstName : secondName
                    return await repeated(probe, name, CallLimit(limit.timeouts, until: end))
                },
                confirmations: { confirmations(probe, firstName, first: $0, second: $1) },
                vary: { tools.vary($0, probe.target) },
                note: { noteDefault($0, varies: $1, at: probe) }
            )
        )
        await compared.run()
        if let lead = compared.lead { observation.take(lead) }
        observation.second = compared.second
        observation.firstAgain = compared.firstAgain
        observation.secondAgain = compared.secondAgain
        observation.isCutShort = compared.isCutShort
        tools.memory.note(observation.firsts + observation.seconds, at: probe.endpoint)
        return compared.waited
    }

    /// The handshakes that are to be made again.
    ///
    /// Nothing is surprising if the first got what a client needs, and the second the same, or what the
    /// address is known to serve without a name, or if no handshake says anything. One address may stand for
    /// several servers, of which some are set up otherwise.
    private func confirmations(
        _ probe: Probe,
        _ firstName: SNI,
        first: Handshake?,
        second: Handshake?
    ) -> [ComparedHandshakes.Side] {
        let target = probe.target
        let identity = try? target.identity
        let sides = [first, second].map { $0?.side(identity) ?? .unknown }
        tools.memory.note([first, second].compactMap { $0 }, at: probe.endpoint)
        if sides == [.unknown, .unknown] {
            guard first?.isSilent ?? true, second?.isSilent ?? true else { return [] }
            // Both are silent, or were to their end. That is surprising only where others were answered.
            if tools.memory.slowest(at: probe.endpoint) == nil {
                return first == nil && second == nil ? [.first, .second] : []
            }
        }
        // What was sent as SNI is expected to decide the certificate only if it is the host's own name.
        if firstName == SNI(name: target.host.name?.text) {
            let isRight = first.map { isAuthenticated($0, target: target) } ?? false
            let isKnown = tools.memory.holdsDefault(second?.answer, of: probe.defaultKey)
            if isRight, sides[0] == sides[1] || isKnown { return [] }
        } else if sides[0] == sides[1], sides[0] != .unknown {
            return []
        }
        // A handshake that is repeated anyway needs no confirmation.
        return settings.repeats > 1
            ? [.second, .second, .second] : [.second, .second, .second, .first, .first, .first]
    }

    /// Notes what a whole series of handshakes has got without a name, or that it got different answers: to
    /// them, or with the name, so that further names have to be confirmed as well.
    private func noteDefault(_ seconds: [Handshake], varies: Bool, at probe: Probe) {
        guard seconds.first?.serverName == nil else { return }
        let answers = Set(seconds.map(\.answer))
        guard !answers.contains(nil), varies || seconds.count > 2 || answers.count > 1 else { return }
        let isOne = answers.count == 1 && !varies
        tools.memory.noteDefault(isOne ? answers.first ?? nil : nil, of: probe.defaultKey)
    }

    /// Makes a handshake for each kind of key and version that the first did not get, as far as wanted.
    private func tryOtherKeys(_ observation: Observation, _ name: SNI, _ limit: CallLimit) async
        -> [OtherKey]
    {
        guard settings.isDeep, let served = observation.first?.served, let leaf = served.chain.leaf else {
            return []
        }
        let kinds = OtherKey.Kind.allCases.filter { kind in
            guard let version = kind.version else { return !leaf.key.type.hasPrefix(kind.rawValue) }
            let isOther = served.facts?.version.suffix(3) != kind.rawValue.suffix(3)
            return isOther && settings.versions.contains(version)
        }
        return await withTaskGroup(of: OtherKey.self) { group in
            for kind in kinds {
                group.addTask(executorPreference: loop) {
                    let handshake = await repeated(observation.probe, name, limit) { offer in
                        offer.version = kind.version
                        if kind.version == nil { offer.keys = kind == .ec ? .ec : .rsa }
                    }
                    return OtherKey(kind: kind, handshake: handshake)
                }
            }
            let others = await group.reduce(into: [OtherKey]()) { $0.append($1) }
            return others.sorted { $0.kind.rawValue < $1.kind.rawValue }
        }
    }

    /// Makes the first handshake, and sends the request over its connection if there is one.
    private func makeFirst(
        _ probe: Probe,
        serverName: SNI,
        _ limit: CallLimit
    ) async -> ComparedHandshakes.Lead {
        let (handshake, connection, tls) = await Handshake.perform(
            with: probe,
            offering: offer(serverName, to: probe.target),
            tools: tools,
            signs: signs,
            limit: limit,
            on: loop
        )
        var lead = ComparedHandshakes.Lead(handshake: handshake)
        var exchangeTime = Duration.zero
        if let connection {
            let start = loop.now
            if let url = probe.target.url, handshake.served?.facts?.alpn ?? "http/1.1" == "http/1.1",
                settings.insecure || isAuthenticated(handshake, target: probe.target)
            {
                lead.exchange = await request(url, over: connection, within: limit).run()
                lead.exchange?.wasAskedToRenegotiate = tls?.hasRefusedRenegotiation ?? false
                exchangeTime = loop.now.since(start)
            }
            connection.close()
        }
        // The time that the probe itself spends computing between these steps is not counted.
        if let tcp = handshake.tcpTime, let tls = handshake.tlsTime {
            lead.total = tcp + tls + exchangeTime
        }
        return lead
    }

    /// What every handshake of a probe offers. Servers choose by it, so handshakes that are compared differ
    /// in the name alone.
    private func offer(_ serverName: SNI, to target: ProbeTarget) -> SurveyOffer {
        var offer = SurveyOffer(serverName: serverName.name, offersHTTP: target.url != nil)
        offer.protocols = settings.protocols
        return offer
    }

    /// Makes the handshake for comparison, again after a failure that may be temporary.
    private func makeSecond(_ probe: Probe, serverName: SNI, _ limit: CallLimit) async -> Handshake {
        var attempt = 0
        while true {
            let handshake = await repeated(probe, serverName, limit)
            guard let failure = handshake.failure, failure.isTransient, !failure.isRejection,
                attempt < settings.retries
            else { return handshake }
            attempt += 1
        }
    }

    /// Makes a handshake that carries no request.
    private func repeated(
        _ probe: Probe,
        _ serverName: SNI,
        _ limit: CallLimit,
        change: (inout SurveyOffer) -> Void = { _ in }
    ) async -> Handshake {
        var offer = offer(serverName, to: probe.target)
        change(&offer)
        let (handshake, connection, _) = await Handshake.perform(
            with: probe,
            offering: offer,
            tools: tools,
            signs: signs,
            limit: limit,
            on: loop
        )
        connection?.close()
        return handshake
    }

    /// Whether the certificate authenticates the server. Unless it does, or `--insecure` is given, no request
    /// is sent.
    private func isAuthenticated(_ handshake: Handshake, target: ProbeTarget) -> Bool {
        guard let served = handshake.served else { return false }
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

extension CallLimit {
    /// The same, which ends so many nanoseconds later.
    fileprivate func later(by nanoseconds: UInt64) -> CallLimit {
        CallLimit(timeouts, until: end.advanced(byNanoseconds: nanoseconds))
    }
}

extension Observation {
    /// Takes the result of the first handshake and of the request.
    fileprivate mutating func take(_ lead: ComparedHandshakes.Lead) {
        (first, exchange, total) = (lead.handshake, lead.exchange, lead.total)
    }

    /// Whether another attempt may have a better result: the connection failed for a reason that may be
    /// temporary, or the connection was lost during the exchange.
    fileprivate var isWorthRetrying: Bool {
        if let firstFailure { return firstFailure.isTransient }
        if case .broken? = exchange?.failure { return true } else { return false }
    }
}
