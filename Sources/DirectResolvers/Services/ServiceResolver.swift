internal import DirectHTTP

/// A resolver that asks a service, which publishes what it knows.
protocol ServiceResolver: PublishingResolver {
    var client: ServiceClient { get }
}

extension ServiceResolver {
    package func publish(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await client.publish(host, port: port, context: context)
    }
}
