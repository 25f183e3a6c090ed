internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Dialling over a proxy. The connection to the proxy is found like any other (`search`); then either the proxy
/// forwards each `http` request, or a `ProxyConversation` opens a tunnel and TLS with the server runs inside it.
extension Dialler {
    /// Returns a connection to the URL's name, which the proxy resolves.
    func dial(
        _ url: HTTPURL,
        connector: Connector,
        by entry: ProxyEntry,
        detour: Detour?
    ) async throws(DialFailure) -> Connection {
        try checkVetting(of: url, for: connector.destination)
        let forwarding = entry.forwards(url) ? Forwarding(authorization: try authorization(of: entry)) : nil
        let result = try await connect(to: entry, connector.limits, detour: detour)
        var established = result.established
        if forwarding == nil {
            do throws(AttemptFailure) {
                established = try await tunnel(
                    connector,
                    target: .host(url.host, port: url.port),
                    result: result,
                    entry: entry
                )
            } catch {
                throw DialFailure(
                    cause: error.cause,
                    endpoint: result.attempt.endpoint,
                    attempts: result.failedAttempts
                )
            }
        }
        let facts = ConnectionFacts(
            name: url.host.description,
            endpoint: result.attempt.endpoint,
            source: .proxy,
            // The TLS facts of the proxy say nothing about the server.
            tls: forwarding == nil ? established.tls : nil,
            failedAttempts: result.failedAttempts,
            resolveTime: result.selection.resolveTime,
            connectTime: established.connectTime,
            tlsTime: established.tlsTime,
            birth: loop.now,
            tracksResolver: false,
            fallbackForAnswer: nil,
            proxy: "\(entry.proxy)"
        )
        return connection(established, facts: facts, forwarding: forwarding)
    }

    /// Throws if a vetting does not allow the URL's address, or cannot see it: a name that leads into the internal
    /// network must not get there through a proxy.
    private func checkVetting(of url: HTTPURL, for destination: Destination) throws(DialFailure) {
        guard let vetting = settings.vetting else { return }
        guard let address = url.host.address else {
            throw DialFailure(cause: .failed(.proxy, .proxy(.unseenByVetting)))
        }
        if let refusal = vetting.refusal(of: Endpoint(address, port: url.port), for: destination) {
            throw DialFailure(cause: .failed(.proxy, .refused(refusal)))
        }
    }

    /// Connects to an address that was chosen on this side, through a tunnel.
    func established(
        _ connector: Connector,
        to endpoint: Endpoint,
        over entry: ProxyEntry
    ) async throws(AttemptFailure) -> EstablishedTransport {
        let result: DialResult
        do throws(DialFailure) {
            // A detour avoids addresses of the server, not of the proxy.
            result = try await connect(to: entry, connector.limits, detour: nil)
        } catch {
            // Another address of the server would not make the proxy reachable.
            throw AttemptFailure(phase: .proxy, cause: error.cause, consequence: .stop)
        }
        let port = endpoint.port ?? connector.destination.port
        return try await tunnel(
            connector,
            target: .address(endpoint.address, port: port),
            result: result,
            entry: entry
        )
    }

    /// Connects to the proxy itself. Its address is not vetted: it comes from the client's own settings.
    private func connect(
        to entry: ProxyEntry,
        _ limits: DialLimits,
        detour: Detour?
    ) async throws(DialFailure) -> DialResult {
        let destination = Destination(entry.proxy)
        let connector = connector(destination, limits: limits, tlsState: entry.tlsState)
        let selection = try await selection(of: entry.proxy, limits, detour: detour)
        do throws(DialFailure) {
            return try await search(selection, destination: destination, limits: limits, detour: detour) {
                endpoint throws(AttemptFailure) in
                try await connector.connect(to: endpoint)
            }
        } catch {
            throw error.asProxyFailure
        }
    }

    /// Returns the addresses of the proxy.
    package func selection(
        of proxy: Proxy,
        _ limits: DialLimits,
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

    /// Returns the route to the proxy: its configured addresses, the literal address it is named by, or the
    /// system's resolver.
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

    /// Asks the proxy for a tunnel to the target, and performs the TLS handshake with the server at its end.
    private func tunnel(
        _ connector: Connector,
        target: ProxyTarget,
        result: DialResult,
        entry: ProxyEntry
    ) async throws(AttemptFailure) -> EstablishedTransport {
        let start = loop.now
        let limits = connector.limits
        let toProxy = result.established
        let facts = ConnectionFacts(
            name: entry.proxy.host.description,
            endpoint: result.attempt.endpoint,
            source: .proxy,
            tls: nil,
            failedAttempts: [],
            resolveTime: nil,
            connectTime: toProxy.connectTime,
            tlsTime: nil,
            birth: start,
            tracksResolver: false,
            fallbackForAnswer: nil
        )
        let conversation = ProxyConversation(
            connection: connection(toProxy, facts: facts),
            entry: entry,
            target: target,
            deadline: limits.deadline(.proxy, stall: limits.timeouts.connect)
        )
        // If this throws, the connection closes the transport.
        try await conversation.open()
        conversation.connection.detach()
        let time = toProxy.connectTime + (toProxy.tlsTime ?? .zero) + loop.now.since(start)
        var established = EstablishedTransport(layers: toProxy.layers, connectTime: time)
        if connector.destination.isSecure { try await connector.secure(&established) }
        return established
    }

    private func authorization(of entry: ProxyEntry) throws(DialFailure) -> String? {
        do throws(ProxyError) {
            return try entry.authorization()
        } catch {
            throw DialFailure(cause: .failed(.proxy, .proxy(error)))
        }
    }
}

extension DialFailure {
    /// The same failure, reported as one of reaching the proxy.
    fileprivate var asProxyFailure: DialFailure {
        guard case .failed(_, let reason) = cause else { return self }
        return DialFailure(cause: .failed(.proxy, reason), endpoint: endpoint, attempts: attempts)
    }
}

extension Destination {
    fileprivate init(_ proxy: Proxy) {
        self.init(host: proxy.host, port: proxy.port, isSecure: proxy.scheme == .https)
    }
}
