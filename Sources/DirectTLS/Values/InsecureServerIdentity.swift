public import DirectCore

/// An identity for a server that is not the host of its URL: another host that its certificate has to prove,
/// and another name to send as SNI.
///
/// What is given up: the certificate no longer proves the host of the URL. `Host`, cookies and the place of
/// the connection still follow the URL, so whoever holds a certificate for ``verified`` receives what is
/// meant for the URL's host. It is made of hosts and names, never of an address that is dialled.
public struct InsecureServerIdentity: Hashable, Sendable {
    /// The server name that the client sends (RFC 6066, section 3).
    public enum ServerName: Hashable, Sendable {
        /// The verified host, if it is a name; none if it is an address.
        case verifiedHost
        /// This name.
        case name(DomainName)
        /// No name.
        case none
    }

    /// The host that the certificate has to prove, in place of the URL's.
    public var verified: HTTPHost
    /// The server name to send.
    public var serverName: ServerName

    /// Makes an identity.
    public init(verified: HTTPHost, serverName: ServerName = .verifiedHost) {
        self.verified = verified
        self.serverName = serverName
    }

    /// The server name to send; `nil` for none.
    package var sentName: String? {
        switch serverName {
        case .verifiedHost: verified.name?.text
        case .name(let name): name.text
        case .none: nil
        }
    }
}
