package import DirectCore

/// The reference identity that the server's certificate must match (RFC 9525): a DNS name, or an IP
/// address if the URL has an IP literal.
///
/// It comes from the URL alone. The address of the connection has no influence on it.
package struct ServerIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The kind of identity.
    package enum Kind: Hashable, Sendable {
        /// Matched against dNSName entries, and sent as SNI.
        case name
        /// Matched against iPAddress entries, and never sent as SNI (RFC 6066, section 3).
        case address
    }

    /// Whether this is a name or an address.
    package let kind: Kind
    /// A name of A-labels in lower case, or an address in canonical form.
    package let text: String

    /// The name or address.
    package var description: String { text }

    /// Creates the identity that a URL's host asks for: its name, or its address without a zone, which is
    /// this machine's own and in no certificate.
    package init(of host: HTTPHost) {
        switch host {
        case .name(let name): self.init(kind: .name, text: name.text)
        case .address(let address): self.init(kind: .address, text: address.withoutZone.description)
        }
    }

    private init(kind: Kind, text: String) {
        (self.kind, self.text) = (kind, text)
    }

    /// Creates the identity of a DNS name in ASCII, without a trailing dot. Letters are converted to lower
    /// case.
    ///
    /// The name is parsed here, because OpenSSL does not do that: an empty name turns OpenSSL's check off,
    /// and one with a leading dot matches any subdomain.
    package static func name(_ text: String) throws(TLSError) -> ServerIdentity {
        do throws(HTTPHostError) {
            return ServerIdentity(kind: .name, text: try DomainName(text).text)
        } catch {
            throw .uncheckableHost("not a DNS name: \"\(printable(text))\"")
        }
    }

    /// Creates the identity of an IPv4 or IPv6 address in text, without brackets and without a zone.
    package static func address(_ text: String) throws(TLSError) -> ServerIdentity {
        guard let address = IPAddress(text), address.zone == nil else {
            throw .uncheckableHost("not an IP address: \"\(printable(text))\"")
        }
        return ServerIdentity(kind: .address, text: address.description)
    }
}
