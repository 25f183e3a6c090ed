internal import CDirectOpenSSL

/// The parameters that a handshake negotiated.
public struct TLSFacts: Hashable, Sendable {
    /// The TLS version.
    public let version: TLSVersion
    /// Whether OpenSSL's configuration file demands a newer version: ``TLSSettings/minimumVersion`` allowed
    /// this one.
    public let isBelowSystemMinimum: Bool
    /// The cipher suite's IANA name, such as `TLS_AES_256_GCM_SHA384`.
    public let cipher: String
    /// The group of the key exchange, such as `X25519`; `nil` if OpenSSL does not report one.
    public let group: String?
    /// The protocol that the server chose by ALPN; `nil` if it chose none.
    public let alpn: String?
    /// Whether an earlier session was resumed.
    public let resumed: Bool
    /// The name or the address that the server's certificate has proved; `nil` if a fault was accepted.
    public let verifiedName: String?
    /// The status in the server's OCSP staple; on a resumed session, that of its first handshake.
    public let stapledStatus: StapledStatus
    /// Whether the server name was encrypted.
    public let encryptedClientHello: EncryptedClientHello.Outcome
    /// All faults of the server's chain, each of which ``TLSSettings/insecureOverride`` has accepted. Empty
    /// if there was none; otherwise the certificate proves nothing.
    public let acceptedFaults: [TLSError]
    /// The verified chain, or what the server sent if its faults were accepted.
    package let chain: CertificateChain?

    /// The server's certificate: its names, dates, issuer, and the bytes themselves. Parsed at each call.
    public var certificate: CertificateSummary? { chain?.first }

    /// The verified chain, from the server's certificate to a root; on a resumed session, that of its first
    /// handshake. After accepted faults, the certificates that the server sent. Parsed at each call.
    public var certificates: [CertificateSummary] { chain?.summaries ?? [] }
}

extension TLSFacts: CustomStringConvertible {
    /// The version, cipher and group, and whether a session was resumed.
    public var description: String {
        var words = [version.description, cipher]
        if let group { words.append(group) }
        if resumed { words.append("resumed") }
        if encryptedClientHello != .off { words.append("encrypted client hello \(encryptedClientHello)") }
        if !acceptedFaults.isEmpty {
            words.append("accepted in spite of: \(acceptedFaults.map(\.description).joined(separator: "; "))")
        }
        if isBelowSystemMinimum { words.append("older than the system's minimum") }
        return words.joined(separator: ", ")
    }
}

extension TLSConnection {
    /// The parameters that the handshake negotiated. Created at each call.
    package var facts: TLSFacts {
        TLSFacts(
            version: SSL_version(ssl) >= TLS1_3_VERSION ? .tls13 : .tls12,
            isBelowSystemMinimum: SSL_version(ssl) < context.systemMinimum,
            cipher: cipher,
            group: group,
            alpn: chosenProtocol,
            resumed: SSL_session_reused(ssl) == 1,
            verifiedName: overruled.isEmpty ? identity.text : nil,
            stapledStatus: proof.stapledStatus,
            encryptedClientHello: ech?.outcome ?? .off,
            acceptedFaults: overruled,
            chain: proof.chain
        )
    }

    /// The certificates that the server sent, its own first, after a handshake that failed because of them.
    package var presentedChain: CertificateChain? {
        rejection?.certificates ?? CertificateChain(SSL_get_peer_cert_chain(ssl))
    }
}
