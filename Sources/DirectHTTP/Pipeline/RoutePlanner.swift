internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// Decides where the requests of one client connect.
///
/// The order of precedence: the request's own addresses, the request's map, the client's map, an address
/// literal in the URL, the request's resolver, the client's. The system's resolver is asked only if the
/// client has no other resolver.
///
/// An empty list of addresses, in a request or in a resolver's answer, is an error: the next source is not
/// asked.
struct RoutePlanner: Sendable {
    let map: StaticMap
    let resolver: (any Resolver)?
    let loop: EventLoop
    /// The threads of the client, on which resolvers run.
    let threads: BlockingWork

    init(_ configuration: HTTPClient.Configuration, on threads: BlockingWork) {
        map = configuration.addresses
        resolver = configuration.resolver
        loop = configuration.loop
        self.threads = threads
    }

    /// Returns the route if it is known without waiting for a resolver; `nil` if the resolver has to be
    /// asked.
    func knownRoute(for request: Request, to url: HTTPURL) throws(TransportError) -> Route? {
        if let chosen = try chosenRoute(for: request, to: url) { return chosen }
        switch url.host {
        case .address(let address): return .literal(address, port: url.port)
        case .name(let name):
            guard let query = query(for: request, to: url, name) else { return .system }
            return try known(query)
        }
    }

    /// Returns the route if the request or a map names the addresses; `nil` otherwise.
    @inline(__always)
    func chosenRoute(for request: Request, to url: HTTPURL) throws(TransportError) -> Route? {
        if let addresses = request.addresses {
            guard !addresses.isEmpty else { throw .failed(.request, .noAddresses) }
            for case let fault? in addresses.lazy.map(\.fault) { throw .failed(.request, .address(fault)) }
            return .chosen(addresses, port: url.port, source: .request)
        }
        if request.hasOptions, let map = request.addressMap,
            let mapped = map.endpoints(for: url.host, port: url.port)
        {
            var selection = EndpointSelection(mapped, port: url.port, .request)
            if let config = map.echConfig(for: url.host) { selection.echConfig = { _ in config } }
            return .chosen(selection)
        }
        if !map.isEmpty, let mapped = map.endpoints(for: url.host, port: url.port) {
            return .chosen(mapped, port: url.port, source: .staticMap)
        }
        return nil
    }

    /// Asks the resolver for the route and waits until `deadline` ends.
    ///
    /// Without a resolver, and for an address literal, the route is the system's.
    func resolvedRoute(
        for request: Request,
        to url: HTTPURL,
        _ deadline: Deadline
    ) async throws(TransportError) -> Route {
        guard let name = url.host.name, let query = query(for: request, to: url, name)
        else { return .system }
        let resolver = query.resolver
        let start = loop.now
        let context = query.context(until: deadline.instant)
        let answer: Resolution
        do throws(ForeignFailure) {
            answer = try await askForeignCode(until: context.deadline, on: loop, executor: threads) {
                try await resolver.firstAnswer(name, port: url.port, context: context)
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
            var selection = try query.selection(answer)
            selection.resolveTime = loop.now.since(start)
            return .chosen(selection)
        } catch {
            throw .failed(.resolve, .resolver(error))
        }
    }

    /// Returns the route to a Unix domain socket.
    func unixSocketRoute(
        to path: UnixSocketPath,
        for request: Request,
        _ settings: ConnectionSettings
    ) throws(TransportError) -> Route {
        guard request.addresses == nil else { throw .failed(.request, .settings(.unixSocketAndAddresses)) }
        guard settings.local == nil else { throw .failed(.request, .settings(.unixSocketAndBinding)) }
        return .unixSocket(path)
    }

    /// Returns the query to the resolver that is in charge; `nil` if the system's is.
    @inline(__always)
    private func query(for request: Request, to url: HTTPURL, _ name: DomainName) -> ResolverQuery? {
        if request.hasOptions, let own = request.resolver {
            return ResolverQuery(own, for: name, of: url, loop: loop, threads: threads, isOfRequest: true)
        }
        guard let resolver else { return nil }
        return ResolverQuery(resolver, for: name, of: url, loop: loop, threads: threads)
    }

    /// Returns the answer that the resolver has at hand, as a route; `nil` if it has none.
    private func known(_ query: ResolverQuery) throws(TransportError) -> Route? {
        let context = query.context(until: .never)
        do throws(ResolverError) {
            let resolver = query.resolver
            guard
                let answer = try resolver.knownAnswer(for: query.name, port: query.port, context: context)
            else { return nil }
            return .chosen(try query.selection(answer))
        } catch {
            throw .failed(.resolve, .resolver(error))
        }
    }
}

/// A query to a resolver. It translates the resolver's answers into the dialler's terms.
private struct ResolverQuery: Sendable {
    let resolver: any Resolver
    let name: DomainName
    let scheme: HTTPURL.Scheme
    let port: UInt16
    /// Whether the name ends with a dot in the URL.
    let isComplete: Bool
    let loop: EventLoop
    let threads: BlockingWork
    /// Whether the request has brought the resolver along.
    let isOfRequest: Bool

