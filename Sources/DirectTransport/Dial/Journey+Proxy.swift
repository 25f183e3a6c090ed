internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// Legs behind a proxy. The proxy's own leg is travelled like any other. Then either the proxy forwards each
/// `http` request, or a `ProxyNegotiation` opens a tunnel, and TLS with the server runs inside it.
extension Journey {
    /// Arrives at a party whose address the proxy before it finds.
    func arrive(
        behind before: Leg,
        by connector: Connector,
        around detour: Detour?
    ) async throws(DialFailure) -> Arrival {
        let leg = connector.leg
        let (host, port) = (leg.destination.host, leg.destination.port)
        return try await connector.offering(dialler.settings.echConfig?(host)) {
            connector throws(DialFailure) in
            try checkVetting(of: leg.destination)
            let proxy = try await travel(before, around: detour)
            var transport = proxy.transport
            if leg.forwarding != nil {
                // The TLS facts are those of the proxy, not of the server.
                (transport.tls, transport.translated) = (nil, nil)
                return proxy.behindProxy(transport, at: loop.now)
            }
            do throws(AttemptFailure) {
                transport = try await openTunnel(
                    to: .host(host, port: port),
                    at: proxy,
                    before,
                    for: connector
                )
                try await connector.secure(&transport)
                return proxy.behindProxy(transport, at: loop.now)
            } catch {
                throw DialFailure(
                    cause: error.cause,
                    endpoint: proxy.place.endpoint,
                    attempts: proxy.failedAttempts,
                    certificates: error.certificates
                )
            }
        }
    }

    /// Throws if the client's address vetting refuses the URL's address, or if only the proxy knows the
    /// address: a name that resolves to an address of the internal network must not be reachable through a
    /// proxy (SSRF).
    private func checkVetting(of destination: Destination) throws(DialFailure) {
        guard let vetting = dialler.settings.vetting else { return }
        guard let address = destination.host.address else {
            throw DialFailure(cause: .failed(.proxy, .proxy(.unseenByVetting)))
        }
        if let refusal = vetting.refusal(of: Endpoint(address, port: destination.port), for: destination) {
            throw DialFailure(cause: .failed(.proxy, .refused(refusal)))
        }
    }

    /// Connects through a tunnel to an address that this client has chosen.
    func connect(
        to endpoint: Endpoint,
        behind before: Leg,
        by connector: Connector
    ) async throws(AttemptFailure) -> EstablishedTransport {
        let proxy: Arrival
        do throws(DialFailure) {
            // A detour avoids addresses of the server, not of the proxy.
            proxy = try await travel(before)
        } catch {
            throw AttemptFailure(atProxy: error)
        }
        let port = endpoint.port ?? connector.destination.port
        let target = ProxyTarget.address(endpoint.address, port: port)
        var transport = try await openTunnel(to: target, at: proxy, before, for: connector)
        try await connector.secure(&transport)
        return transport
    }

    /// Opens a tunnel to the target through the proxy. If the proxy refuses the credentials (407) and its
    /// authenticator has others, tries again on a new connection to the same address of the proxy.
    @inline(never)
    private func openTunnel(
        to target: ProxyTarget,
        at proxy: Arrival,
        _ leg: Leg,
        for connector: Connector
    ) async throws(AttemptFailure) -> EstablishedTransport {
        guard let entry = leg.proxy else { return proxy.transport }
        guard let authorizer = entry.authorizer, entry.proxy.speaksHTTP else {
            return try await negotiate(target, on: proxy.transport, at: proxy, entry, nil, connector)
        }
        let authority = String(decoding: target.authority, as: UTF8.self)
        let credentials = authorizer.credentials(method: .connect, target: authority, body: [])
        do throws(AttemptFailure) {
            try await renew(credentials)
        } catch {
            proxy.transport.close()
            throw error
        }
        var transport = proxy.transport
        while true {
            do throws(AttemptFailure) {
                let tunnel = try await negotiate(
                    target,
                    on: transport,
                    at: proxy,
                    entry,
                    credentials.latest,
                    connector
                )
                credentials.accept()
                return tunnel
            } catch {
                guard let refusal = error.credentialRefusal,
                    try await renew(credentials, after: refusal)
                else { throw error }
                transport = try await reconnect(to: proxy)
            }
        }
    }

