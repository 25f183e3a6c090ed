/// The security layer of a fixture server.
public enum FixtureSecurity: Sendable {
    /// Plain TCP.
    case plain
    /// TLS with these settings.
    case tls(FixtureTLSSettings)

    /// Returns TLS with certificates chosen by SNI.
    ///
    /// - Parameter certificates: The certificates to choose from.
    /// - Parameter defaultCertificate: The certificate for unknown names and for clients without SNI. `nil`
    ///   uses the first of `certificates`.
    /// - Parameter configure: Changes the other settings.
    public static func tls(
        certificates: [FixtureCertificate],
        default defaultCertificate: FixtureCertificate? = nil,
        _ configure: (inout FixtureTLSSettings) -> Void = { _ in }
    ) -> FixtureSecurity {
        var settings = FixtureTLSSettings(certificates: certificates, default: defaultCertificate)
        configure(&settings)
        return .tls(settings)
    }

    /// Returns TLS with one certificate for every client.
    public static func tls(
        _ certificate: FixtureCertificate,
        _ configure: (inout FixtureTLSSettings) -> Void = { _ in }
    ) -> FixtureSecurity {
        tls(certificates: [certificate], configure)
    }
}

/// The TLS settings of a fixture server.
public struct FixtureTLSSettings: Sendable {
    /// A TLS version, by its number on the wire. `allCases` lists the oldest first.
    public enum Version: Int32, Sendable, CaseIterable {
        /// TLS 1.0.
        case tls10 = 0x0301
        /// TLS 1.1.
        case tls11 = 0x0302
        /// TLS 1.2.
        case tls12 = 0x0303
        /// TLS 1.3.
        case tls13 = 0x0304
    }

    /// The answer to a client whose server name no certificate covers, or that sends no name.
    public enum Answer: Sendable, Equatable {
        /// The handshake continues with the default certificate.
        case defaultCertificate
        /// A fatal alert with this number (112 unrecognized_name, 40 handshake_failure, 80 internal_error).
        case alert(UInt8)
        /// A warning alert 112, then the default certificate (TLS 1.2 and older; in TLS 1.3 no alert is
        /// sent).
        case warning
        /// The connection is closed (FIN) without an alert.
        case close
        /// The connection is reset (RST) without an alert.
        case reset
    }

    /// Whether the client must send a certificate.
    public enum ClientCertificates: Sendable {
        /// No certificate is requested.
        case none
        /// A certificate is requested. Any answer is accepted and recorded.
        case requested
        /// A certificate is requested. The handshake fails unless it was issued by one of these authorities.
        case required(from: [FixtureCertificate])
    }

    /// The certificates to choose from by SNI: the first whose DNS names cover the server name, and any
    /// others that do, for example with another type of key.
    public var certificates: [FixtureCertificate]
    /// The certificates for exact server names (lower case), whatever names they contain. Takes precedence
    /// over `certificates`.
    public var certificatesByName: [String: FixtureCertificate] = [:]
    /// Chooses the certificate of one handshake by its server name, `nil` if there is none. Where it returns
    /// `nil`, and by default, the other settings do. It is called for each handshake, so it can stand for
    /// several servers behind one address.
    public var choose: (@Sendable (_ serverName: String?) -> FixtureCertificate?)?
    /// The certificate for names that no other certificate covers, and for clients without SNI.
    public var defaultCertificate: FixtureCertificate?
    /// The answer to a client whose server name no certificate covers.
    public var unknownName = Answer.defaultCertificate
    /// The answer to a client without SNI.
    public var missingName = Answer.defaultCertificate
    /// The oldest TLS version that is accepted.
    public var minimumVersion = Version.tls12
    /// The newest TLS version that is accepted.
    public var maximumVersion = Version.tls13
    /// The number of session tickets sent after a TLS 1.3 handshake. 0 turns resumption off in every version.
    public var tickets = 2
    /// The ticket keys (80 bytes). Servers with equal keys resume each other's sessions.
    public var ticketKeys: [UInt8]?
    /// Whether a client certificate is requested, and which issuers are accepted.
    public var clientCertificates = ClientCertificates.none
    /// The ALPN protocols that are accepted, best first. If empty, the server ignores ALPN.
    public var applicationProtocols: [String] = ["http/1.1"]
    /// The protocol to answer any ALPN offer with, even if the client did not offer it.
    public var forcedApplicationProtocol: String?
    /// Whether an ALPN offer without a common protocol is refused with alert 120 (no_application_protocol).
    /// If `false`, it is ignored.
    public var refusesUnknownProtocols = false
    /// A DER OCSP response to send to clients that ask for one.
    public var ocspStaple: [UInt8]?
    /// The cipher suites of TLS 1.2 and older as an OpenSSL list. The default allows weak keys and
    /// signatures.
    public var ciphers: String = "DEFAULT:@SECLEVEL=0"
    /// The key exchange groups as an OpenSSL list. A group for which the client sent no key share forces a
    /// HelloRetryRequest.
    public var groups: String?
    /// The keys for Encrypted Client Hello. `nil` ignores it, as servers do that do not know it.
    public var encryptedClientHello: FixtureECH?
    /// The group of ephemeral Diffie-Hellman. `nil` leaves DHE out.
    package var diffieHellman: DiffieHellmanGroup?
    /// Whether a TLS 1.2 client may renegotiate.
    package var allowsRenegotiation = false

    /// Creates settings with the defaults.
    ///
    /// - Parameters:
    ///   - certificates: The certificates, of which the server name chooses one.
    ///   - defaultCertificate: The default certificate. `nil` uses the first of `certificates`.
    public init(certificates: [FixtureCertificate], default defaultCertificate: FixtureCertificate? = nil) {
        self.certificates = certificates
        self.defaultCertificate = defaultCertificate ?? certificates.first
    }
}

extension FixtureTLSSettings {
    /// Returns the certificates for a client with this server name and the answer it gets.
    func choice(for serverName: String?) -> (certificates: [FixtureCertificate], answer: Answer) {
        if let chosen = choose?(serverName?.lowercased()) { return ([chosen], .defaultCertificate) }
        let fallback = defaultCertificate.map { [$0] } ?? []
        guard let name = serverName?.lowercased() else { return (fallback, missingName) }
        if let exact = certificatesByName[name] { return ([exact], .defaultCertificate) }
        let matching = certificates.filter { $0.covers(name) }
        if !matching.isEmpty { return (matching, .defaultCertificate) }
        return (fallback, unknownName)
    }
}
