internal import DirectCore
internal import DirectHTTP1
package import DirectIO
internal import DirectTLS

/// Makes connections: from a URL's name and a route to a connection to one of the name's addresses.
///
/// One call of `dial` makes the way, which is one leg or two (`Leg`), and travels it (`travel`):
/// - The addresses: the route names them, or the system's resolver is asked (`selection`). They are ordered
///   by RFC 8305 and by earlier results (`AddressHistory`); for a retry, `Detour` puts the failed ones last.
/// - The race (`HappyEyeballs`) between them. Each attempt checks the address against the client's vetting
///   immediately before it connects or asks the proxy to, and performs the TLS handshake (`Connector`). If
///   the proxy finds the address, or the route is a Unix domain socket, there is one attempt and no race.
/// - If no address will do, the route's fallback is asked for others, and the race is run again (`search`).
/// - The results go to `AddressHistory` and to the resolver that named the addresses (`learn`).
///
/// An attempt behind a proxy travels the proxy's leg first, so that each has a tunnel of its own.
///
/// If an address cannot be reached, the next one is tried. A failed certificate check never leads to a
/// connection. By default it also ends the race, since the network works and trying other addresses would
/// hide the fault. Apart from the proxy's own addresses, only those of the route and its fallback are
/// dialled, and the IPv6 form of such an IPv4 address behind a NAT64 translator.
package final class Dialler: Sendable {
    package let settings: DialConfiguration
    /// The settings of connections: the client's own, and those of requests that have others.
    package let profiles: ConnectionProfiles
    package let network: Network
    let memory = AddressHistory()

    package init(_ settings: DialConfiguration, network: Network = Network()) {
        self.settings = settings
        profiles = ConnectionProfiles(
            tls: settings.tls,
            ech: settings.encryptedClientHello,
            socket: settings.socket
        )
        self.network = network
    }

    package var loop: EventLoop { settings.loop }

    /// Forgets the results of earlier attempts and the network's NAT64 translators.
    package func forgetAll() {
        memory.forgetAll()
        network.forgetAll()
    }

    /// Returns a connection for the URL's name to one of the route's addresses or, if none will do, to one of
    /// the route's fallback.
    package func dial(
        _ target: borrowing ConnectionTarget,
        within limits: RequestLimits
    ) async throws(DialFailure) -> Connection {
        let limits = DialLimits(limits.call, loop: loop, log: limits.observer)
        let leg = try leg(to: target)
        return connection(try await travel(leg, within: limits, around: target.detour), of: leg)
    }

    /// Returns the endpoints that a detour chooses from: those of the server, or those of the proxy that
    /// resolves the name; `nil` for a Unix domain socket, which is the only place.
    func selection(
        for target: borrowing ConnectionTarget,
        within limits: RequestLimits
    ) async throws(DialFailure) -> EndpointSelection? {
        let limits = DialLimits(limits.call, loop: loop, log: limits.observer)
        let leg = try leg(to: target)
        switch leg.route {
        case .unixSocket: return nil
        case .byProxy: return try await selection(of: leg.before ?? leg, limits: limits)
        default: return try await selection(of: leg, limits: limits)
        }
    }

    /// Returns the last leg of the way to the server of a request.
    private func leg(to target: borrowing ConnectionTarget) throws(DialFailure) -> Leg {
        let (url, profile) = (target.url, target.profile ?? profiles.base)
        guard let proxy = target.proxy else {
            return Leg(to: Destination(url), route: target.route, profile: profile)
        }
        let forwarding: Forwarding?
        do throws(TransportError) { forwarding = try target.forwarding } catch {
            throw DialFailure(cause: error)
        }
        return Leg(
            to: Destination(url),
            route: target.route,
            profile: profile,
            behind: try Leg(to: proxy, options: profile.socket),
            forwarding: forwarding
        )
    }

    /// Travels the way to its end.
    ///
    /// - Parameter detour: The order of the addresses, if it is not the usual one.
    func travel(
        _ leg: Leg,
        within limits: DialLimits,
        around detour: Detour? = nil
    ) async throws(DialFailure) -> Arrival {
        do throws(DialFailure) {
            let connector = try await connector(for: leg, limits: limits)
            if case .unixSocket(let path) = leg.route {
                return try await arrive(at: path, of: leg, by: connector)
            }
            if case .byProxy = leg.route, let before = leg.before {
                return try await arrive(at: leg, behind: before, by: connector, around: detour)
            }
            let selection = try await selection(of: leg, limits: limits, detour: detour)
            return try await search(selection, for: leg, by: connector, around: detour)
        } catch {
            throw leg.proxy == nil ? error : error.asProxyFailure
        }
    }

    /// Returns a connector for the party of a leg. Throws if its settings of TLS cannot be used.
    func connector(for leg: Leg, limits: DialLimits) async throws(DialFailure) -> Connector {
        let mayTranslate = settings.mayAskSystem && leg.mayAskSystem
        do throws(TransportError) {
            return try await Connector(
                leg.destination,
                limits: limits,
                profile: leg.profile,
                options: leg.options,
                network: network,
                translation: mayTranslate
                    ? Translation(translators: network.translators, vetting: vetting(of: leg)) : nil
            )
        } catch {
            throw DialFailure(cause: error)
        }
    }

    /// The vetting of a leg's addresses. That of a proxy comes from the client's settings and not from a URL.
    private func vetting(of leg: Leg) -> AddressVetting? {
        leg.proxy == nil ? settings.vetting : settings.proxyVetting
    }

    /// Connects to a Unix domain socket.
    private func arrive(
        at path: UnixSocketPath,
        of leg: Leg,
        by connector: Connector
    ) async throws(DialFailure) -> Arrival {
        let connect = { @Sendable () async throws(AttemptFailure) -> EstablishedTransport in
            guard self.settings.vetting == nil else {
                throw .failed(.connect, reason: .settings(.unixSocketAndVetting), consequence: .stop)
            }
            return try await connector.offering(self.settings.echConfig?(leg.destination.host)) {
                connector throws(AttemptFailure) in
                try await connector.connect(to: path)
            }
        }
        do throws(AttemptFailure) {
            let transport = try await connect()
            connector.limits.log?.note(.connected(nil, tls: transport.tls))
            return Arrival(
                transport: transport,
                place: .unixSocket(path),
                selection: nil,
                source: .request,
                end: loop.now,
                again: connect
            )
        } catch {
            throw DialFailure(cause: error.cause, certificates: error.certificates)
        }
    }

    /// Connects to one of these addresses or, if none will do, to one of their fallback.
    @inline(never)
    private func search(
        _ selection: EndpointSelection,
        for leg: Leg,
        by connector: Connector,
        around detour: Detour?
    ) async throws(DialFailure) -> Arrival {
        let (destination, limits) = (leg.destination, connector.limits)
        var selection = selection
        var earlier: [FailedAttempt] = []
        while true {
            let latest = Locked(selection)
            let plain = connect(to: leg, by: connector, knowing: latest)
            limits.log?.note(selection.asResolved(for: destination))
            let outcome = await race(
                destination,
                selection: latest,
                limits: limits,
                detour: detour,
                connect: limits.log.map { $0.observing(plain, for: destination) } ?? plain
            ).run()
            let first = selection
            selection = latest.withLock { $0 }
            learn(outcome, destination: destination, selection: selection)
            // Provisional addresses are those of another source.
            let failed = failedAttempts(outcome) { selection.contains($0) ? selection.source : first.source }
            if let log = limits.log { for attempt in failed { log.note(.attemptFailed(attempt)) } }
            let attempts = earlier + failed
            if let winner = outcome.winner {
                let selection = selection.contains(winner.attempt.endpoint) ? selection : first
                return arrival(winner, from: selection, after: attempts, connect: plain)
            }
            if let failure = outcome.decisiveFailure ?? outcome.shortage { throw failure.with(attempts) }
            let wrongServer = selection.isProvisional ? outcome.wrongServer?.with(attempts) : nil
            do throws(DialFailure) {
                selection = try await next(after: selection, failed, of: attempts, limits: limits)
            } catch {
                throw wrongServer ?? error
            }
            limits.log?.note(.resolversFailed(name: "\(destination.host)", selection.failures))
            earlier = attempts
        }
    }

    private func arrival(
        _ winner: HappyEyeballs.RaceOutcome.Winner,
        from selection: EndpointSelection,
        after attempts: [FailedAttempt],
        connect: @escaping Connect
    ) -> Arrival {
        let endpoint = winner.attempt.endpoint
        return Arrival(
            transport: winner.transport,
            place: .endpoint(endpoint),
            selection: selection,
            source: selection.source,
            failedAttempts: attempts,
            end: winner.attempt.end,
            again: { () throws(AttemptFailure) in try await connect(endpoint) }
        )
    }

    /// Returns the function that makes an attempt at one of the addresses of a leg's party.
    ///
    /// - Parameter latest: What is known of the addresses, which may grow during the race.
    private func connect(
        to leg: Leg,
        by connector: Connector,
        knowing latest: Locked<EndpointSelection>
    ) -> Connect {
        let vetting = vetting(of: leg)
        return { endpoint throws(AttemptFailure) in
            try await connector.offering(self.echConfig(for: leg, at: endpoint, of: latest)) {
                connector throws(AttemptFailure) in
                // The address is vetted immediately before it is dialled, whatever its source: nothing can
                // happen in between.
                if let refusal = vetting?.refusal(of: endpoint, for: leg.destination) {
                    throw .failed(.connect, reason: .refused(refusal))
                }
                guard let before = leg.before else { return try await connector.connect(to: endpoint) }
                return try await self.connect(to: endpoint, behind: before, by: connector)
            }
        }
    }

    /// Returns the addresses of a leg's party. Asks the system's resolver where the route leaves the choice
    /// to it.
    @inline(never)
    private func selection(
        of leg: Leg,
        limits: DialLimits,
        detour: Detour? = nil
    ) async throws(DialFailure) -> EndpointSelection {
        if let known = detour?.selection { return known }
        switch leg.route {
        case .literal(let address, let port):
            return EndpointSelection([Endpoint(address, port: port)], port: port, .url)
        case .chosen(let selection): return selection
        case .system, .byProxy, .unixSocket: break
        }
        let start = loop.now
        do throws(DialFailure) {
            var selection = try await network.shortage.retryLookup(limits) {
                () async throws(DialFailure) in
                try await askSystem(for: leg.destination, limits: limits)
            }
            selection.resolveTime = loop.now.since(start)
            return selection
        } catch {
            throw leg.proxy == nil ? error : error.asProxyFailure
        }
    }

    private func askSystem(
        for destination: Destination,
        limits: DialLimits
    ) async throws(DialFailure) -> EndpointSelection {
        let deadline = limits.deadline(.resolve, stall: limits.timeouts.resolve)
        let (answer, search): (SystemLookups.Answer, NameSearch?)
        do throws(BlockingWork.Abandoned) {
            (answer, search) = try await network.lookups.firstAddresses(
                of: destination.lookupName,
                until: deadline.instant,
                on: loop
            )
        } catch {
            throw DialFailure(cause: error == .cancelled ? .cancelled : deadline.timeout)
        }
        switch answer {
        case .success(let addresses):
            let port = destination.port
            var selection = EndpointSelection(addresses.map { Endpoint($0) }, port: port, .system)
            if let search {
                selection.rest = {
                    let all = await search.all(until: deadline.instant)
                    guard !all.isEmpty else { return nil }
                    return EndpointSelection(all.map { Endpoint($0) }, port: port, .system)
                }
            }
            return selection
        case .failure(let error): throw DialFailure(cause: .failed(.resolve, .lookup(error)))
        }
    }

    /// Returns the fallback of the addresses that have all failed. Throws the last failure if there is none.
    ///
    /// - Parameter failed: The attempts of the last race, which are the last of all `attempts`.
    @inline(never)
    private func next(
        after selection: EndpointSelection,
        _ failed: [FailedAttempt],
        of attempts: [FailedAttempt],
        limits: DialLimits
    ) async throws(DialFailure) -> EndpointSelection {
        let now = loop.now
        let limit = limits.deadline(.resolve, stall: limits.timeouts.resolve)
        guard let last = attempts.last else {
            // A resolver may answer at the very end of the call. No attempt begins then.
            throw DialFailure(cause: now >= limits.end ? limit.timeout : .failed(.resolve, .noAddresses))
        }
        // The call has waited for more of the answer until its end.
        if selection.rest != nil, now >= limits.end, !last.isTimeout {
            throw DialFailure(cause: limit.timeout, attempts: attempts)
        }
        // What this client does not allow is no fault of the resolver, and no reason to ask another one.
        let isRefused = !failed.isEmpty && failed.allSatisfy(\.isRefusal) && !selection.isProvisional
        guard let fallback = selection.fallback, !isRefused, now < limits.end else {
            throw DialFailure(last, of: attempts)
        }
        switch await fallback(limit.instant, failed.contains(where: \.isRefusal)) {
        case .success(.some(var selection)):
            selection.resolveTime = loop.now.since(now)
            return selection
        case .success(nil): throw DialFailure(last, of: attempts)
        case .failure(let reason):
            if Task.isCancelled { throw DialFailure(cause: .cancelled, attempts: attempts) }
            throw DialFailure(cause: .failed(.resolve, reason), attempts: attempts)
        }
    }

    /// Returns the connection at the end of the way.
    private func connection(_ arrival: Arrival, of leg: Leg) -> Connection {
        let (transport, selection) = (arrival.transport, arrival.selection)
        let facts = ConnectionFacts(
            name: leg.destination.host.description,
            path: .init(
                place: arrival.place,
                source: arrival.source,
                proxy: leg.before?.proxy.map { "\($0.proxy)" },
                translated: transport.translated,
                local: arrival.place.endpoint == nil ? nil : transport.layers.socket.localEndpoint
            ),
            tls: transport.tls,
            times: .init(
                resolve: selection?.resolveTime,
                connect: transport.connectTime,
                tls: transport.tlsTime,
                end: arrival.end
            ),
            search: .init(
                failedAttempts: arrival.failedAttempts,
                tracksResolver: selection.map { $0.report != nil && !$0.isOfRequest } ?? false,
                fallbackForAnswer: leg.route.allows(arrival.place, from: arrival.source)
                    ? nil : leg.route.answer
            )
        )
        return connection(transport, facts: facts, forwarding: leg.forwarding)
    }

    /// Returns a connection on this transport.
    func connection(
        _ established: EstablishedTransport,
        facts: ConnectionFacts,
        forwarding: Forwarding? = nil
    ) -> Connection {
        let reader = ResponseReader(limits: settings.limits, leniency: settings.leniency)
        let connection = Connection(established.layers, facts: facts, reader: reader, forwarding: forwarding)
        if !established.early.isEmpty {
            unsafe established.early.withUnsafeBytes { unsafe connection.keep(unparsed: $0) }
        }
        return connection
    }
}

extension DialFailure {
    fileprivate func with(_ attempts: [FailedAttempt]) -> DialFailure {
        DialFailure(cause: cause, endpoint: endpoint, attempts: attempts, certificates: certificates)
    }

    /// The failure of the last attempt.
    fileprivate convenience init(_ last: FailedAttempt, of attempts: [FailedAttempt]) {
        self.init(
            cause: .failed(last.phase, last.reason),
            endpoint: last.endpoint,
            attempts: attempts,
            certificates: last.certificates
        )
    }
}

extension EndpointSelection {
    /// Returns the event that these endpoints were found.
    fileprivate func asResolved(for destination: Destination) -> TransportEvent {
        .resolved(name: destination.host.description, endpoints, source, after: resolveTime)
    }
}

extension TransportObserver {
    /// Returns the function with events for its start and its success.
    fileprivate func observing(
        _ connect: @escaping Connect,
        for destination: Destination
    ) -> Connect {
        let name = destination.host.description
        return { endpoint throws(AttemptFailure) in
            self.note(.attempted(endpoint, name: name))
            let established = try await connect(endpoint)
            self.note(.connected(endpoint, tls: established.tls))
            return established
        }
    }
}