    /// Asks the proxy on this transport for a tunnel, and returns the transport to its other end.
    private func negotiate(
        _ target: ProxyTarget,
        on transport: EstablishedTransport,
        at proxy: Arrival,
        _ entry: ProxyEntry,
        _ authorization: [UInt8]?,
        _ connector: Connector
    ) async throws(AttemptFailure) -> EstablishedTransport {
        let start = loop.now
        let facts = ConnectionFacts(
            name: entry.proxy.host.description,
            path: .init(place: proxy.place, source: .proxy),
            times: .init(connect: transport.connectTime, end: start)
        )
        let negotiation = ProxyNegotiation(
            connection: dialler.connection(transport, facts: facts),
            entry: entry,
            target: target,
            authorization: authorization,
            deadline: deadline(.proxy)
        )
        // If this throws, the connection closes the transport.
        let early = try await negotiation.open(
            serverMaySpeakFirst: dialler.settings.serverMaySpeakFirst && !connector.destination.isSecure
        )
        negotiation.connection.detach()
        let time = transport.connectTime + (transport.tlsTime ?? .zero) + loop.now.since(start)
        return EstablishedTransport(layers: transport.layers, early: early, connectTime: time)
    }

    /// Connects to the address of the proxy once more.
    private func reconnect(to proxy: Arrival) async throws(AttemptFailure) -> EstablishedTransport {
        do throws(AttemptFailure) {
            return try await proxy.again()
        } catch {
            guard case .failed(_, let reason) = error.cause else { throw error }
            throw AttemptFailure(
                atProxy: DialFailure(
                    cause: .failed(.proxy, reason),
                    endpoint: proxy.place.endpoint,
                    attempts: proxy.failedAttempts,
                    certificates: error.certificates
                )
            )
        }
    }

    /// Makes new credentials, and stops waiting for the caller's code at the end of the time to connect.
    ///
    /// - Parameter refusal: the fields of the response with a challenge; `nil` without one.
    /// - Returns: whether there are new ones.
    @discardableResult
    private func renew(
        _ credentials: RenewedCredentials,
        after refusal: HTTPHeaders? = nil
    ) async throws(AttemptFailure) -> Bool {
        let deadline = deadline(.proxy)
        do throws(ForeignFailure) {
            return try await credentials.renew(after: refusal) { source throws(ForeignFailure) in
                try await askForeignCode(
                    until: deadline.instant,
                    on: loop,
                    executor: limit.threads,
                    source
                )
            } != nil
        } catch {
            let cause: TransportError =
                switch error {
                case .silent: deadline.timeout
                case .cancelled: .cancelled
                case .threw(let error): .failed(.proxy, .proxy(.authenticator(error)))
                }
            throw AttemptFailure(phase: .proxy, cause: cause, consequence: .stop)
        }
    }
}

extension DialFailure {
    /// The same failure with the phase `.proxy`, so that it is not mistaken for one of the server.
    var asProxyFailure: DialFailure {
        guard case .failed(_, let reason) = cause else { return self }
        return DialFailure(
            cause: .failed(.proxy, reason),
            endpoint: endpoint,
            attempts: attempts,
            certificates: certificates
        )
    }
}

extension AttemptFailure {
    /// The failure of an attempt that has not reached the proxy. Another address of the server would not make
    /// it reachable.
    fileprivate init(atProxy failure: DialFailure) {
        self.init(
            phase: .proxy,
            cause: failure.cause,
            consequence: .stop,
            certificates: failure.certificates,
            atProxy: failure.cause.isCancellation ? nil : failure
        )
    }

    /// The fields of the response in which a proxy asked for credentials; `nil` if it did not.
    fileprivate var credentialRefusal: HTTPHeaders? {
        guard case .failed(_, .proxy(.refused(let refusal))) = cause,
            refusal.status == Challenger.proxy.status
        else { return nil }
        return refusal.headers
    }
}
