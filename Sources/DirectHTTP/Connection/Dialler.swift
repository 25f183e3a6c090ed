internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// Makes connections: from a URL's name and a route to a connection to one of the name's addresses.
///
/// One call of `dial` passes through these steps:
/// - The addresses: the route names them, or the system's resolver is asked (`choice`). They are ordered by RFC
///   8305 and by earlier results (`AddressMemory`); for a retry, `Detour` puts the failed ones last.
/// - The race (`Race`) between them. Each attempt checks the address against the client's vetting immediately
///   before it connects, connects, and performs the TLS handshake (`LinkMaker`).
/// - If no address will do, the route's fallback is asked for others, and the race is run again (`search`).
/// - The results go to `AddressMemory` and to the resolver that named the addresses (`learn`).
///
/// With a proxy there are two forms, in `Dialler+Proxy.swift`. If the client chooses the address, each attempt of
/// the race opens its own tunnel to that address. If the proxy resolves the name (`Route.byProxy`), only the proxy
/// itself is dialled, and it is asked for a tunnel to the name or, for `http`, to forward requests.
///
/// A failed certificate check never leads to a connection. By default it also ends the race, since the network
/// works and trying other addresses would hide the fault. Apart from the proxy's own addresses, only those of the
/// route and its fallback are dialled, and the IPv6 form of such an IPv4 address behind a NAT64 translator.
struct Dialler: Sendable {
    let settings: HTTPClient.Settings
    let secrets: TLSSecrets
    /// The TLS state without the client's certificate; the same object if the client has none.
    private let anonymousSecrets: TLSSecrets
    let network: Network
    private let memory = AddressMemory()

    init(settings: HTTPClient.Settings, secrets: TLSSecrets, network: Network = Network()) {
        self.settings = settings
        self.secrets = secrets
        self.network = network
        var tls = settings.tls
        tls.clientIdentity = nil
        anonymousSecrets = settings.tls.clientIdentity == nil ? secrets : TLSSecrets(tls)
    }

    var loop: EventLoop { settings.loop }

    /// Forgets the results of earlier attempts and the network's NAT64 translators.
    func forgetAll() {
        memory.forgetAll()
        network.forgetAll()
    }

    /// Returns a connection for the URL's name to one of the route's addresses or, if none will do, to one of the
    /// route's fallback.
    ///
    /// If an address cannot be reached, the next one is tried. If a server's certificate is not accepted, no other
    /// address is tried, unless the settings say so: the network works, and trying on would hide the fault.
    func dial(
        _ url: HTTPURL,
        _ route: Route,
        over proxy: ProxyEntry? = nil,
        anonymously isAnonymous: Bool = false,
        _ timeouts: Timeouts.Nanoseconds,
        end: Instant,
        log: ExchangeLog? = nil,
        detour: Detour? = nil
    ) async throws(DialFailure) -> Connection {
        let limits = DialLimits(timeouts: timeouts, end: end, loop: loop, log: log)
        let destination = Destination(url)
        let maker = maker(
            destination,
            limits,
            isAnonymous ? anonymousSecrets : secrets,
            vetting: settings.vetting
        )
        if let proxy, case .byProxy = route { return try await dial(url, maker, by: proxy, detour) }
        let vetting = settings.vetting
        let choice = try await choice(destination, route, limits, detour)
        let found = try await search(choice, destination, limits, detour) { endpoint throws(AttemptFailure) in
            // The address is vetted immediately before it is dialled, whatever its source: nothing can happen in
            // between.
            if let refusal = vetting?.refusal(of: endpoint, for: destination) {
                throw .failed(.connect, .refused(refusal))
            }
            guard let proxy else { return try await maker.link(to: endpoint) }
            return try await link(maker, to: endpoint, over: proxy)
        }
        return connection(found, destination, route, proxy)
    }

    /// Returns a connector for the destination.
    func maker(
        _ destination: Destination,
        _ limits: DialLimits,
        _ secrets: TLSSecrets,
        vetting: AddressVetting? = nil
    ) -> LinkMaker {
        let mayAskSystem = settings.resolver?.mayAskSystem ?? true
        return LinkMaker(
            destination: destination,
            limits: limits,
            secrets: secrets,
            network: network,
            translation: mayAskSystem ? Translation(translators: network.translators, vetting: vetting) : nil,
            loop: loop
        )
    }

    /// The result of a search: the transport, and all attempts that failed before.
    struct Found {
        let link: Link
        let trial: Trial
        let choice: Choice
        let attempts: [Attempt]
        let isFallback: Bool
    }