    init(
        _ resolver: any Resolver,
        for name: DomainName,
        of url: HTTPURL,
        loop: EventLoop,
        threads: BlockingWork,
        isOfRequest: Bool = false
    ) {
        self.resolver = resolver
        self.name = name
        (scheme, port, isComplete) = (url.scheme, url.port, url.hasTrailingDot)
        self.loop = loop
        self.threads = threads
        self.isOfRequest = isOfRequest
    }

    func context(until end: Instant) -> ResolveContext {
        var context = ResolveContext(scheme, deadline: end, loop: loop, threads: threads)
        context.isComplete = isComplete
        return context
    }

    /// Returns the endpoints of an answer with all that the dialler needs.
    ///
    /// An answer without addresses is an error: it never means "ask another resolver".
    func selection(_ answer: Resolution) throws(ResolverError) -> EndpointSelection {
        guard !answer.endpoints.isEmpty else { throw ResolverError(resolver.name, .noAddresses) }
        for case let fault? in answer.endpoints.lazy.map(\.fault) {
            throw ResolverError(resolver.name, .address(fault))
        }
        var selection = EndpointSelection(answer.endpoints, port: port, answer.source)
        selection.isStrictlyOrdered = answer.isStrictlyOrdered
        selection.isOfRequest = isOfRequest
        // A client that may ask the system may have a request that may not.
        if isOfRequest, !resolver.mayAskSystem { selection.mayAskSystem = false }
        selection.isProvisional = answer.isProvisional
        selection.report = { endpoint, outcome in
            resolver.report(DialOutcome(outcome), of: endpoint, for: name, port: port)
        }
        selection.failures = answer.failures
        if let https = answer.https {
            selection.echConfig = { [port] in https.record(for: $0, port: port)?.encryptedClientHello }
        }
        if let ask = answer.fallback {
            selection.fallback = { await self.fallback(ask, until: $0, isForCallerAlone: $1) }
        }
        if let rest = answer.rest {
            selection.rest = {
                guard let more = await rest() else { return nil }
                // What is no endpoint does not stop those that are.
                return try? self.selection(more)
            }
        }
        return selection
    }

    /// Asks for the answer's fallback, and stops waiting for it at `end`.
    private func fallback(
        _ ask: @escaping @Sendable (ResolveContext) async throws -> Resolution?,
        until end: Instant,
        isForCallerAlone: Bool
    ) async -> Result<EndpointSelection?, TransportError.Reason> {
        do {
            var own = context(until: end)
            own.isForCallerAlone = isForCallerAlone
            let context = own
            return .success(try await resolver.fallback(ask, within: context).get().map(selection))
        } catch {
            // After a cancellation the dialler does not look at the reason.
            return .failure(.resolver(ResolverError(error, of: resolver.name)))
        }
    }
}
