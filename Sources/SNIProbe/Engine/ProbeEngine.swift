internal import DirectCore
internal import DirectHTTP

/// Performs probes. Any number may run at the same time, each with its own deadline.
///
/// A probe with TLS makes two connections at the same time, one with SNI and one without. The first decides whether
/// the probe passes, and carries the request if there is one. The second is only for comparison. It is left out with
/// `--skip-default`, and if the host is an address.
/// A probe without TLS makes one connection and one request.
struct ProbeEngine: Sendable {
    let tools: ProbeTools
    /// The event loop on which the probes run and wait.
    let loop: EventLoop

    private var settings: ProbeSettings { tools.settings }

    /// Performs one probe, with retries as the settings allow. All attempts share one deadline.
    func observe(_ probe: Probe) async -> Observation {
        let deadline = loop.now.advanced(byNanoseconds: tools.timeouts.total)
        let limits = DialLimits(timeouts: tools.timeouts, end: deadline, loop: loop)
        var attempt = 1
        while true {
            var observation = await attemptOnce(probe, limits)
            observation.attempts = attempt
            let pause = UInt64(100_000_000) << UInt64(min(attempt - 1, 5))
            guard attempt <= settings.retries, observation.refusedFirst?.mayPass ?? observation.lostExchange,
                loop.now.advanced(byNanoseconds: pause) < deadline
            else { return observation }
            await rest(until: loop.now.advanced(byNanoseconds: pause))
            attempt += 1
        }
    }

    private func attemptOnce(_ probe: Probe, _ limits: DialLimits) async -> Observation {
        var observation = Observation(probe: probe, time: UnixTime.milliseconds)
        let start = loop.now
        if probe.target.usesTLS {
            await observeTLS(&observation, limits)
        } else {
            await observePlain(&observation, limits)
        }
        if observation.total == nil { observation.total = loop.now.since(start) }
        return observation
    }

    private func observePlain(_ observation: inout Observation, _ limits: DialLimits) async {
        let probe = observation.probe
        let start = loop.now
        let socket: Socket
        do throws(TransportError) {
            socket = try await probe.connect(limits)
        } catch {
            observation.refusal = Refusal(error, firstBytes: [])
            return
        }
        observation.tcpTime = loop.now.since(start)
        let connection = probe.connection(over: socket, survey: nil)
        if let url = probe.target.url {
            observation.exchange = await request(url, over: connection, limits).run()
        }
        connection.close()
    }

    private func request(_ url: HTTPURL, over connection: Connection, _ limits: DialLimits) -> ProbeRequest {
        ProbeRequest(connection: connection, url: url, settings: settings, limits: limits)
    }

    /// Makes both handshakes at the same time, so that the second takes no extra time.
    private func observeTLS(_ observation: inout Observation, _ limits: DialLimits) async {
        let probe = observation.probe
        let names = serverNames(for: probe.target)
        guard let secondName = names.second else {
            observation.first = await first(&observation, name: names.first, limits)
            return
        }
        async let second = second(probe, name: secondName.name, limits)
        observation.first = await first(&observation, name: names.first, limits)
        if observation.first?.tcpTime == nil {
            // The server cannot be reached. Leaving this scope cancels the second handshake.
            return
        }
        observation.second = await second
    }

    private func first(
        _ observation: inout Observation,
        name: String?,
        _ limits: DialLimits
    ) async -> Handshake {
        let probe = observation.probe
        let (handshake, connection) = await Handshake.make(
            with: probe,
            serverName: name,
            offersHTTP: probe.target.url != nil,
            tools: tools,
            limits: limits
        )
        var exchangeTime = Duration.zero
        if let connection {
            let start = loop.now
            if let url = probe.target.url, settings.insecure || isAcceptable(handshake, target: probe.target)
            {
                observation.exchange = await request(url, over: connection, limits).run()
                exchangeTime = loop.now.since(start)
            }
            connection.close()
        }
        // The time that the probe itself computes between these steps is not counted.
        if let tcp = handshake.tcpTime, let tls = handshake.tlsTime {
            observation.total = tcp + tls + exchangeTime
        }
        return handshake
    }

    private func second(_ probe: Probe, name: String?, _ limits: DialLimits) async -> Handshake {
        let (handshake, connection) = await Handshake.make(
            with: probe,
            serverName: name,
            offersHTTP: false,
            tools: tools,
            limits: limits
        )
        connection?.close()
        return handshake
    }

    /// Whether a request may be sent: the server must be authenticated by its certificate.
    private func isAcceptable(_ handshake: Handshake, target: ProbeTarget) -> Bool {
        guard case .success(let served) = handshake.outcome else { return false }
        return served.chain.judgement.isTrusted && served.chain.match(try? target.identity) != nil
    }

    /// Returns the server names of the two handshakes. `second` is `nil` if no second handshake is made.
    private func serverNames(for target: ProbeTarget) -> (first: String?, second: (name: String?, Void)?) {
        let own = target.host.name?.text
        switch settings.serverName {
        case .host: return (own, settings.skipsDefault || own == nil ? nil : (nil, ()))
        case .other(let name): return (name, settings.skipsDefault ? nil : (nil, ()))
        case .none: return (nil, settings.skipsDefault || own == nil ? nil : (own, ()))
        }
    }

    private func rest(until moment: Instant) async {
        // A cancelled probe goes on, and fails at its next wait.
        try? await loop.sleep(until: moment)
    }
}

extension Observation {
    fileprivate var lostExchange: Bool {
        if case .broken? = exchange?.failure { true } else { false }
    }
}
