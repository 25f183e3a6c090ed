internal import DirectHTTP1
internal import DirectIO

/// Dialling over a proxy.
extension Dialler {
    /// A connection to wherever the proxy finds the URL's name.
    func dial(
        _ url: HTTPURL,
        _ maker: LinkMaker,
        by entry: ProxyEntry,
        _ detour: Detour?
    ) async throws(DialFailure) -> Connection {
        if let vetting = settings.vetting {
            // What is not seen cannot be vetted: a name that leads inside must not get there over a proxy.
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
            // What was agreed with the proxy says nothing about the server.
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

    /// A link to an address that was chosen on this side.
    func link(
        _ maker: LinkMaker,
        to endpoint: Endpoint,
        over entry: ProxyEntry
    ) async throws(AttemptFailure) -> Link {
        let found: Found
        do throws(DialFailure) {
            // A detour is one around addresses of the server's.
            found = try await line(to: entry, maker.limits, nil)
        } catch {
            // No other address of the server's would bring us to the proxy.
            throw AttemptFailure(phase: .proxy, cause: error.cause, consequence: .stop)
        }
        let port = endpoint.port ?? maker.destination.port
        return try await tunnel(maker, .address(endpoint.address, port: port), found, entry)
    }

    /// A link to the proxy itself. Its address is the business of whoever set it, and of no vetting.
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

    /// Where the proxy is.
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

    /// Asks the proxy for the way to the target, and shakes hands with who answers at its end.
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
        // Where this throws, the connection closes the link behind it.
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
    /// The same failure, where it was the proxy that could not be reached.
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
