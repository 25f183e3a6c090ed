package import DirectCore
internal import DirectIO
internal import DirectTLS

/// The server that a connection is for: the name decides everything except the address that is dialled.
package struct Destination: Hashable, Sendable {
    package let host: HTTPHost
    package let port: UInt16
    package let isSecure: Bool

    package init(host: HTTPHost, port: UInt16, isSecure: Bool) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }

    package init(_ url: HTTPURL) {
        self.init(host: url.host, port: url.port, isSecure: url.scheme == .https)
    }
}

extension HTTPHost {
    /// The identity that the server's certificate must prove. The dialled address has no part in it.
    var serverIdentity: ServerIdentity {
        get throws(TLSError) {
            switch self {
            case .name(let name): try .name(name.description)
            case .address(let address): try .address(address.withoutZone.description)
            }
        }
    }
}
