public import DirectHTTP

/// Where a resolver's servers are: at addresses, for a resolver cannot resolve itself.
///
/// There have to be some. An empty list, like a literal that is no address, is reported by the first question.
public struct ServiceServers: Sendable {
    /// The servers, in the order in which they are tried at first.
    public let endpoints: [Endpoint]
    let scheme: HTTPURL.Scheme
    /// Whom the certificate has to name; if nobody, the address itself.
    let host: Result<Host, HostFault>?

    /// Servers that prove who they are: by this name, or without one by their address.
    public static func https(_ endpoints: [Endpoint], name: String? = nil) -> ServiceServers {
        ServiceServers(endpoints: endpoints, scheme: .https, host: name.map(Self.host))
    }

    /// Servers that anybody on the way can pretend to be, and whose questions everybody can read.
    public static func insecureHTTP(_ endpoints: [Endpoint], name: String? = nil) -> ServiceServers {
        ServiceServers(endpoints: endpoints, scheme: .http, host: name.map(Self.host))
    }

    private static func host(_ name: String) -> Result<Host, HostFault> {
        do throws(HostFault) {
            return .success(try Host(name))
        } catch {
            return .failure(error)
        }
    }

    /// The URL of a target at a server: of its name, if it has one, and never with the port that is dialled.
    func url(_ target: String, at endpoint: Endpoint) throws(ResolverError.Reason) -> HTTPURL {
        if let fault = endpoint.fault { throw .address(fault) }
        let host: Host
        switch self.host {
        case .success(let named): host = named
        case .failure(let fault): throw .refused("the servers' name is none: \(fault)")
        case nil: host = .address(endpoint.address.withoutZone)
        }
        let isV6 = host.address?.family == .v6
        let authority = isV6 ? "[\(host)]" : "\(host)"
        do throws(URLFault) {
            return try HTTPURL("\(scheme.rawValue)://\(authority)\(target)")
        } catch {
            throw .refused("the servers have no URL: \(error)")
        }
    }
}

/// How a resolver talks to its servers.
public struct ServiceSettings: Sendable {
    /// Which addresses are asked for.
    public enum Families: Hashable, Sendable {
        case both
        case v4
        case v6
    }

    /// Which addresses are asked for.
    public var families = Families.both
    /// Whom to trust, when the servers speak https.
    public var tls = TLSSettings()
    /// How long one server may take to answer.
    public var attemptTimeout: Duration = .seconds(3)
    /// How long, where one family's addresses are there, the other's are waited for at least: as long again as the
    /// first took, if that is longer.
    public var otherFamilyTime: Duration = .milliseconds(100)
    /// How many servers are tried for one question.
    public var maximumAttempts = 3
    /// How long a server that has failed stands behind the others.
    public var badServerTime: Duration = .seconds(60)
    /// The thread that watches the sockets.
    public var loop = EventLoop.shared

    /// The defaults.
    public init() {}
}
