internal import DirectIO

/// Where a proxy is asked to connect to.
enum ProxyTarget: Sendable {
    case host(Host, port: UInt16)
    /// An address chosen on this side.
    case address(IPAddress, port: UInt16)

    var port: UInt16 {
        switch self {
        case .host(_, let port), .address(_, let port): port
        }
    }

    /// The address, if it is one; a zone means nothing to the proxy.
    var address: IPAddress? {
        switch self {
        case .host(let host, _): host.address?.withoutZone
        case .address(let address, _): address.withoutZone
        }
    }

    /// Host and port as the request line of CONNECT has them, the port always (RFC 9110, section 9.3.6).
    var authority: [UInt8] {
        var text: [UInt8] = []
        if let address {
            address.appendAuthority(to: &text)
        } else if case .host(.name(let name), _) = self {
            text = name.bytes
        }
        return text + Array(":\(port)".utf8)
    }
}
