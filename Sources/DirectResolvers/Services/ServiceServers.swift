internal import DirectCore
public import DirectHTTP

/// The servers of a resolver, given by address, because a resolver cannot resolve the name of its own
/// servers.
///
/// At least one is needed. The first query fails if the list is empty or contains an invalid address.
public struct ServiceServers: Sendable {
    /// The servers, in the order in which they are tried at first.
    package let endpoints: [Endpoint]
    let scheme: HTTPURL.Scheme
    /// The name that the certificate must contain. `nil` stands for the server's address.
    let host: Result<HTTPHost, HTTPHostError>?

    /// Returns servers whose identity is verified with TLS.
    ///
    /// - Parameters:
    ///   - endpoints: The servers, in the order in which they are tried at first.
    ///   - name: The name that their certificates must contain. `nil` requires the server's address in its
    ///     certificate.
    public static func https(_ endpoints: [Endpoint], name: String? = nil) -> ServiceServers {
        ServiceServers(endpoints: endpoints, scheme: .https, host: name.map(Self.host))
    }

    /// Returns servers without TLS: anyone on the network path can read the queries and forge the answers.
    ///
    /// - Parameters:
    ///   - endpoints: The servers, in the order in which they are tried at first.
    ///   - name: The name in the `Host` field. `nil` sends the server's address.
    public static func insecureHTTP(_ endpoints: [Endpoint], name: String? = nil) -> ServiceServers {
        ServiceServers(endpoints: endpoints, scheme: .http, host: name.map(Self.host))
    }

    private static func host(_ name: String) -> Result<HTTPHost, HTTPHostError> {
        do throws(HTTPHostError) {
            return .success(try HTTPHost(name))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the URL of a target at a server. It contains the name of the servers if there is one,
    /// otherwise the address, and never the port that is dialled.
    func url(_ target: String, at endpoint: Endpoint) throws(ResolverError.Reason) -> HTTPURL {
        if let fault = endpoint.fault { throw .address(fault) }
        let host: HTTPHost
        switch self.host {
        case .success(let named): host = named
        case .failure(let fault): throw .refused("the servers' name is invalid: \(fault)")
        case nil: host = .address(endpoint.address.withoutZone)
        }
        let isV6 = host.address?.family == .v6
        let authority = isV6 ? "[\(host)]" : "\(host)"
        do throws(HTTPURLError) {
            return try HTTPURL("\(scheme.rawValue)://\(authority)\(target)")
        } catch {
            throw .refused("the servers have no URL: \(error)")
        }
    }
}

/// The settings for the communication of a resolver with its servers.
public struct ServiceSettings: Sendable {
    /// The address families to query.
    public enum Families: Hashable, Sendable {
        /// IPv4 and IPv6.
        case both
        /// IPv4 only.
        case v4
        /// IPv6 only.
        case v6
    }

    /// Whether HTTPS records (RFC 9460) are asked for beside the addresses, by the resolvers that use DNS.
    public enum HTTPSRecordQuery: Hashable, Sendable {
        /// They are not asked for.
        case off
        /// As soon as there are addresses, they are awaited for 50 ms at most, as Happy Eyeballs recommends.
        /// Those that come later count for the connections that are not begun then.
        case brief
        /// The addresses wait for them, until the time limit of one server ends: for programs that rather
        /// wait than connect without Encrypted Client Hello.
        case awaited
    }

    /// The address families to query.
    public var families = Families.both
    /// Whether HTTPS records are asked for, and how long an answer waits for them. They name other addresses
    /// and ports for an origin, and the configurations for Encrypted Client Hello.
    public var httpsRecords = HTTPSRecordQuery.off
    /// The TLS settings for servers with https.
    public var tls = TLSSettings()
    /// The time limit for the answer of one server. If the time for the question is too short for all servers
    /// that may be tried, each has an equal share of it, but at least a second.
    public var attemptTimeout: Duration = .seconds(3)
    /// The wait for IPv6 addresses and for HTTPS records once there are addresses: the Resolution Delay of
    /// Happy Eyeballs.
    package var resolutionDelay: Duration = .milliseconds(50)
    /// The maximum number of servers tried for one query.
    public var maximumAttempts = 3
    /// The time for which a failed server is tried only after the others.
    public var badServerTime: Duration = .seconds(60)
    /// The event loop that watches the sockets.
    public var loop = EventLoop.shared

    /// Creates the default settings.
    public init() {}
}
