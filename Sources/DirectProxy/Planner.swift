internal import DirectCore
internal import DirectLookup
internal import DirectIO
internal import DirectTransport

/// Where a target is reached: the one place that turns a name into addresses, asked for each tunnel when it
/// is dialled.
struct Planner: Sendable {
    let map: StaticMap
    let resolver: (any Resolver)?
    /// The names that the resolver is asked for; `nil` for all.
    let matching: [HostPattern]?
    let others: LocalProxy.OtherNames
    let loop: EventLoop

    /// Returns the way to the target.
    ///
    /// - Throws: A refusal, if the settings allow no way or no address is known.
    func plan(_ target: Target, within limit: CallLimit) async throws(Refusal) -> Plan {
        if let named = map.endpoints(for: target.host, port: target.port) {
            return Plan(route: .chosen(named, port: target.port, source: .staticMap), isNamed: true)
        }
        guard let resolver, let name = target.host.name, isMatching(name) else {
            guard others == .dialled else {
                throw Refusal(
                    kind: .forbidden,
                    line: "\(target) is in no map, and others are refused; name it in a map, or allow others"
                )
            }
            return Plan(
                route: target.host.address.map { .literal($0, port: target.port) } ?? .system,
                isNamed: false
            )
        }
        do throws(TransportError) {
            let selection = try await selection(of: name, for: target, by: resolver, within: limit)
            return Plan(route: .chosen(selection), isNamed: false)
        } catch {
            throw Refusal(error, of: target)
        }
    }

    private func selection(
        of name: DomainName,
        for target: Target,
        by resolver: any Resolver,
        within limit: CallLimit
    ) async throws(TransportError) -> EndpointSelection {
        let deadline = limit.deadline(.resolve, stall: limit.timeouts.resolve, from: loop.now)
        let question = Question(
            resolver: resolver,
            name: name,
            target: target,
            loop: loop,
            threads: limit.threads
        )
        let context = question.context(until: deadline.instant)
        let answer: Resolution
        do throws(ForeignFailure) {
            answer = try await askForeignCode(until: context.deadline, on: loop, executor: limit.threads) {
                try await resolver.firstAnswer(name, port: target.port, context: context)
            }
        } catch {
            switch error {
            case .silent: throw deadline.timeout
            case .cancelled: throw .cancelled
            case .threw(let error):
                throw .failed(.resolve, .resolver(ResolverError(error, of: resolver.name)))
            }
        }
        do throws(ResolverError) {
            return try question.selection(answer)
        } catch {
            throw .failed(.resolve, .resolver(error))
        }
    }

    private func isMatching(_ name: DomainName) -> Bool {
        matching?.contains { pattern in
            switch pattern {
            case .host(let host): host.name == name
            case .subdomains(let parent): name != parent && name.isSubdomain(of: parent)
            case .any: true
            }
        } ?? true
    }
}

/// A question to a resolver, and its answers in the dialler's terms.
private struct Question: Sendable {
    let resolver: any Resolver
    let name: DomainName
    let target: Target
    let loop: EventLoop
    let threads: BlockingWork

    func context(until end: Instant) -> ResolveContext {
        // What a program speaks in its tunnel is not known: records of HTTPS are not asked for.
        var context = ResolveContext(.http, deadline: end, loop: loop, threads: threads)
        context.isComplete = target.url.hasTrailingDot
        return context
    }

    /// Returns the endpoints of an answer as dialling takes them. One without addresses is an error: it
    /// never means "ask another resolver".
    func selection(_ answer: Resolution) throws(ResolverError) -> EndpointSelection {
        guard !answer.endpoints.isEmpty else { throw ResolverError(resolver.name, .noAddresses) }
        for case let fault? in answer.endpoints.lazy.map(\.fault) {
            throw ResolverError(resolver.name, .address(fault))
        }
        var selection = EndpointSelection(answer.endpoints, port: target.port, answer.source)
        selection.isStrictlyOrdered = answer.isStrictlyOrdered
        selection.isProvisional = answer.isProvisional
        selection.mayAskSystem = resolver.mayAskSystem
        selection.failures = answer.failures
        selection.report = { endpoint, report in
            let outcome: DialOutcome
            switch report {
            case .connected(let time): outcome = .connected(after: time)
            case .failed(let phase, let reason): outcome = .failed(TransportError.failed(phase, reason))
            }
            resolver.report(outcome, of: endpoint, for: name, port: target.port)
        }
        if let rest = answer.rest {
            selection.rest = { await rest().flatMap { try? self.selection($0) } }
        }
        if let ask = answer.fallback {
            selection.fallback = { end, isForCallerAlone in
                var context = context(until: end)
                context.isForCallerAlone = isForCallerAlone
                do {
                    let answer = try await resolver.fallback(ask, within: context).get()
                    return .success(try answer.map(self.selection))
                } catch {
                    return .failure(.resolver(ResolverError(error, of: resolver.name)))
                }
            }
        }
        return selection
    }
}

/// The way to a target.
struct Plan: Sendable {
    let route: Route
    /// Whether the map names the addresses. They are then dialled even where vetting would refuse them.
    let isNamed: Bool
}
