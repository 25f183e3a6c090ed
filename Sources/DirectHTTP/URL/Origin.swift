internal import DirectIO

/// Scheme, host and port: what credentials, connections and cookies belong to (RFC 9110, section 4.3.1).
///
/// The host has no trailing dot here, so `https://example.com./` and `https://example.com/` are one
/// origin. The hash is computed once, when the URL is read; look-ups by origin cost a comparison.
public struct Origin: Hashable, Sendable {
    /// The scheme.
    public let scheme: HTTPURL.Scheme
    /// The host, without trailing dot.
    public let host: Host
    /// The port, also where the URL leaves the default one out.
    public let port: UInt16

    private let storedHash: Int

    /// Joins the three.
    public init(scheme: HTTPURL.Scheme, host: Host, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
        var hasher = Hasher()
        hasher.combine(UInt32(port) << 1 | (scheme == .https ? 1 : 0))
        hasher.combine(host)
        storedHash = hasher.finalize()
    }

    public static func == (left: Origin, right: Origin) -> Bool {
        left.storedHash == right.storedHash && left.port == right.port && left.scheme == right.scheme
            && left.host == right.host
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(storedHash)
    }
}

extension Origin: CustomStringConvertible {
    /// The origin as a URL without path: `https://example.com:8443`.
    public var description: String {
        "\(scheme.rawValue)://" + String(decoding: authorityBytes, as: UTF8.self)
    }

    /// What stands in `Host` and in the URL: brackets around IPv6, no zone, no default port.
    var authorityBytes: [UInt8] {
        var bytes: [UInt8] = []
        switch host {
        case .name(let name): bytes += name.utf8
        case .address(let address): address.appendAuthority(to: &bytes)
        }
        if port != scheme.defaultPort {
            bytes.append(UInt8(ascii: ":"))
            bytes += String(port).utf8
        }
        return bytes
    }
}

extension IPAddress {
    /// Appends the address as it stands in an authority: IPv6 in brackets, and without zone, which
    /// means nothing to the server (RFC 6874, section 4).
    func appendAuthority(to bytes: inout [UInt8]) {
        guard family == .v6 else { return appendText(to: &bytes) }
        bytes.append(UInt8(ascii: "["))
        appendText(to: &bytes)
        bytes.append(UInt8(ascii: "]"))
    }
}
