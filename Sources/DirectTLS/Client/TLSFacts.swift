internal import CDirectOpenSSL

/// The parameters that a handshake negotiated.
public struct TLSFacts: Hashable, Sendable {
    /// The TLS version.
    public let version: TLSVersion
    /// The cipher suite's IANA name, such as `TLS_AES_256_GCM_SHA384`.
    public let cipher: String
    /// The group of the key exchange, such as `X25519`; `nil` if OpenSSL does not report one.
    public let group: String?
    /// The protocol that the server chose by ALPN; `nil` if it chose none.
    public let alpn: String?
    /// Whether an earlier session was resumed.
    public let resumed: Bool
    /// The name or the address that the server's certificate has proved.
    public let verifiedName: String
    let peer: PeerCertificate?

    /// The server's certificate: its names, dates, issuer, and the bytes themselves. Parsed at each call.
    public var certificate: CertificateSummary? { peer?.summary }
}

extension TLSFacts: CustomStringConvertible {
    /// The version, cipher and group, and whether a session was resumed.
    public var description: String {
        var words = [version.description, cipher]
        if let group { words.append(group) }
        if resumed { words.append("resumed") }
        return words.joined(separator: ", ")
    }
}

extension TLSConnection {
    /// The parameters that the handshake negotiated. Created at each call.
    package var facts: TLSFacts {
        TLSFacts(
            version: SSL_version(ssl) >= TLS1_3_VERSION ? .tls13 : .tls12,
            cipher: driver.cipher,
            group: driver.group,
            alpn: driver.chosenProtocol,
            resumed: SSL_session_reused(ssl) == 1,
            verifiedName: identity.text,
            peer: SSL_get0_peer_certificate(ssl).map(PeerCertificate.init)
        )
    }

    /// The certificates that the server sent, its own first, also after a handshake that failed because of them. Read
    /// and copied at each call.
    package var certificates: [CertificateSummary] {
        summaries(rejection?.chain ?? SSL_get_peer_cert_chain(ssl))
    }

    /// The verified chain, from the server's certificate to a root. Empty after a failed handshake, and on a resumed
    /// session, for which no chain was built.
    package var verifiedCertificates: [CertificateSummary] {
        rejection == nil ? summaries(SSL_get0_verified_chain(ssl)) : []
    }

    /// Borrows the stack.
    private func summaries(_ stack: OpaquePointer?) -> [CertificateSummary] {
        guard let stack else { return [] }
        return (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
            OPENSSL_sk_value(stack, index).map { CertificateSummary(OpaquePointer($0)) }
        }
    }
}
