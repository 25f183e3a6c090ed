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
        let start = loop.now
        let deadline = start.advanced(byNanoseconds: settings.timeout.clampedNanoseconds)
        var attempt = 1
        while true {
            var observation = await attemptOnce(probe, by: deadline)
            observation.attempts = attempt
            let pause = UInt64(100_000_000) << UInt64(min(attempt - 1, 5))
            guard attempt <= settings.retries, observation.refusedFirst?.mayPass ?? observation.lostExchange,
                loop.now.advanced(byNanoseconds: pause) < deadline
            else { return observation }
            await rest(until: loop.now.advanced(byNanoseconds: pause))
            attempt += 1
        }
    }

    private func attemptOnce(_ probe: Probe, by deadline: Instant) async -> Observation {
        var observation = Observation(probe: probe, time: UnixTime.milliseconds)
        let start = loop.now
        if probe.target.usesTLS {
            await observeTLS(&observation, by: deadline)
        } else {
            await observePlain(&observation, by: deadline)
        }
        if observation.total == nil { observation.total = loop.now.since(start) }
        return observation
    }

    private func observePlain(_ observation: inout Observation, by deadline: Instant) async {
        let probe = observation.probe
        let start = loop.now
        switch await Wire.open(probe.address, port: probe.port, on: loop, by: deadline) {
        case .failure(let refusal): observation.refusal = refusal
        case .success(let wire):
            observation.tcpTime = loop.now.since(start)
            let connection = OpenConnection(wire: wire, tls: nil)
            if let url = probe.target.url {
                observation.exchange = await Exchange(connection: connection, url: url, settings: settings)
                    .run()
            }
            connection.close()
        }
    }

    /// Makes both handshakes at the same time, so that the second takes no extra time.
    private func observeTLS(_ observation: inout Observation, by deadline: Instant) async {
        let probe = observation.probe
        let names = serverNames(for: probe.target)
        guard let secondName = names.second else {
            observation.first = await first(&observation, name: names.first, by: deadline)
            return
        }
        async let second = second(probe, name: secondName.name, by: deadline)
        observation.first = await first(&observation, name: names.first, by: deadline)
        if observation.first?.tcpTime == nil {
            // The server cannot be reached. Leaving this scope cancels the second handshake.
            return
        }
        observation.second = await second
    }

    private func first(
        _ observation: inout Observation,
        name: String?,
        by deadline: Instant
    ) async -> Handshake {
        let probe = observation.probe
        let (handshake, connection) = await Handshake.make(
            with: probe.address,
            probe.port,
            serverName: name,
            offersHTTP: probe.target.url != nil,
            tools: tools,
            on: loop,
            by: deadline
        )
        var exchangeTime = Duration.zero
        if let connection {
            let start = loop.now
            if let url = probe.target.url, settings.insecure || isAcceptable(handshake, target: probe.target)
            {
                observation.exchange = await Exchange(connection: connection, url: url, settings: settings)
                    .run()
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

    private func second(_ probe: Probe, name: String?, by deadline: Instant) async -> Handshake {
        let (handshake, connection) = await Handshake.make(
            with: probe.address,
            probe.port,
            serverName: name,
            offersHTTP: false,
            tools: tools,
            on: loop,
            by: deadline
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
