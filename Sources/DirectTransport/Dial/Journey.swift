internal import DirectCore
internal import DirectIO
internal import DirectTLS

/// One call of `Dialler.dial`: the way to a server, travelled leg by leg within the limits of one call.
final class Journey: Sendable {
    let dialler: Dialler
    let limit: CallLimit
    /// The wait for a descriptor during a shortage, of all legs together: the time limit of the pool's queue.
    let room: Deadline
    let log: (any TransportObserver)?

    /// Begins now.
    init(of dialler: Dialler, within limit: CallLimit, noting log: (any TransportObserver)? = nil) {
        self.dialler = dialler
        self.limit = limit
        self.log = log
        room = limit.deadline(.queue, from: dialler.loop.now)
    }

    var loop: EventLoop { dialler.loop }
    var network: Network { dialler.network }

    /// Returns the limits of a wait that begins now.
    func deadline(_ phase: TransportError.Phase, stall: IdleLimit? = nil) -> Deadline {
        limit.deadline(phase, stall: stall, from: loop.now)
    }

    /// Travels the way to its end.
    ///
    /// - Parameter detour: The order of the addresses, if it is not the usual one.
    func travel(_ leg: Leg, around detour: Detour? = nil) async throws(DialFailure) -> Arrival {
        do throws(DialFailure) {
            let connector = try await connector(for: leg)
            if case .unixSocket(let path) = leg.route {
                return try await arrive(at: path, by: connector)
            }
            if case .byProxy = leg.route, let before = leg.before {
                return try await arrive(behind: before, by: connector, around: detour)
            }
            let selection = try await selection(of: leg, around: detour)
            return try await search(selection, by: connector, around: detour)
        } catch {
            throw leg.proxy == nil ? error : error.asProxyFailure
        }
    }

    /// Returns a connector for the party of a leg. Throws if its settings of TLS cannot be used.
    func connector(for leg: Leg) async throws(DialFailure) -> Connector {
        do throws(TransportError) {
            return try await Connector(leg, on: self)
        } catch {
            throw DialFailure(cause: error)
        }
    }

    /// Connects to a Unix domain socket.
    private func arrive(
        at path: UnixSocketPath,
        by connector: Connector
    ) async throws(DialFailure) -> Arrival {
        let connect = { @Sendable () async throws(AttemptFailure) -> EstablishedTransport in
            let settings = self.dialler.settings
            guard settings.vetting == nil else {
                throw .failed(.connect, reason: .settings(.unixSocketAndVetting), consequence: .stop)
            }
            return try await connector.offering(settings.echConfig?(connector.destination.host)) {
                connector throws(AttemptFailure) in
                try await connector.connect(to: path)
            }
        }
        do throws(AttemptFailure) {
            let transport = try await connect()
            log?.note(.connected(nil, tls: transport.tls))
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
        by connector: Connector,
        around detour: Detour?
    ) async throws(DialFailure) -> Arrival {
        let destination = connector.destination
        var selection = selection
        var earlier: [FailedAttempt] = []
        while true {
            let latest = Locked(selection)
            let plain = connect(by: connector, knowing: latest)
            log?.note(selection.asResolved(for: destination))
            let outcome = await dialler.race(
                destination,
                selection: latest,
                end: limit.end,
                detour: detour,
                connect: log.map { $0.observing(plain, for: destination) } ?? plain
            ).run()
            let first = selection
            selection = latest.withLock { $0 }
            dialler.learn(outcome, destination: destination, selection: selection)
            // Provisional addresses are those of another source.
            let failed = dialler.failedAttempts(outcome) {
                selection.contains($0) ? selection.source : first.source
            }
            if let log { for attempt in failed { log.note(.attemptFailed(attempt)) } }
            let attempts = earlier + failed
            if let winner = outcome.winner {
                let selection = selection.contains(winner.attempt.endpoint) ? selection : first
                return arrival(winner, from: selection, after: attempts, connect: plain)
            }
            if let failure = outcome.decisiveFailure ?? outcome.shortage { throw failure.with(attempts) }
            let wrongServer = selection.isProvisional ? outcome.wrongServer?.with(attempts) : nil
            do throws(DialFailure) {
                selection = try await next(after: selection, failed, of: attempts)
            } catch {
                throw wrongServer ?? error
            }
            log?.note(.resolversFailed(name: "\(destination.host)", selection.failures))
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
    private func connect(by connector: Connector, knowing latest: Locked<EndpointSelection>) -> Connect {
        let leg = connector.leg
        let vetting = dialler.vetting(of: leg)
        return { endpoint throws(AttemptFailure) in
            try await connector.offering(self.dialler.echConfig(for: leg, at: endpoint, of: latest)) {
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
    func selection(of leg: Leg, around detour: Detour? = nil) async throws(DialFailure) -> EndpointSelection {
        if let known = detour?.selection { return known }
        switch leg.route {
        case .literal(let address, let port):
            return EndpointSelection([Endpoint(address, port: port)], port: port, .url)
        case .chosen(let selection): return selection
        case .system, .byProxy, .unixSocket: break
        }
        let start = loop.now
        do throws(DialFailure) {
            var selection = try await network.shortage.retryLookup(room, on: loop) {
                () async throws(DialFailure) in
                try await askSystem(for: leg.destination)
            }
            selection.resolveTime = loop.now.since(start)
            return selection
        } catch {
            throw leg.proxy == nil ? error : error.asProxyFailure
        }
    }

    private func askSystem(for destination: Destination) async throws(DialFailure) -> EndpointSelection {
        let deadline = deadline(.resolve)
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
        of attempts: [FailedAttempt]
    ) async throws(DialFailure) -> EndpointSelection {
        let now = loop.now
        let deadline = deadline(.resolve)
        guard let last = attempts.last else {
            // A resolver may answer at the very end of the call. No attempt begins then.
            throw DialFailure(cause: now >= limit.end ? deadline.timeout : .failed(.resolve, .noAddresses))
        }
        // The call has waited for more of the answer until its end.
        if selection.rest != nil, now >= limit.end, !last.isTimeout {
            throw DialFailure(cause: deadline.timeout, attempts: attempts)
        }
        // An address that this client refuses is no fault of the resolver, and no reason to ask another one.
        let isRefused = !failed.isEmpty && failed.allSatisfy(\.isRefusal) && !selection.isProvisional
        guard let fallback = selection.fallback, !isRefused, now < limit.end else {
            throw DialFailure(last, of: attempts)
        }
        switch await fallback(deadline.instant, failed.contains(where: \.isRefusal)) {
        case .success(.some(var selection)):
            selection.resolveTime = loop.now.since(now)
            return selection
        case .success(nil): throw DialFailure(last, of: attempts)
        case .failure(let reason):
            if Task.isCancelled { throw DialFailure(cause: .cancelled, attempts: attempts) }
            throw DialFailure(cause: .failed(.resolve, reason), attempts: attempts)
        }
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
