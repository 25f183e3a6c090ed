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
    /// - Parameter mayOmitPort: Whether an authority without a port has that of `http`.
    init?(authority: [UInt8], mayOmitPort: Bool = false) {
        let colon = UInt8(ascii: ":")
        let afterBracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? 0
        let text = Array("http://".utf8) + authority + [UInt8(ascii: "/")]
        guard mayOmitPort || authority[afterBracket...].contains(colon), authority.last != colon,
            authority.allSatisfy({ !Self.strange.contains($0) && $0 > 0x20 && $0 < 0x7F }),
            let url = try? text.withSpan({ text throws(HTTPURLError) in try HTTPURL(utf8: text) }),
            url.port > 0
        else { return nil }
        self.url = url
    }

    /// Makes a target of an address.
    init?(_ address: IPAddress, port: UInt16) {
        var authority: [UInt8] = []
        address.withoutZone.appendAuthority(to: &authority)
        self.init(authority: authority + Array(":\(port)".utf8))
    }

    var host: HTTPHost { url.host }
    var port: UInt16 { url.port }

    /// The characters that end a host in a URL, or the user before it, or would be dropped from it.
    private static let strange = Array("/?#@\\%".utf8)
}

extension Target: CustomStringConvertible {
    /// The host and the port, as a CONNECT line has them.
    var description: String {
        host.address?.family == .v6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