    /// Connects to one of these addresses or, if none will do, to one of their fallback.
    func search(
        _ choice: Choice,
        _ destination: Destination,
        _ limits: DialLimits,
        _ detour: Detour?,
        _ attempt: @escaping @Sendable (Endpoint) async throws(AttemptFailure) -> Link
    ) async throws(DialFailure) -> Found {
        var choice = choice
        var earlier: [Attempt] = []
        var isFallback = false
        let attempt = limits.log.map { $0.noting(attempt, for: destination) } ?? attempt
        while true {
            limits.log?.found(choice, for: destination)
            let outcome = await race(destination, choice, limits, detour, attempt).run()
            learn(outcome, destination, choice)
            let failed = attempts(outcome, choice.source)
            limits.log?.failed(failed)
            let attempts = earlier + failed
            if let index = outcome.decisive, let link = outcome.trials[index].link {
                return Found(
                    link: link,
                    trial: outcome.trials[index],
                    choice: choice,
                    attempts: attempts,
                    isFallback: isFallback
                )
            }
            if let failure = outcome.decisiveFailure ?? outcome.shortage { throw failure.with(attempts) }
            choice = try await next(after: choice, attempts, limits)
            isFallback = true
            earlier = attempts
        }
    }

    /// Returns the addresses of the route. Asks the system's resolver where the route leaves the choice to it.
    func choice(
        _ destination: Destination,
        _ route: Route,
        _ limits: DialLimits,
        _ detour: Detour? = nil
    ) async throws(DialFailure) -> Choice {
        if let known = detour?.choice { return known }
        switch route {
        case .literal(let address, let port):
            return Choice([Endpoint(address, port: port)], port: port, .url)
        case .chosen(let choice): return choice
        case .system, .byProxy:
            let start = loop.now
            let addresses = try await network.shortage.overcome(limits) {
                () async throws(DialFailure) in
                try await askSystem(destination.host.description, limits)
            }
            var choice = Choice(addresses.map { Endpoint($0) }, port: destination.port, .system)
            choice.resolveTime = loop.now.since(start)
            return choice
        }
    }

    private func askSystem(_ name: String, _ limits: DialLimits) async throws(DialFailure) -> [IPAddress] {
        let patience = limits.patience(.resolve, limits.timeouts.resolve)
        let answer: SystemLookups.Answer
        do throws(BlockingWork.Abandoned) {
            answer = try await network.lookups.addresses(of: name, until: patience.deadline, on: loop)
        } catch {
            throw DialFailure(cause: error == .cancelled ? .cancelled : patience.timeout)
        }
        switch answer {
        case .success(let addresses): return addresses
        case .failure(let error): throw DialFailure(cause: .failed(.resolve, .lookup(error)))
        }
    }

    /// Returns a race between the addresses, in the order in which to try them.
    private func race(
        _ destination: Destination,
        _ choice: Choice,
        _ limits: DialLimits,
        _ detour: Detour?,
        _ attempt: @escaping @Sendable (Endpoint) async throws(AttemptFailure) -> Link
    ) -> Race {
        var endpoints = choice.endpoints
        if hasRanks(choice) { endpoints = memory.order(endpoints, for: destination, at: loop.now) }
        let order = detour?.order(endpoints)
        return Race(
            endpoints: order.map { $0.first + $0.late } ?? endpoints,
            late: order?.late.count ?? 0,
            stagger: isOrdered(choice) ? nil : settings.dialling.staggerNanoseconds,
            passesOverWrongServers: settings.dialling.wrongServer == .tryNext,
            end: limits.end,
            loop: loop,
            attempt: attempt
        )
    }

    /// Whether the addresses are tried strictly in the given order.
    private func isOrdered(_ choice: Choice) -> Bool {
        choice.isStrictlyOrdered || settings.dialling.keepsOrder
    }

    /// Whether earlier results decide the order of the addresses. A single address needs no order, so nothing is
    /// remembered of it or looked up.
    private func hasRanks(_ choice: Choice) -> Bool {
        choice.endpoints.count > 1 && !isOrdered(choice)
    }

    /// Returns the fallback of the addresses that have all failed. Throws the last failure if there is none.
    private func next(
        after choice: Choice,
        _ attempts: [Attempt],
        _ limits: DialLimits
    ) async throws(DialFailure) -> Choice {
        guard let last = attempts.last else {
            throw DialFailure(cause: .failed(.resolve, .noAddresses))
        }
        let failure = DialFailure(
            cause: .failed(last.phase, last.reason),
            endpoint: last.endpoint,
            attempts: attempts
        )
        let now = loop.now
        guard let fallback = choice.fallback, now < limits.end else { throw failure }
        switch await fallback(limits.patience(.resolve, limits.timeouts.resolve).deadline) {
        case .success(.some(var choice)):
            choice.resolveTime = loop.now.since(now)
            return choice
        case .success(nil): throw failure
        case .failure(let reason):
            if Task.isCancelled { throw DialFailure(cause: .cancelled, attempts: attempts) }
            throw DialFailure(cause: .failed(.resolve, reason), attempts: attempts)
        }
    }

