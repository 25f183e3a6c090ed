internal import DirectCore

/// The target of a request: a host as the program names it, and a port. It has no address.
struct Target: Sendable {
    /// The host and the port, as a URL without path, for dialling and for resolvers.
    let url: HTTPURL

    init(_ url: HTTPURL) {
        self.url = url
    }

    /// Reads the authority of a CONNECT request (RFC 9112, section 3.2.3): `host:port`, IPv6 in brackets,
    /// and nothing else. `nil` for anything else, a port of 0 included.
    ///
    /// - Parameter defaultPort: The port of an authority without one; `nil` if there has to be one.
    init?(authority: [UInt8], defaultPort: UInt16? = nil) {
        let afterBracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? 0
        if let defaultPort, !authority[afterBracket...].contains(UInt8(ascii: ":")) {
            self.init(host: authority, port: defaultPort)
            return
        }
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), colon > 0,
            let port = Self.port(authority[(colon + 1)...])
        else { return nil }
        self.init(host: Array(authority[..<colon]), port: port)
    }

    /// Makes a target of a host in the syntax of URLs.
    init?(host: [UInt8], port: UInt16) {
        let text = Array("http://".utf8) + host + Array(":\(port)/".utf8)
        guard port > 0, host.allSatisfy({ !Self.strange.contains($0) && $0 > 0x20 && $0 < 0x7F }),
            let url = try? text.withSpan({ text throws(HTTPURLError) in try HTTPURL(utf8: text) }),
            !url.hasCredentials, url.port == port
        else { return nil }
        self.url = url
    }

    /// Makes a target of an address.
    init?(_ address: IPAddress, port: UInt16) {
        let text = address.family == .v6 ? "[\(address.withoutZone)]" : "\(address)"
        self.init(host: Array(text.utf8), port: port)
    }

    var host: HTTPHost { url.host }
    var port: UInt16 { url.port }

    /// The characters that end a host in a URL, or would be dropped from it.
    private static let strange = Array("/?#@\\%".utf8)

    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }
}

extension Target: CustomStringConvertible {
    /// The host and the port, as a CONNECT line has them.
    var description: String {
        host.address?.family == .v6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
