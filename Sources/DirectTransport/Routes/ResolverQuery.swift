package import DirectCore
internal import DirectIO
package import DirectLookup

/// A query to a resolver. It translates the resolver's answers into the dialler's terms.
package final class ResolverQuery: Sendable {
    package let resolver: any Resolver
    private let name: DomainName
    private let port: UInt16
    /// The context of the request, without a deadline.
    private let context: ResolveContext
    /// Whether the request has brought the resolver along.
    private let isOfRequest: Bool
    /// Returns the failure of dialling an endpoint as the resolver is told of it.
    private let failure: @Sendable (TransportError) -> any Error

    /// - Parameters:
    ///   - context: What the resolver is told of the request; its deadline is set by each call.
    ///   - failure: Returns the failure of dialling an endpoint as the resolver is told of it.
    package init(
        _ resolver: any Resolver,
        for name: DomainName,
        port: UInt16,
        context: ResolveContext,
        isOfRequest: Bool = false,
        failure: @escaping @Sendable (TransportError) -> any Error
    ) {
        self.resolver = resolver
        self.name = name
        self.port = port
        self.context = context
        self.isOfRequest = isOfRequest
        self.failure = failure
    }

    private var loop: EventLoop { context.loop }

    /// Returns the answer that the resolver has at hand, as a route; `nil` if it has none.
    package func knownRoute() throws(DialFailure) -> Route? {
        do throws(ResolverError) {
            let context = context(until: .never)
            guard let answer = try resolver.knownAnswer(for: name, port: port, context: context) else {
                return nil
            }
            return .chosen(try selection(answer))
        } catch {
            throw DialFailure(cause: .failed(.resolve, .resolver(error)))
        }
    }

    /// Asks the resolver for the route, and waits for it within the limits of the call.
    package func route(within limit: CallLimit) async throws(DialFailure) -> Route {
        let start = loop.now
        let deadline = limit.deadline(.resolve, from: start)
        let context = context(until: deadline.instant)
        let answer: Resolution
        do throws(ForeignFailure) {
            answer = try await askForeignCode(until: context.deadline, on: loop, executor: context.threads) {
                try await self.resolver.firstAnswer(self.name, port: self.port, context: context)
            }
        } catch {
            switch error {
            case .silent: throw DialFailure(cause: deadline.timeout)
            case .cancelled: throw DialFailure(cause: .cancelled)
            case .threw(let error):
                let error = ResolverError(error, of: resolver.name)
                throw DialFailure(cause: .failed(.resolve, .resolver(error)))
            }
        }
        do throws(ResolverError) {
            var selection = try selection(answer)
            selection.resolveTime = loop.now.since(start)
            return .chosen(selection)
        } catch {
            throw DialFailure(cause: .failed(.resolve, .resolver(error)))
        }
    }

    private func context(until end: Instant) -> ResolveContext {
        var context = context
        context.deadline = end
        return context
    }

    /// Returns the endpoints of an answer with all that the dialler needs.
    ///
    /// An answer without addresses is an error: it never means "ask another resolver".
    private func selection(_ answer: Resolution) throws(ResolverError) -> EndpointSelection {
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
        selection.report = { [resolver, name, port, failure] endpoint, outcome in
            resolver.report(outcome.told(failure), of: endpoint, for: name, port: port)
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

extension DialReport {
    fileprivate func told(_ failure: (TransportError) -> any Error) -> Result<Duration, any Error> {
        switch self {
        case .connected(let time): .success(time)
        case .failed(let phase, let reason): .failure(failure(.failed(phase, reason)))
        }
    }
}
