internal import DirectCore
internal import DirectIO

/// The host or address that a proxy is asked to connect to.
enum ProxyTarget: Sendable {
    /// A host that the proxy resolves if it is a name.
    case host(HTTPHost, port: UInt16)
    /// An address that was chosen on this side.
    case address(IPAddress, port: UInt16)

    var port: UInt16 {
        switch self {
        case .host(_, let port), .address(_, let port): port
        }
    }

    /// The address, without its zone, which means nothing to the proxy; `nil` for a name.
    var address: IPAddress? {
        switch self {
        case .host(let host, _): host.address?.withoutZone
        case .address(let address, _): address.withoutZone
        }
    }

    /// The host and port in the form of the request line of `CONNECT`, always with the port (RFC 9110,
    /// section 9.3.6).
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
