public import DirectHTTP
public import Foundation

/// Which client carries which requests of a session.
public struct URLProtocolBinding: Sendable {
    /// Carries them.
    public var client: HTTPClient
    /// The hosts whose requests it carries; nothing for all.
    public var hosts: [HostPattern]?
    /// The schemes whose requests it carries.
    public var schemes: Set<HTTPURL.Scheme>

    /// Carries the requests to these hosts with these schemes.
    public init(
        _ client: HTTPClient,
        hosts: [HostPattern]? = nil,
        schemes: Set<HTTPURL.Scheme> = [.http, .https]
    ) {
        self.client = client
        self.hosts = hosts
        self.schemes = schemes
    }

    /// Whether a request to this URL is one to carry.
    ///
    /// A URL that our parser refuses counts by what Foundation reads in it: it is to fail with us, rather than to go
    /// out on another way under a host that two parsers do not agree on.
    public func accepts(_ url: URL) -> Bool {
        if let own = try? HTTPURL(url) { return schemes.contains(own.scheme) && accepts(own.host) }
        guard let scheme = url.scheme.map({ $0.lowercased() }).flatMap(HTTPURL.Scheme.init) else {
            return false
        }
        guard schemes.contains(scheme) else { return false }
        guard hosts != nil, let text = url.host else { return true }
        return (try? DirectHTTP.Host(text)).map { accepts($0) } ?? false
    }

    private func accepts(_ host: DirectHTTP.Host) -> Bool {
        hosts?.contains { $0.matches(host) } ?? true
    }
}

extension HostPattern {
    fileprivate func matches(_ host: DirectHTTP.Host) -> Bool {
        switch self {
        case .host(let own): own == host
        case .subdomains(let name): host.description.hasSuffix(".\(name)")
        case .any: true
        }
    }
}
