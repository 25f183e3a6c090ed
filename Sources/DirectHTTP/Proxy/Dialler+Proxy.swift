internal import DirectHTTP1
internal import DirectIO

/// Dialling over a proxy. The connection to the proxy is found like any other (`search`); then either the proxy
/// forwards each `http` request, or a `ProxyConversation` opens a tunnel and TLS with the server runs inside it.
extension Dialler {
    /// Returns a connection to the URL's name, which the proxy resolves.
    func dial(
        _ url: HTTPURL,
        _ maker: LinkMaker,
        by entry: ProxyEntry,
        _ detour: Detour?
    ) async throws(DialFailure) -> Connection {
        if let vetting = settings.vetting {
            // An address that this side never sees cannot be vetted: a name that leads into the internal network
            // must not get there through a proxy.
            guard let address = url.host.address else {
                throw DialFailure(cause: .failed(.proxy, .proxy(.unseenByVetting)))
            }
            if let refusal = vetting.refusal(of: Endpoint(address, port: url.port), for: maker.destination) {
                throw DialFailure(cause: .failed(.proxy, .refused(refusal)))
            }
        }
        let forwarding = entry.forwards(url) ? Forwarding(authorization: try authorization(of: entry)) : nil
        let found = try await line(to: entry, maker.limits, detour)
        var link = found.link
        if forwarding == nil {
            do throws(AttemptFailure) {
                link = try await tunnel(maker, .host(url.host, port: url.port), found, entry)
            } catch {
                throw DialFailure(
                    cause: error.cause,
                    endpoint: found.trial.endpoint,
                    attempts: found.attempts
                )
            }
        }
        let facts = ConnectionFacts(
            name: url.host.description,
            endpoint: found.trial.endpoint,
            source: .proxy,
            // The TLS facts of the proxy say nothing about the server.
            tls: forwarding == nil ? link.tls : nil,
            failedAttempts: found.attempts,
            resolveTime: found.choice.resolveTime,
            connectTime: link.connectTime,
            tlsTime: link.tlsTime,
            birth: loop.now,
            followsAnswers: false,
            standsInFor: nil,
            proxy: "\(entry.proxy)"
        )
        return connection(link, facts, forwarding: forwarding)
    }

    /// Connects to an address that was chosen on this side, through a tunnel.
    func link(
        _ maker: LinkMaker,
        to endpoint: Endpoint,
        over entry: ProxyEntry
    ) async throws(AttemptFailure) -> Link {
        let found: Found
        do throws(DialFailure) {
            // A detour avoids addresses of the server, not of the proxy.
            found = try await line(to: entry, maker.limits, nil)
        } catch {
            // Another address of the server would not make the proxy reachable.
            throw AttemptFailure(phase: .proxy, cause: error.cause, consequence: .stop)
        }
        let port = endpoint.port ?? maker.destination.port
        return try await tunnel(maker, .address(endpoint.address, port: port), found, entry)
    }

    /// Connects to the proxy itself. Its address is not vetted: it comes from the client's own settings.
    private func line(
        to entry: ProxyEntry,
        _ limits: DialLimits,
        _ detour: Detour?
    ) async throws(DialFailure) -> Found {
        let destination = Destination(entry.proxy)
        let maker = maker(destination, limits, entry.secrets)
        let choice = try await choice(of: entry.proxy, limits, detour)
        do throws(DialFailure) {
            return try await search(choice, destination, limits, detour) { endpoint throws(AttemptFailure) in
                try await maker.link(to: endpoint)
            }
        } catch {
            throw error.asProxyFailure
        }
    }

    /// Returns the addresses of the proxy.
    func choice(
        of proxy: Proxy,
        _ limits: DialLimits,
        _ detour: Detour? = nil
    ) async throws(DialFailure) -> Choice {
        do throws(DialFailure) {
            return try await choice(Destination(proxy), try route(to: proxy), limits, detour)
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
            return .chosen(addresses, port: proxy.port, .staticMap)
        }
        if let address = proxy.host.address { return .literal(address, port: proxy.port) }
        return .system
    }

    /// Asks the proxy for a tunnel to the target, and performs the TLS handshake with the server at its end.
    private func tunnel(
        _ maker: LinkMaker,
        _ target: ProxyTarget,
        _ found: Found,
        _ entry: ProxyEntry
    ) async throws(AttemptFailure) -> Link {
        let start = loop.now
        let limits = maker.limits
        let line = found.link
        let facts = ConnectionFacts(
            name: entry.proxy.host.description,
            endpoint: found.trial.endpoint,
            source: .proxy,
            tls: nil,
            failedAttempts: [],
            resolveTime: nil,
            connectTime: line.connectTime,
            tlsTime: nil,
            birth: start,
            followsAnswers: false,
            standsInFor: nil
        )
        let conversation = ProxyConversation(
            connection: connection(line, facts),
            entry: entry,
            target: target,
            patience: limits.patience(.proxy, limits.timeouts.connect)
        )
        // If this throws, the connection closes the transport.
        try await conversation.open()
        conversation.connection.giveAway()
        let time = line.connectTime + (line.tlsTime ?? .zero) + loop.now.since(start)
        var link = Link(layers: line.layers, connectTime: time)
        if maker.destination.isSecure { try await maker.secure(&link) }
        return link
    }

    private func authorization(of entry: ProxyEntry) throws(DialFailure) -> String? {
        do throws(ProxyFault) {
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
