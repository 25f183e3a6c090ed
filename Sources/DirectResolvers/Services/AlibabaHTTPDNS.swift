public import DirectHTTP
internal import DirectIO

/// Alibaba Cloud's HTTPDNS, in both versions of its interface.
///
///     let servers = ServiceServers.https(["203.107.1.1"])
///     let resolver = AlibabaHTTPDNS(account: "100000", secret: "…", servers)
///
/// Its servers are known by address, and their certificates name those.
public struct AlibabaHTTPDNS: Resolver {
    /// The interface.
    public enum Version: Hashable, Sendable {
        /// `/{account}/d`, signed with MD5 where there is a secret.
        case one
        /// `/v2/d`, signed with HMAC-SHA256.
        case two
    }

    private let client: ServiceClient

    /// A resolver that asks these servers for an account; with its `secret` the questions are signed, and
    /// `clientAddress` is whom the answers shall be near to, if not to whoever asks.
    public init(
        account: String,
        secret: String? = nil,
        _ servers: ServiceServers,
        version: Version = .one,
        clientAddress: IPAddress? = nil,
        _ settings: ServiceSettings = ServiceSettings()
    ) {
        let secret = secret.map(Secret.init)
        let format: any ServiceFormat =
            switch version {
            case .one: AlibabaOneFormat(account: account, secret: secret, clientAddress: clientAddress)
            case .two: AlibabaTwoFormat(account: account, secret: secret, clientAddress: clientAddress)
            }
        client = ServiceClient(format, servers, settings)
    }

    public var name: String { client.name }
    public var dependsOnPort: Bool { false }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        try await client.resolve(host, context)
    }

    public func forgetAll() {
        client.forgetAll()
    }
}

extension ServiceSettings.Families {
    /// As the service writes them.
    var asAlibabaQuery: String {
        switch self {
        case .both: "4,6"
        case .v4: "4"
        case .v6: "6"
        }
    }
}

extension AlibabaHTTPDNS: CustomStringConvertible, CustomReflectable {
    /// The name; never account and secret.
    public var description: String { name }
    /// Never shows account and secret, not to `dump` either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
