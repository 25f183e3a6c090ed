internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// Makes connections: from a name and a route to a link with one of its addresses.
struct Dialler: Sendable {
    let settings: HTTPClient.Settings
    let secrets: TLSSecrets
    /// Those without the client's certificate; the same where it has none.
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

    /// Forgets which addresses were good and which were not, and who translates them.
    func forgetAll() {
        memory.forgetAll()
        network.forgetAll()
    }

    /// A connection for the URL's name to one of the addresses on the route, and if none will do, to one of
    /// those that the route falls back to.
    ///
    /// An address that cannot be reached gives way to the next one. One that answers with a certificate for
    /// somebody else does not, unless the settings say so: that is no failure of the network, and trying on
    /// would hide it.
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
            // Just before it is dialled, whoever named it: nothing can come in between.
            if let refusal = vetting?.refusal(of: endpoint, for: destination) {
                throw .failed(.connect, .refused(refusal))
            }
            guard let proxy else { return try await maker.link(to: endpoint) }
            return try await link(maker, to: endpoint, over: proxy)
        }
        return connection(found, destination, route, proxy)
    }

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

    /// What has been found: a link, and all that was tried before.
    struct Found {
        let link: Link
        let trial: Trial
        let choice: Choice
        let attempts: [Attempt]
        let isFallback: Bool
    }

    /// A link to one of these addresses, or of those behind them.
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

    private func isOrdered(_ choice: Choice) -> Bool {
        choice.isStrictlyOrdered || settings.dialling.keepsOrder
    }

    /// Whether what is remembered of the addresses decides their order. A single one has no rank among others:
    /// nothing is remembered of it, nothing looked up.
    private func hasRanks(_ choice: Choice) -> Bool {
        choice.endpoints.count > 1 && !isOrdered(choice)
    }

    /// Where the route leads when none of its addresses would do.
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

    /// Keeps in mind, and tells whoever named the addresses, which of them are good.
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
                // A wrong certificate that ends the race is not to be got round the next time either.
                if hasRanks, index != outcome.decisive {
                    memory.noteFailure(trial.endpoint, in: failure.phase, for: destination, at: trial.end)
                }
                choice.report?(trial.endpoint, .failed(failure.phase, reason))
            }
        }
    }

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

    func connection(_ link: Link, _ facts: ConnectionFacts, forwarding: Forwarding? = nil) -> Connection {
        let reader = ResponseReader(limits: settings.limits, leniency: settings.leniency)
        return Connection(link.layers, facts: facts, reader: reader, forwarding: forwarding)
    }
}

extension AddressVetting {
    /// Why not to connect there.
    func refusal(of endpoint: Endpoint, for destination: Destination) -> AddressRefusal? {
        refusal(of: endpoint.address, for: destination.host, port: endpoint.port ?? destination.port)
    }
}

extension Race.Outcome {
    /// The failure that ends all dialling; its attempts are still to be told.
    fileprivate var decisiveFailure: DialFailure? {
        guard let decisive else {
            let isCancelled = trials.contains { $0.failure?.isCancellation ?? false }
            return isCancelled ? DialFailure(cause: .cancelled) : nil
        }
        return trials[decisive].failure.map {
            DialFailure(cause: $0.cause, endpoint: trials[decisive].endpoint)
        }
    }

    /// Why this one failed; nothing if the whole call was cancelled, which is no fault of an address.
    fileprivate func reason(at index: Int) -> HTTPError.Reason? {
        switch trials[index].failure?.cause {
        case .failed(_, let reason): reason
        case .cancelled: decisive == nil || decisive == index ? nil : .overtaken
        case nil: nil
        }
    }

    /// The failure for want of descriptors, if there is one: no other address would have done better.
    fileprivate var shortage: DialFailure? {
        trials.lazy.compactMap(\.failure).first(where: \.meansNoDescriptors).map {
            DialFailure(cause: $0.cause)
        }
    }

    /// Whether the failure says something about the address. To be stopped does only if another one that had
    /// begun later was faster, and a want of descriptors never does.
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
