internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// Dialling through a proxy. The connection to the proxy is made like any other (`search`). Then either the
/// proxy forwards each `http` request, or a `ProxyNegotiation` opens a tunnel, and TLS with the server runs
/// inside it.
extension Dialler {
    /// Connects to the URL's host, whose name the proxy resolves.
    func dial(
        _ url: HTTPURL,
        connector: Connector,
        over entry: ProxyEntry,
        detour: Detour?
    ) async throws(DialFailure) -> Connection {
        guard connector.usesECH else {
            return try await dialOnce(url, connector: connector, over: entry, detour: detour)
        }
        let first: Connector
        do throws(TLSError) {
            first = try connector.offering(settings.echConfig?(url.host))
        } catch {
            throw DialFailure(cause: .failed(.tls, .tls(error)))
        }
        do throws(DialFailure) {
            return try await dialOnce(url, connector: first, over: entry, detour: detour)
        } catch {
            guard let second = first.afterRejection(error.cause) else { throw error }
            return try await dialOnce(url, connector: second, over: entry, detour: detour)
        }
    }

    @inline(never)
    private func dialOnce(
        _ url: HTTPURL,
        connector: Connector,
        over entry: ProxyEntry,
        detour: Detour?
    ) async throws(DialFailure) -> Connection {
        try checkVetting(of: url, for: connector.destination)
        let forwarding = entry.forwards(url) ? Forwarding(authorization: try authorization(of: entry)) : nil
        let result = try await connect(to: entry, for: connector, detour: detour)
        var established = result.established
        if forwarding == nil {
            do throws(AttemptFailure) {
                established = try await openTunnel(
                    with: connector,
                    target: .host(url.host, port: url.port),
                    result: result,
                    entry: entry
                )
            } catch {
                throw DialFailure(
                    cause: error.cause,
                    endpoint: result.attempt.endpoint,
                    attempts: result.failedAttempts,
                    certificates: error.certificates
                )
            }
        }
        let facts = ConnectionFacts(
            name: url.host.description,
            path: .init(
                endpoint: result.attempt.endpoint,
                source: .proxy,
                proxy: "\(entry.proxy)",
                local: established.layers.socket.localEndpoint
            ),
            // The TLS facts are those of the proxy, not of the server.
            tls: forwarding == nil ? established.tls : nil,
            times: .init(
                resolve: result.selection.resolveTime,
                connect: established.connectTime,
                tls: established.tlsTime,
                end: loop.now
            ),
            search: .init(failedAttempts: result.failedAttempts)
        )
        return connection(established, facts: facts, forwarding: forwarding)
    }

    /// Throws if the client's address vetting refuses the URL's address, or if only the proxy knows the
    /// address: a name that resolves to an address of the internal network must not be reachable through a
    /// proxy (SSRF).
    private func checkVetting(of url: HTTPURL, for destination: Destination) throws(DialFailure) {
        guard let vetting = settings.vetting else { return }
        guard let address = url.host.address else {
            throw DialFailure(cause: .failed(.proxy, .proxy(.unseenByVetting)))
        }
        if let refusal = vetting.refusal(of: Endpoint(address, port: url.port), for: destination) {
            throw DialFailure(cause: .failed(.proxy, .refused(refusal)))
        }
    }

    /// Connects through a tunnel to an address that this client has chosen.
    func connectTunnel(
        with connector: Connector,
        to endpoint: Endpoint,
        over entry: ProxyEntry
    ) async throws(AttemptFailure) -> EstablishedTransport {
        let result: DialResult
        do throws(DialFailure) {
            // A detour avoids addresses of the server, not of the proxy.
            result = try await connect(to: entry, for: connector, detour: nil)
        } catch {
            // Another address of the server would not make the proxy reachable.
            throw AttemptFailure(
                phase: .proxy,
                cause: error.cause,
                consequence: .stop,
                certificates: error.certificates,
                atProxy: error.cause.isCancellation ? nil : error
            )
        }
        let port = endpoint.port ?? connector.destination.port
        return try await openTunnel(
            with: connector,
            target: .address(endpoint.address, port: port),
            result: result,
            entry: entry
        )
    }

