internal import DirectCore
public import DirectHTTP
internal import DirectIO

/// A resolver that uses Alibaba Cloud's HTTPDNS, in either version of its interface.
///
///     let servers = ServiceServers.https(["203.107.1.1"])
///     let resolver = AlibabaHTTPDNS(account: "100000", secret: "…", servers)
///
/// The service's servers are published as addresses, and their certificates contain these addresses.
public struct AlibabaHTTPDNS: Resolver, ServiceResolver, CustomStringConvertible, CustomReflectable {
    /// The versions of the interface.
    public enum Version: Hashable, Sendable {
        /// `/{account}/d`, or `/{account}/sign_d` signed with MD5 if there is a secret.
        case one
        /// `/v2/d`, signed with HMAC-SHA256 if there is a secret.
        case two
    }

    let client: ServiceClient

    /// Creates a resolver that queries these servers.
    ///
    /// - Parameters:
    ///   - account: The ID of the account.
    ///   - secret: The account's key, with which queries are signed. `nil` sends them unsigned.
    ///   - servers: The servers, usually ``ServiceServers/https(_:name:)`` without a name.
    ///   - version: The version of the interface.
    ///   - clientAddress: The client address for which the service chooses its answers. `nil` lets the
    ///     service use the address that the query comes from.
    ///   - sdns: The parameters of custom resolution (SDNS), without the prefix `sdns-`. All queries of this
    ///     resolver have them; use another resolver, with a cache of its own, for other parameters.
    ///   - interval: The time after which the service is asked for its servers again (`/ss`); the service
    ///     recommends 8 hours. `servers` are then the ones to start with: they are asked at first, after
    ///     `forgetAll()`, and when the others fail. `nil` keeps to `servers`.
    ///   - settings: Time limits, TLS and address families.
    public init(
        account: String,
        secret: String? = nil,
        _ servers: ServiceServers,
        version: Version = .one,
        clientAddress: IPAddress? = nil,
        sdns: [String: String] = [:],
        updatingServersEvery interval: Duration? = nil,
        _ settings: ServiceSettings = ServiceSettings()
    ) {
        let secret = secret.map(Secret.init)
        let sdns = SDNSParameters(values: sdns)
        let format: any ServiceFormat =
            switch version {
            case .one:
                AlibabaOneFormat(account: account, secret: secret, clientAddress: clientAddress, custom: sdns)
            case .two:
                AlibabaTwoFormat(account: account, secret: secret, clientAddress: clientAddress, custom: sdns)
            }
        client = ServiceClient(format, servers, settings, updateInterval: interval)
    }

    /// The servers, in the order in which they were given or in which the service named them.
    public var servers: [Endpoint] { client.endpoints }

    /// Queries the servers for several names, up to five in one request.
    public func resolve(_ hosts: [DomainName], port: UInt16, context: ResolveContext) async
        -> [DomainName: Result<Resolution, any Error>]
    {
        await client.resolve(hosts, context: context)
    }
}

extension ServiceSettings.Families {
    /// The families as the value of the service's query parameter.
    var asAlibabaQuery: String {
        switch self {
        case .both: "4,6"
        case .v4: "4"
        case .v6: "6"
        }
    }
}
