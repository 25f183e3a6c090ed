internal import DirectIO

/// Where the requests of one client go. The precedence: the request's addresses, its map, the client's map, a
/// literal in the URL, the resolver; the system's only if there is no other.
struct AddressBook: Sendable {
    let map: StaticMap
    let resolver: (any Resolver)?
    let loop: EventLoop

    init(_ settings: HTTPClient.Settings) {
        map = settings.addresses
        resolver = settings.resolver
        loop = settings.loop
    }

    /// The route, if it is known without asking anybody who might take his time.
    func knownRoute(for request: Request, to url: HTTPURL) throws(CallFailure) -> Route? {
        if let chosen = try chosenRoute(for: request, to: url) { return chosen }
        switch url.host {
        case .address(let address): return .literal(address, port: url.port)
        case .name(let name):
            guard let resolver else { return .system }
            return try known(Inquiry(resolver: resolver, name: name, port: url.port, loop: loop))
        }
    }

    /// The route, if the request or a map says where it goes.
    @inline(__always)
    func chosenRoute(for request: Request, to url: HTTPURL) throws(CallFailure) -> Route? {
        if let addresses = request.addresses {
            guard !addresses.isEmpty else { throw .failed(.request, .noAddresses) }
            for case let fault? in addresses.lazy.map(\.fault) { throw .failed(.request, .address(fault)) }
            return .chosen(addresses, port: url.port, .request)
        }
        if request.hasOptions, let mapped = request.addressMap?.endpoints(for: url.host, port: url.port) {
            return .chosen(mapped, port: url.port, .request)
        }
        if !map.isEmpty, let mapped = map.endpoints(for: url.host, port: url.port) {
            return .chosen(mapped, port: url.port, .staticMap)
        }
        return nil
    }

    /// The route, if the resolver has to be asked for it.
    func askedRoute(to url: HTTPURL, _ patience: Patience) async throws(CallFailure) -> Route {
        guard let resolver, let name = url.host.name else { return .system }
        let inquiry = Inquiry(resolver: resolver, name: name, port: url.port, loop: loop)
        let start = loop.now
        let context = ResolveContext(deadline: patience.deadline, loop: loop)
        let answer: Result<Choice?, HTTPError.Reason>
        do throws(BlockingWork.Abandoned) {
            answer = try await supervised(until: context.deadline, on: loop) {
                await inquiry.answer { try await resolver.resolve(name, port: url.port, context) }
            }
        } catch {
            throw error == .cancelled ? .cancelled : patience.timeout
        }
        switch answer {
        case .success(let choice):
            guard var choice else { throw .failed(.resolve, .noAddresses) }
            choice.resolveTime = loop.now.since(start)
            return .chosen(choice)
        case .failure(let reason): throw .failed(.resolve, reason)
        }
    }

    private func known(_ inquiry: Inquiry) throws(CallFailure) -> Route? {
        let context = ResolveContext(deadline: .never, loop: loop)
        do throws(ResolverError) {
            let resolver = inquiry.resolver
            guard let answer = try resolver.knownAnswer(for: inquiry.name, port: inquiry.port, context)
            else { return nil }
            return .chosen(try inquiry.choice(answer))
        } catch {
            throw .failed(.resolve, .resolver(error))
        }
    }
}

/// A question to a resolver, and what its answers mean to the dialler.
private struct Inquiry: Sendable {
    let resolver: any Resolver
    let name: DomainName
    let port: UInt16
    let loop: EventLoop

    /// The answer as the dialler takes it; what somebody else's resolver throws gets a name.
    func answer(_ ask: () async throws -> Resolution?) async -> Result<Choice?, HTTPError.Reason> {
        do {
            return .success(try await ask().map(choice))
        } catch let error as ResolverError {
            return .failure(.resolver(error))
        } catch {
            return .failure(.resolver(ResolverError(resolver.name, .other(error))))
        }
    }

    /// An answer without addresses is an error: it never means "ask somebody else".
    func choice(_ answer: Resolution) throws(ResolverError) -> Choice {
        guard !answer.endpoints.isEmpty else { throw ResolverError(resolver.name, .noAddresses) }
        for case let fault? in answer.endpoints.lazy.map(\.fault) {
            throw ResolverError(resolver.name, .address(fault))
        }
        var choice = Choice(answer.endpoints, port: port, answer.source)
        choice.isStrictlyOrdered = answer.isStrictlyOrdered
        choice.report = { endpoint, outcome in
            resolver.report(outcome, of: endpoint, for: name, port: port)
        }
        if let ask = answer.fallback { choice.fallback = { end in await self.fallback(ask, until: end) } }
        return choice
    }

    private func fallback(
        _ ask: @escaping @Sendable (ResolveContext) async throws -> Resolution?,
        until end: Instant
    ) async -> Result<Choice?, HTTPError.Reason> {
        let start = loop.now
        do throws(BlockingWork.Abandoned) {
            return try await supervised(until: end, on: loop) {
                await answer { try await ask(ResolveContext(deadline: end, loop: loop)) }
            }
        } catch {
            let time = loop.now.since(start)
            return .failure(.resolver(ResolverError(resolver.name, .timedOut(after: time))))
        }
    }
}

/// Runs an operation that may not heed its deadline or cancellation, and stops waiting for it then.
func supervised<Value: Sendable>(
    until deadline: Instant,
    on loop: EventLoop,
    _ operation: @escaping @Sendable () async -> Value
) async throws(BlockingWork.Abandoned) -> Value {
    let reply = Reply<Value>(on: loop)
    let task = Task { reply.give(await operation()) }
    do throws(BlockingWork.Abandoned) {
        return try await reply.value(until: deadline)
    } catch {
        task.cancel()
        throw error
    }
}
