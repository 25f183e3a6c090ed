internal import DirectCore
internal import DirectHTTP1
package import DirectIO
internal import DirectTLS

/// Makes connections: from a URL's name and a route to a connection to one of the name's addresses.
///
/// One call of `dial` passes through these steps:
/// - The addresses: the route names them, or the system's resolver is asked (`selection`). They are ordered
///   by RFC 8305 and by earlier results (`AddressHistory`); for a retry, `Detour` puts the failed ones last.
/// - The race (`HappyEyeballs`) between them. Each attempt checks the address against the client's vetting
///   immediately before it connects, connects, and performs the TLS handshake (`Connector`).
/// - If no address will do, the route's fallback is asked for others, and the race is run again (`search`).
/// - The results go to `AddressHistory` and to the resolver that named the addresses (`learn`).
///
/// With a proxy there are two forms, in `Dialler+Proxy.swift`. If the client chooses the address, each
/// attempt of the race opens its own tunnel to that address. If the proxy resolves the name
/// (`Route.byProxy`), only the proxy itself is dialled, and it is asked for a tunnel to the name or, for
/// `http`, to forward requests.
///
/// A failed certificate check never leads to a connection. By default it also ends the race, since the
/// network works and trying other addresses would hide the fault. Apart from the proxy's own addresses, only
/// those of the route and its fallback are dialled, and the IPv6 form of such an IPv4 address behind a NAT64
/// translator.
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
    ///
    /// If an address cannot be reached, the next one is tried. If a server's certificate is not accepted, no
    /// other address is tried, unless the settings say so: the network works, and trying on would hide the
    /// fault.
    package func dial(
        _ target: borrowing ConnectionTarget,
        within limits: RequestLimits
    ) async throws(DialFailure) -> Connection {
        let limits = DialLimits(limits.call, loop: loop, log: limits.observer)
        let (url, route, proxy, detour) = (target.url, target.route, target.proxy, target.detour)
        let destination = Destination(url)
        var connector = try await connector(
            destination,
            limits: limits,
            profile: target.profile ?? profiles.base,
            vetting: settings.vetting
        )
        if case .chosen(let selection) = route, !selection.mayAskSystem { connector.translation = nil }
        if let proxy, case .byProxy = route {
            return try await dial(url, connector: connector, over: proxy, detour: detour)
        }
        let vetting = settings.vetting
        let unixSocket = connector.profile.unixSocket
        let selection = try await selection(destination, route: route, limits: limits, detour: detour)
        let connect: @Sendable (Connector) -> Connect = { connector in
            { endpoint throws(AttemptFailure) in
                if let unixSocket {
                    guard vetting == nil else {
                        throw .failed(.connect, reason: .settings(.unixSocketAndVetting), consequence: .stop)
                    }
                    return try await connector.connect(to: unixSocket)
                }
                // The address is vetted immediately before it is dialled, whatever its source: nothing can
                // happen in between.
                if let refusal = vetting?.refusal(of: endpoint, for: destination) {
                    throw .failed(.connect, reason: .refused(refusal))
                }
                guard let proxy else { return try await connector.connect(to: endpoint) }
                return try await self.connectTunnel(with: connector, to: endpoint, over: proxy)
            }
        }
        let result: DialResult
        do throws(DialFailure) {
            result = try await search(
                selection,
                destination: destination,
                limits: limits,
                detour: detour
            ) { latest in
                connector.encrypting(with: echConfigs(of: latest, for: destination.host), connect)
            }
        } catch {
            throw unixSocket == nil ? error : error.withoutEndpoints
        }
        return connection(
            result,
            destination: destination,
            route: route,
            proxy: proxy,
            unixSocket: unixSocket
        )
    }

    /// Returns a connector for the destination. Throws if its settings of TLS cannot be used.
    func connector(
        _ destination: Destination,
        limits: DialLimits,
        profile: ConnectionProfile,
        options: SocketOptions? = nil,
        vetting: AddressVetting? = nil
    ) async throws(DialFailure) -> Connector {
        let mayAskSystem = settings.mayAskSystem
        do throws(TransportError) {
            return try await Connector(
                destination,
                limits: limits,
                profile: profile,
                options: options ?? profile.socket,
                network: network,
                translation: mayAskSystem
                    ? Translation(translators: network.translators, vetting: vetting) : nil
            )
        } catch {
            throw DialFailure(cause: error)
        }
    }

    /// The result of a search: the transport, and all attempts that failed before.
    struct DialResult {
        var established: EstablishedTransport
        /// Connects to such an address once more.
        let connect: Connect
        let attempt: ConnectAttempt
        let selection: EndpointSelection
        let failedAttempts: [FailedAttempt]

        /// Returns the result with another transport to the same address.
        func with(_ established: EstablishedTransport) -> DialResult {
            var result = self
            result.established = established
            return result
        }
    }

    /// Connects to one of these addresses or, if none will do, to one of their fallback.
    ///
    /// - Parameter connecting: Returns the function that connects. It is given what is known of the
    ///   addresses, which may grow during the race.
    @inline(never)
    func search(
        _ selection: EndpointSelection,
        destination: Destination,
        limits: DialLimits,
        detour: Detour?,
        connecting: (Locked<EndpointSelection>) -> Connect
    ) async throws(DialFailure) -> DialResult {
        var selection = selection
        var earlier: [FailedAttempt] = []
        while true {
            let latest = Locked(selection)
            let plain = connecting(latest)
            let connect = limits.log.map { $0.observing(plain, for: destination) } ?? plain
            limits.log?.note(selection.asResolved(for: destination))
            let outcome = await race(
                destination,
                selection: latest,
                limits: limits,
                detour: detour,
                connect: connect
            ).run()
            let first = selection
            selection = latest.withLock { $0 }
            learn(outcome, destination: destination, selection: selection)
            // Provisional addresses are those of another source.
            let failed = failedAttempts(outcome) { selection.contains($0) ? selection.source : first.source }
            if let log = limits.log { for attempt in failed { log.note(.attemptFailed(attempt)) } }
            let failedAttempts = earlier + failed
            if let index = outcome.decisive, let established = outcome.attempts[index].established {
                return DialResult(
                    established: established,
                    connect: plain,
                    attempt: outcome.attempts[index],
                    selection: selection.contains(outcome.attempts[index].endpoint) ? selection : first,
                    failedAttempts: failedAttempts
                )
            }
            if let failure = outcome.decisiveFailure ?? outcome.shortage {
                throw failure.with(failedAttempts)
            }
            let wrongServer = selection.isProvisional ? outcome.wrongServer?.with(failedAttempts) : nil
            // What this client does not allow is no fault of the resolver, and no reason to ask another one.
            if !failed.isEmpty, failed.allSatisfy(\.isRefusal), !selection.isProvisional {
                selection.fallback = nil
            }
            let isForCallerAlone = failed.contains(where: \.isRefusal)
            do throws(DialFailure) {
                selection = try await next(
                    after: selection,
                    failedAttempts,
                    limits: limits,
                    isForCallerAlone: isForCallerAlone
                )
            } catch {
                throw wrongServer ?? error
            }
            limits.log?.note(.resolversFailed(name: "\(destination.host)", selection.failures))
            earlier = failedAttempts
        }
    }

    /// Returns the addresses of the route. Asks the system's resolver where the route leaves the choice to
    /// it.
    @inline(never)
    func selection(
        _ destination: Destination,
        route: Route,
        limits: DialLimits,
        detour: Detour? = nil
    ) async throws(DialFailure) -> EndpointSelection {
        if let known = detour?.selection { return known }
        switch route {
        case .literal(let address, let port):
            return EndpointSelection([Endpoint(address, port: port)], port: port, .url)
        case .chosen(let selection): return selection
        case .system, .byProxy:
            let start = loop.now
            var selection = try await network.shortage.retryLookup(limits) {
                () async throws(DialFailure) in
                try await askSystem(for: destination, limits: limits)
            }
            selection.resolveTime = loop.now.since(start)
            return selection
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

    /// Returns a race between the addresses, in the order in which to try them.
    ///
    /// - Parameter latest: The addresses to begin with. It gets those that come during the race.
    private func race(
        _ destination: Destination,
        selection latest: Locked<EndpointSelection>,
        limits: DialLimits,
        detour: Detour?,
        connect: @escaping Connect
    ) -> HappyEyeballs {
        let selection = latest.withLock { $0 }
        let (memory, hasRanks, loop) = (memory, hasRanks(selection), loop)
        let order: @Sendable ([Endpoint]) -> HappyEyeballs.Candidates = { endpoints in
            let some = Array(endpoints.prefix(Self.mostAddresses))
            let ranked = hasRanks ? memory.order(some, for: destination, at: loop.now) : some
            guard let order = detour?.order(ranked) else { return .init(endpoints: ranked) }
            return .init(endpoints: order.first + order.late, late: order.late.count)
        }
        var race = HappyEyeballs(
            candidates: order(selection.endpoints),
            stagger: isOrdered(selection) ? nil : settings.dialling.staggerNanoseconds,
            passesOverWrongServers: settings.dialling.onCertificateMismatch == .tryNext,
            provisional: selection.isProvisional ? Set(selection.endpoints) : [],
            end: limits.end.atMost(loop.now.advanced(byNanoseconds: Self.longestRace)),
            loop: loop,
            connect: connect
        )
        if selection.rest != nil {
            race.rest = {
                guard var next = await latest.withLock({ $0.rest })?() else { return nil }
                next.resolveTime = selection.resolveTime
                latest.withLock { $0 = next }
                return order(next.endpoints)
            }
        }
        return race
    }

    /// The highest number of addresses of an answer that are tried.
    private static let mostAddresses = 64
    /// The time after which no further address of an answer is tried.
    private static let longestRace: UInt64 = 30_000_000_000

    /// Whether the addresses are tried strictly in the given order.
    private func isOrdered(_ selection: EndpointSelection) -> Bool {
        selection.isStrictlyOrdered || settings.dialling.keepsOrder
    }

    /// Whether earlier results decide the order of the addresses. A single address needs no order, so nothing
    /// is remembered of it or looked up.
    func hasRanks(_ selection: EndpointSelection) -> Bool {
        (selection.endpoints.count > 1 || selection.rest != nil) && !isOrdered(selection)
    }

    /// Returns the fallback of the addresses that have all failed. Throws the last failure if there is none.
    @inline(never)
    private func next(
        after selection: EndpointSelection,
        _ attempts: [FailedAttempt],
        limits: DialLimits,
        isForCallerAlone: Bool
    ) async throws(DialFailure) -> EndpointSelection {
        guard let last = attempts.last else {
            // A resolver may answer at the very end of the call. No attempt begins then.
            let limit = limits.deadline(.resolve, stall: limits.timeouts.resolve)
            let isOver = loop.now >= limits.end
            throw DialFailure(cause: isOver ? limit.timeout : .failed(.resolve, .noAddresses))
        }
        let now = loop.now
        // The call has waited for more of the answer until its end.
        if selection.rest != nil, now >= limits.end, !last.isTimeout {
            let limit = limits.deadline(.resolve, stall: limits.timeouts.resolve)
            throw DialFailure(cause: limit.timeout, attempts: attempts)
        }
        let failure = DialFailure(
            cause: .failed(last.phase, last.reason),
            endpoint: last.endpoint,
            attempts: attempts,
            certificates: last.certificates
        )
        guard let fallback = selection.fallback, now < limits.end else { throw failure }
        let end = limits.deadline(.resolve, stall: limits.timeouts.resolve).instant
        switch await fallback(end, isForCallerAlone) {
        case .success(.some(var selection)):
            selection.resolveTime = loop.now.since(now)
            return selection
        case .success(nil): throw failure
        case .failure(let reason):
            if Task.isCancelled { throw DialFailure(cause: .cancelled, attempts: attempts) }
            throw DialFailure(cause: .failed(.resolve, reason), attempts: attempts)
        }
    }

    /// Returns the connection on the transport that was found.
    private func connection(
        _ result: DialResult,
        destination: Destination,
        route: Route,
        proxy: ProxyEntry?,
        unixSocket: UnixSocketPath?
    ) -> Connection {
        let facts = ConnectionFacts(
            name: destination.host.description,
            path: .init(
                endpoint: result.attempt.endpoint,
                source: result.selection.source,
                proxy: proxy.map { "\($0.proxy)" },
                translated: result.established.translated,
                unixSocket: unixSocket,
                local: unixSocket == nil ? result.established.layers.socket.localEndpoint : nil
            ),
            tls: result.established.tls,
            times: .init(
                resolve: result.selection.resolveTime,
                connect: result.established.connectTime,
                tls: result.established.tlsTime,
                end: result.attempt.end
            ),
            search: .init(
                failedAttempts: result.failedAttempts,
                tracksResolver: result.selection.report != nil && !result.selection.isOfRequest,
                fallbackForAnswer: route.allows(result.attempt.endpoint, from: result.selection.source)
                    ? nil : route.answer
            )
        )
        return connection(result.established, facts: facts)
    }

    /// Returns a connection on this transport.
    func connection(
        _ established: EstablishedTransport,
        facts: ConnectionFacts,
        forwarding: Forwarding? = nil
    ) -> Connection {
        let reader = ResponseReader(limits: settings.limits, leniency: settings.leniency)
        return Connection(established.layers, facts: facts, reader: reader, forwarding: forwarding)
    }
}

extension DialFailure {
    fileprivate func with(_ attempts: [FailedAttempt]) -> DialFailure {
        DialFailure(cause: cause, endpoint: endpoint, attempts: attempts, certificates: certificates)
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
