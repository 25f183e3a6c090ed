internal import DirectCore
public import DirectHTTP
package import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

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

extension HTTPClient {
    /// Makes a class for `URLSessionConfiguration.protocolClasses` whose requests this client sends.
    ///
    /// Each call makes another class, which keeps the client for as long as the process lives: make one for
    /// each client, not one for each session.
    ///
    /// - Parameter hosts: The hosts whose requests the client sends; `nil` for all hosts. On Linux the first
    ///   request of a task decides, and its redirects stay with who has sent it.
    /// - Parameter schemes: The schemes whose requests the client sends.
    public func urlProtocolClass(
        hosts: [HostPattern]? = nil,
        schemes: Set<HTTPURL.Scheme> = [.http, .https]
    ) -> DirectURLProtocol.Type {
        bindings.withLock { bindings in
            let made = boundClass(number: bindings.count)
            bindings[ObjectIdentifier(made)] = URLProtocolBinding(self, hosts: hosts, schemes: schemes)
            return made
        }
    }
}

/// The bindings of the classes that were made at run time.
private let bindings = Locked<[ObjectIdentifier: URLProtocolBinding]>([:])

/// A class for each type argument.
///
/// A session creates the objects of a `URLProtocol` itself and does not tell them its configuration: only the
/// class distinguishes the bindings. Without Objective-C no class can be allocated at run time, but Swift
/// makes a new one for each new argument of a generic class. Here the argument is a number in binary
/// notation, written as a type.
private final class BoundURLProtocol<Number>: DirectURLProtocol {
    override class var binding: URLProtocolBinding {
        bindings.withLock { $0[ObjectIdentifier(self)] } ?? super.binding
    }
}

private func boundClass(number: Int) -> DirectURLProtocol.Type {
    func digits<Number>(_ rest: Int, _: Number.Type) -> DirectURLProtocol.Type {
        guard rest > 0 else { return BoundURLProtocol<Number>.self }
        return rest.isMultiple(of: 2)
            ? digits(rest / 2, BinaryZero<Number>.self) : digits(rest / 2, BinaryOne<Number>.self)
    }
    return digits(number, Void.self)
}

/// The binary digit 0 after the digits of `Rest`.
private enum BinaryZero<Rest> {}
/// The binary digit 1 after the digits of `Rest`.
private enum BinaryOne<Rest> {}