    /// Connects to the proxy itself. Its address is not vetted, because it comes from the client's settings
    /// and not from a URL.
    ///
    /// It leaves from where a direct connection would: the options of the socket are those for the server.
    private func connect(
        to entry: ProxyEntry,
        for server: Connector,
        detour: Detour?
    ) async throws(DialFailure) -> DialResult {
        let limits = server.limits
        let destination = Destination(entry.proxy)
        let selection = try await selection(of: entry.proxy, limits: limits, detour: detour)
        do throws(DialFailure) {
            let connector = try await connector(
                destination,
                limits: limits,
                profile: entry.profile,
                options: server.options
            )
            return try await search(selection, destination: destination, limits: limits, detour: detour) {
                _ in
                connector.connectToProxy
            }
        } catch {
            throw error.asProxyFailure
        }
    }

    /// Returns the addresses of the proxy, in the order in which to dial them.
    func selection(
        of proxy: Proxy,
        limits: DialLimits,
        detour: Detour? = nil
    ) async throws(DialFailure) -> EndpointSelection {
        do throws(DialFailure) {
            return try await selection(
                Destination(proxy),
                route: try route(to: proxy),
                limits: limits,
                detour: detour
            )
        } catch {
            throw error.asProxyFailure
        }
    }

    /// Returns the route to the proxy: its configured addresses, the IP address in its URL, or the system's
    /// resolver.
    private func route(to proxy: Proxy) throws(DialFailure) -> Route {
        if let addresses = proxy.addresses {
            guard !addresses.isEmpty else { throw DialFailure(cause: .failed(.proxy, .noAddresses)) }
            for case let fault? in addresses.lazy.map(\.fault) {
                throw DialFailure(cause: .failed(.proxy, .address(fault)))
            }
            return .chosen(addresses, port: proxy.port, source: .staticMap)
        }
        if let address = proxy.host.address { return .literal(address, port: proxy.port) }
        return .system
    }

    /// Opens a tunnel to the target through the proxy and, if the destination is secure, performs the TLS
    /// handshake with the server inside it.
    ///
    /// - Parameter authorization: the credentials for the proxy; `nil` for those of its settings.
    @inline(never)
    func openTunnel(
        with connector: Connector,
        target: ProxyTarget,
        result: DialResult,
        entry: ProxyEntry,
        as authorization: [UInt8]?
    ) async throws(AttemptFailure) -> EstablishedTransport {
        let start = loop.now
        let limits = connector.limits
        let proxyTransport = result.established
        let facts = ConnectionFacts(
            name: entry.proxy.host.description,
            path: .init(endpoint: result.attempt.endpoint, source: .proxy),
            times: .init(connect: proxyTransport.connectTime, end: start)
        )
        let negotiation = ProxyNegotiation(
            connection: connection(proxyTransport, facts: facts),
            entry: entry,
            target: target,
            authorization: authorization,
            deadline: limits.deadline(.proxy, stall: limits.timeouts.connect)
        )
        // If this throws, the connection closes the transport.
        try await negotiation.open()
        negotiation.connection.detach()
        let time = proxyTransport.connectTime + (proxyTransport.tlsTime ?? .zero) + loop.now.since(start)
        var established = EstablishedTransport(layers: proxyTransport.layers, connectTime: time)
        try await connector.secure(&established)
        return established
    }

    /// Returns the value of `Proxy-Authorization`; `nil` without credentials.
    private func authorization(of entry: ProxyEntry) throws(DialFailure) -> String? {
        do throws(ProxyError) {
            return try entry.authorization()
        } catch {
            throw DialFailure(cause: .failed(.proxy, .proxy(error)))
        }
    }
}

extension DialFailure {
    /// The same failure with the phase `.proxy`, so that it is not mistaken for one of the server.
    fileprivate var asProxyFailure: DialFailure {
        guard case .failed(_, let reason) = cause else { return self }
        return DialFailure(
            cause: .failed(.proxy, reason),
            endpoint: endpoint,
            attempts: attempts,
            certificates: certificates
        )
    }
}

extension Destination {
    init(_ proxy: Proxy) {
        self.init(host: proxy.host, port: proxy.port, isSecure: proxy.scheme == .https)
    }
}