    /// Remembers, and reports to the resolver that named the addresses, which of them work.
    private func learn(_ outcome: Race.Outcome, _ destination: Destination, _ choice: Choice) {
        let hasRanks = hasRanks(choice)
        guard hasRanks || choice.report != nil else { return }
        for (index, trial) in outcome.trials.enumerated() {
            switch trial.result {
            case .success:
                if hasRanks { memory.noteSuccess(trial.endpoint, for: destination, at: trial.end) }
                choice.report?(trial.endpoint, .connected(after: trial.elapsed))
            case .failure(let failure):
                guard let reason = outcome.reason(at: index), outcome.isTelling(index) else { continue }
                // A wrong certificate that ends the race must not be avoided the next time either.
                if hasRanks, index != outcome.decisive {
                    memory.noteFailure(trial.endpoint, in: failure.phase, for: destination, at: trial.end)
                }
                choice.report?(trial.endpoint, .failed(failure.phase, reason))
            }
        }
    }

    /// Returns the failed attempts of a race, for errors and logs.
    private func attempts(_ outcome: Race.Outcome, _ source: AddressSource) -> [Attempt] {
        outcome.trials.enumerated().compactMap { index, trial in
            guard let failure = trial.failure, !failure.meansNoDescriptors,
                let reason = outcome.reason(at: index)
            else { return nil }
            return Attempt(
                endpoint: trial.endpoint,
                source: source,
                phase: failure.phase,
                reason: reason,
                elapsed: trial.elapsed
            )
        }
    }

    /// Returns the connection on the transport that was found.
    private func connection(
        _ found: Found,
        _ destination: Destination,
        _ route: Route,
        _ proxy: ProxyEntry?
    ) -> Connection {
        let facts = ConnectionFacts(
            name: destination.host.description,
            endpoint: found.trial.endpoint,
            source: found.choice.source,
            tls: found.link.tls,
            failedAttempts: found.attempts,
            resolveTime: found.choice.resolveTime,
            connectTime: found.link.connectTime,
            tlsTime: found.link.tlsTime,
            birth: found.trial.end,
            followsAnswers: found.choice.report != nil,
            standsInFor: found.isFallback ? route.answer : nil,
            proxy: proxy.map { "\($0.proxy)" },
            translated: found.link.translated
        )
        return connection(found.link, facts)
    }

    /// Returns a connection on this transport.
    func connection(_ link: Link, _ facts: ConnectionFacts, forwarding: Forwarding? = nil) -> Connection {
        let reader = ResponseReader(limits: settings.limits, leniency: settings.leniency)
        return Connection(link.layers, facts: facts, reader: reader, forwarding: forwarding)
    }
}

extension AddressVetting {
    /// Returns why the address is refused, or `nil` if it is allowed.
    func refusal(of endpoint: Endpoint, for destination: Destination) -> AddressRefusal? {
        refusal(of: endpoint.address, for: destination.host, port: endpoint.port ?? destination.port)
    }
}

extension Race.Outcome {
    /// The failure that ends all dialling; the caller adds its attempts.
    fileprivate var decisiveFailure: DialFailure? {
        guard let decisive else {
            let isCancelled = trials.contains { $0.failure?.isCancellation ?? false }
            return isCancelled ? DialFailure(cause: .cancelled) : nil
        }
        return trials[decisive].failure.map {
            DialFailure(cause: $0.cause, endpoint: trials[decisive].endpoint)
        }
    }

    /// The reason why this attempt failed; `nil` if the whole call was cancelled, which is not the address's fault.
    fileprivate func reason(at index: Int) -> HTTPError.Reason? {
        switch trials[index].failure?.cause {
        case .failed(_, let reason): reason
        case .cancelled: decisive == nil || decisive == index ? nil : .overtaken
        case nil: nil
        }
    }

    /// The failure for lack of descriptors, if there is one: no other address would have done better.
    fileprivate var shortage: DialFailure? {
        trials.lazy.compactMap(\.failure).first(where: \.meansNoDescriptors).map {
            DialFailure(cause: $0.cause)
        }
    }

    /// Whether the failure says something about the address. A cancellation does so only if another attempt that
    /// had begun later was faster, and a lack of descriptors never does.
    fileprivate func isTelling(_ index: Int) -> Bool {
        if trials[index].failure?.meansNoDescriptors ?? false { return false }
        guard trials[index].failure?.isCancellation ?? false else { return true }
        guard let decisive, trials[decisive].link != nil else { return false }
        return index < decisive
    }
}

extension DialFailure {
    fileprivate func with(_ attempts: [Attempt]) -> DialFailure {
        var failure = self
        failure.attempts = attempts
        return failure
    }
}
