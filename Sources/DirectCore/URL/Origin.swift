/// Scheme, host and port: the scope of credentials, connections and cookies (RFC 9110, section 4.3.1).
///
/// The host has no trailing dot, so `https://example.com./` and `https://example.com/` have the same origin.
/// The hash is computed once, when the URL is parsed; a look-up by origin costs one comparison.
public struct Origin: Hashable, Sendable {
    /// The scheme.
    public let scheme: HTTPURL.Scheme
    /// The port, even if the URL omits it because it is the default port.
    public let port: UInt16
    /// The host, without trailing dot.
    public let host: HTTPHost

    private let storedHash: UInt64

    /// Creates an origin.
    package init(scheme: HTTPURL.Scheme, host: consuming HTTPHost, port: UInt16) {
        storedHash = Self.hash(scheme, host: host, port: port)
        self.scheme = scheme
        self.port = port
        self.host = host
    }

    /// Whether scheme, host and port are the same.
    public static func == (left: Origin, right: Origin) -> Bool {
        left.storedHash == right.storedHash && left.port == right.port && left.scheme == right.scheme
            && left.host == right.host
    }

    /// Hashes scheme, host and port.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storedHash)
    }

    private static func hash(_ scheme: HTTPURL.Scheme, host: borrowing HTTPHost, port: UInt16) -> UInt64 {
        var hash = FoldedHash()
        hash.fold(UInt64(port) << 1 | (scheme == .https ? 1 : 0))
        hash.fold(host)
        return hash.value
    }
}

extension Origin {
    /// The host and the port as `Host` contains them, without the default port.
    package var authorityBytes: [UInt8] {
        var bytes: [UInt8] = []
        switch host {
        case .name(let name): bytes = name.bytes
        case .address(let address): address.appendAuthority(to: &bytes)
        }
        if port != scheme.defaultPort { bytes += ":\(port)".utf8 }
        return bytes
    }
}

extension Origin: CustomStringConvertible {
    /// The origin as a URL without a path: `https://example.com:8443`.
    public var description: String {
        "\(scheme.rawValue)://\(String(decoding: authorityBytes, as: UTF8.self))"
    }
}
