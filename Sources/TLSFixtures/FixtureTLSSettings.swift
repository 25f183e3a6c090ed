/// How a fixture server speaks below HTTP.
public enum FixtureSecurity: Sendable {
    /// No TLS.
    case plain
    /// TLS with these settings.
    case tls(FixtureTLSSettings)

    /// TLS with certificates chosen by SNI, and any other settings changed in the closure.
    ///
    /// Without a `default` the first certificate answers unknown names and clients without SNI.
    public static func tls(
        certificates: [FixtureCertificate],
        default defaultCertificate: FixtureCertificate? = nil,
        _ configure: (inout FixtureTLSSettings) -> Void = { _ in }
    ) -> FixtureSecurity {
        var settings = FixtureTLSSettings(certificates: certificates, default: defaultCertificate)
        configure(&settings)
        return .tls(settings)
    }

    /// TLS with one certificate for every client.
    public static func tls(
        _ certificate: FixtureCertificate,
        _ configure: (inout FixtureTLSSettings) -> Void = { _ in }
    ) -> FixtureSecurity {
        tls(certificates: [certificate], configure)
    }
}

/// Settings of a server's TLS side.
public struct FixtureTLSSettings: Sendable {
    /// Protocol versions, oldest first.
    public enum Version: Int32, Sendable, CaseIterable {
        case tls10 = 0x0301
        case tls11 = 0x0302
        case tls12 = 0x0303
        case tls13 = 0x0304
    }

    /// What a client gets whose name no certificate carries, or who sends no name.
    public enum Answer: Sendable, Equatable {
        /// The handshake goes on with the default certificate.
        case defaultCertificate
        /// A fatal alert of this number (112 unrecognized_name, 40 handshake_failure, 80 internal_error).
        case alert(UInt8)
        /// A warning alert 112, then the default certificate (TLS 1.2 and older; silent in 1.3).
        case warning
        /// FIN, without a word.
        case close
        /// RST, without a word.
        case reset
    }

    /// Whether the client has to show a certificate.
    public enum ClientCertificates: Sendable {
        /// It is not asked.
        case none
        /// It is asked; whatever it shows or does not show is recorded, nothing is refused.
        case requested
        /// It is asked, and refused unless its certificate comes from one of these authorities.
        case required(from: [FixtureCertificate])
    }

    /// Served by SNI: the first whose subject alternative names match; several keys a name may be given.
    public var certificates: [FixtureCertificate]
    /// Served exactly for these names (lower case), whatever the certificate says; looked at first.
    public var certificatesByName: [String: FixtureCertificate] = [:]
    /// Served where no name matches.
    public var defaultCertificate: FixtureCertificate?
    /// For clients whose name matches nothing.
    public var unknownName = Answer.defaultCertificate
    /// For clients without SNI.
    public var missingName = Answer.defaultCertificate
    /// The oldest version spoken.
    public var minimumVersion = Version.tls12
    /// The newest version spoken.
    public var maximumVersion = Version.tls13
    /// Session tickets given after a TLS 1.3 handshake; 0 turns resumption off in every version.
    public var tickets = 2
    /// Servers with equal ticket keys (80 bytes) resume each other's sessions.
    public var ticketKeys: [UInt8]?
    /// Whether and from whom a client certificate is wanted.
    public var clientCertificates = ClientCertificates.none
    /// Protocols agreed to by ALPN, best first; empty: the server ignores ALPN.
    public var applicationProtocols = ["http/1.1"]
    /// Answered to any ALPN offer, even if the client did not offer it.
    public var forcedApplicationProtocol: String?
    /// Whether an ALPN offer without a common protocol is refused with alert 120 or goes unanswered.
    public var refusesUnknownProtocols = false
    /// A DER OCSP response, sent to clients that ask for one.
    public var ocspStaple: [UInt8]?
    /// Cipher suites of TLS 1.2 and older as an OpenSSL list; the default allows weak keys and signatures.
    public var ciphers = "DEFAULT:@SECLEVEL=0"
    /// Key exchange groups as an OpenSSL list; one that the client sent no share for forces a HelloRetryRequest.
    public var groups: String?
    /// Whether a TLS 1.2 client may renegotiate.
    public var allowsRenegotiation = false

    /// The settings everyone starts from; without a `default`, the first certificate is it.
    public init(certificates: [FixtureCertificate], default defaultCertificate: FixtureCertificate? = nil) {
        self.certificates = certificates
        self.defaultCertificate = defaultCertificate ?? certificates.first
    }
}

extension FixtureTLSSettings {
    /// The certificates for a client that sent this name, or what it gets instead.
    func choice(for serverName: String?) -> (certificates: [FixtureCertificate], answer: Answer) {
        let fallback = defaultCertificate.map { [$0] } ?? []
        guard let name = serverName?.lowercased() else { return (fallback, missingName) }
        if let exact = certificatesByName[name] { return ([exact], .defaultCertificate) }
        let matching = certificates.filter { $0.covers(name) }
        if !matching.isEmpty { return (matching, .defaultCertificate) }
        return (fallback, unknownName)
    }
}
