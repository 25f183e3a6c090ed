internal import DirectCore
public import DirectHTTP
package import Foundation

/// The client for a session's requests, and the hosts and schemes that it sends requests for.
public struct URLProtocolBinding: Sendable {
    /// The client that sends the requests.
    public var client: HTTPClient
    /// The hosts whose requests it sends; `nil` for all hosts.
    public var hosts: [HostPattern]?
    /// The schemes whose requests it sends.
    public var schemes: Set<HTTPURL.Scheme>

    /// Binds the requests to these hosts with these schemes to a client.
    public init(
        _ client: HTTPClient,
        hosts: [HostPattern]? = nil,
        schemes: Set<HTTPURL.Scheme> = [.http, .https]
    ) {
        self.client = client
        self.hosts = hosts
        self.schemes = schemes
    }

    /// Whether the client sends a request to this URL.
    ///
    /// For a URL that this package's parser refuses, Foundation's view of it decides: the request has to fail
    /// here, instead of being sent by another protocol class to a host on which two parsers disagree.
    package func accepts(_ url: URL) -> Bool {
        if let own = try? HTTPURL(url) { return schemes.contains(own.scheme) && accepts(own.host) }
        guard let scheme = url.scheme.map({ $0.lowercased() }).flatMap(HTTPURL.Scheme.init) else {
            return false
        }
        guard schemes.contains(scheme) else { return false }
        guard hosts != nil, let text = url.host else { return true }
        return (try? DirectHTTP.HTTPHost(text)).map { accepts($0) } ?? false
    }

    private func accepts(_ host: DirectHTTP.HTTPHost) -> Bool {
        hosts?.contains { $0.matches(host) } ?? true
    }
}

extension HostPattern {
    /// Whether the pattern covers the host.
    fileprivate func matches(_ host: DirectHTTP.HTTPHost) -> Bool {
        switch self {
        case .host(let own): own == host
        case .subdomains(let name): host.description.hasSuffix(".\(name)")
        case .any: true
        }
    }
}
