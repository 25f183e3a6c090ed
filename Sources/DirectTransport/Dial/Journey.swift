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

    /// Returns the limits of a wait that begins now.
    func deadline(_ phase: TransportError.Phase, stall: IdleLimit? = nil) -> Deadline {
        limit.deadline(phase, stall: stall, from: loop.now)
    }

    /// Travels the way to its end.
    ///
    /// - Parameter detour: The order of the addresses, if it is not the usual one.
    func travel(_ leg: Leg, around detour: Detour? = nil) async throws(DialFailure) -> Arrival {
        do throws(DialFailure) {
            let connector = try await Connector(leg, on: self)
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
            let outcome = await race(
                destination,
                selection: latest,
                around: detour,
                connect: log.map { $0.observing(plain, for: destination) } ?? plain
            ).run()
            let first = selection
            selection = latest.withLock { $0 }
            learn(outcome, destination: destination, selection: selection)
            // Provisional addresses are those of another source.
            let failed = failedAttempts(outcome) {
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
            var selection = try await dialler.network.shortage.retryLookup(room, on: loop) {
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
            (answer, search) = try await dialler.network.lookups.firstAddresses(
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

/// The race between addresses, and what its outcome says: for the address history, for the resolver that
/// named the addresses, and for the caller's error.
extension Journey {
    /// Returns a race between the addresses, in the order in which to try them.
    ///
    /// - Parameter latest: The addresses to begin with. It gets those that come during the race.
    private func race(
        _ destination: Destination,
        selection latest: Locked<EndpointSelection>,
        around detour: Detour?,
        connect: @escaping Connect
    ) -> HappyEyeballs {
        let selection = latest.withLock { $0 }
        let (memory, hasRanks, loop) = (dialler.memory, hasRanks(selection), loop)
        let order: @Sendable ([Endpoint]) -> HappyEyeballs.Candidates = { endpoints in
            let some = Array(endpoints.prefix(Self.mostAddresses))
            let ranked = hasRanks ? memory.order(some, for: destination, at: loop.now) : some
            guard let order = detour?.order(ranked) else { return .init(endpoints: ranked) }
            return .init(endpoints: order.first + order.late, late: order.late.count)
        }
        var race = HappyEyeballs(
            candidates: order(selection.endpoints),
            stagger: isOrdered(selection) ? nil : dialler.settings.dialling.staggerNanoseconds,
            passesOverWrongServers: dialler.settings.dialling.onCertificateMismatch == .tryNext,
            provisional: selection.isProvisional ? Set(selection.endpoints) : [],
            end: limit.end.atMost(loop.now.advanced(byNanoseconds: Self.longestRace)),
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
        selection.isStrictlyOrdered || dialler.settings.dialling.keepsOrder
    }

    /// Whether earlier results decide the order of the addresses. A single address needs no order, so nothing
    /// is remembered of it or looked up.
    private func hasRanks(_ selection: EndpointSelection) -> Bool {
        (selection.endpoints.count > 1 || selection.rest != nil) && !isOrdered(selection)
    }

    /// Remembers, and reports to the resolver that named the addresses, which of them work.
    private func learn(
        _ outcome: HappyEyeballs.RaceOutcome,
        destination: Destination,
        selection: EndpointSelection
    ) {
        let memory = hasRanks(selection) ? dialler.memory : nil
        guard memory != nil || selection.report != nil else { return }
        for (index, attempt) in outcome.attempts.enumerated() {
            switch attempt.result {
            case .success:
                memory?.noteSuccess(attempt.endpoint, for: destination, at: attempt.end)
                selection.report?(attempt.endpoint, .connected(after: attempt.elapsed))
            case .failure(let failure):
                guard let reason = outcome.reason(at: index), outcome.isTelling(index) else { continue }
                // A wrong certificate that ends the race must not be avoided the next time either.
                if index != outcome.decisive {
                    memory?.recordFailure(
                        attempt.endpoint,
                        in: failure.phase,
                        for: destination,
                        at: attempt.end
                    )
                }
                selection.report?(attempt.endpoint, .failed(failure.phase, reason))
            }
        }
    }

    /// Returns the failed attempts of a race, for errors and logs.
    private func failedAttempts(
        _ outcome: HappyEyeballs.RaceOutcome,
        source: (Endpoint) -> AddressSource
    ) -> [FailedAttempt] {
        outcome.attempts.enumerated().flatMap { index, attempt -> [FailedAttempt] in
            guard let failure = attempt.failure, !failure.isDescriptorShortage,
                let reason = outcome.reason(at: index)
            else { return [] }
            // Each attempt has dialled the proxy, and has failed there alike.
            if let atProxy = failure.atProxy { return index == outcome.decisive ? atProxy.attempts : [] }
            return [
                FailedAttempt(
                    endpoint: attempt.endpoint,
                    source: source(attempt.endpoint),
                    phase: failure.phase,
                    reason: reason,
                    certificates: failure.certificates,
                    elapsed: attempt.elapsed
                )
            ]
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
