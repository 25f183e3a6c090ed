internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// A resolver that asks the servers of a service in order, until one gives an answer, and publishes what it
/// knows.
protocol ServiceResolver: PublishingResolver {
    var client: ServiceClient { get }
}

extension ServiceResolver {
    /// The name of the service in errors and transactions.
    public var name: String { client.name }

    /// Whether HTTPS records are asked for: an origin has those of its port. Addresses are the same for all.
    public var dependsOnPort: Bool {
        client.format is any RecordFormat && client.settings.httpsRecords != .off
    }

    /// Returns all addresses of a name.
    public func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution
    {
        try await wholeAnswer(host, port: port, context: context)
    }

    package func publish(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await client.publish(host, port: port, context: context)
    }

    /// Forgets which servers failed, and closes the connections to them: idle ones now, busy ones when they
    /// are free.
    public func forgetAll() { client.forgetAll() }

    /// The name of the service. The account and the secret are never included.
    public var description: String { name }

    /// An empty mirror, so that `dump` shows neither the account nor the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
