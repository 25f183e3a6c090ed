/// An alert, with which a TLS peer announces the end of its data or reports an error (RFC 8446, section 6).
@nonexhaustive
public enum TLSAlert: Hashable, Sendable {
    /// The sender will send no more data.
    case closeNotify
    /// A message that does not belong at this point.
    case unexpectedMessage
    /// A record whose authentication failed.
    case badRecordMAC
    /// Reserved: TLS 1.0 sent it if a record could not be decrypted.
    case decryptionFailed
    /// A record that is too long.
    case recordOverflow
    /// Reserved: older versions sent it if a record could not be decompressed.
    case decompressionFailure
    /// The peers have no acceptable set of parameters in common.
    case handshakeFailure
    /// Reserved: SSL 3.0 sent it for a missing certificate.
    case noCertificate
    /// A certificate that is corrupt or whose signature is wrong.
    case badCertificate
    /// A certificate of an unsupported kind.
    case unsupportedCertificate
    /// A certificate that its signer has revoked.
    case certificateRevoked
    /// A certificate that has expired or is not valid yet.
    case certificateExpired
    /// A certificate that is not accepted for another reason.
    case certificateUnknown
    /// A field of the handshake that is out of range or contradicts another one.
    case illegalParameter
    /// A certificate whose authority is not known or not trusted.
    case unknownCA
    /// A valid certificate whose owner has no access.
    case accessDenied
    /// A message that cannot be parsed.
    case decodeError
    /// A signature or a Finished message that is wrong.
    case decryptError
    /// Reserved: older versions sent it because of export laws.
    case exportRestriction
    /// The protocol version is not supported.
    case protocolVersion
    /// The server requires stronger parameters than the client offers.
    case insufficientSecurity
    /// An error that has nothing to do with the peer, such as a lack of memory.
    case internalError
    /// A client that has lowered its version without need (RFC 7507).
    case inappropriateFallback
    /// The user ended the handshake.
    case userCanceled
    /// Reserved: older versions sent it to refuse a renegotiation.
    case noRenegotiation
    /// A message without an extension that it must have.
    case missingExtension
    /// A message with an extension that it must not have.
    case unsupportedExtension
    /// Reserved: older versions sent it if a certificate could not be retrieved from its URL.
    case certificateUnobtainable
    /// The server has no certificate for the name in SNI.
    case unrecognizedName
    /// An OCSP response that is invalid or not accepted.
    case badCertificateStatusResponse
    /// Reserved: older versions sent it if a certificate did not match its hash.
    case badCertificateHashValue
    /// The server knows none of the client's pre-shared keys.
    case unknownPSKIdentity
    /// The server requires a certificate of the client.
    case certificateRequired
    /// The peers have no application protocol in common (RFC 7301).
    case noApplicationProtocol
    /// The server requires Encrypted Client Hello (RFC 9849).
    case echRequired
    /// An alert with another number.
    case other(UInt8)

    /// Creates the alert with this number.
    public init(number: UInt8) {
        self = Self.assigned.first { $0.number == number }?.alert ?? .other(number)
    }

    /// The number that IANA assigned to the alert.
    public var number: UInt8 {
        if case .other(let number) = self { return number }
        return Self.assigned.first { $0.alert == self }?.number ?? 0
    }

    /// The name that IANA lists, such as `handshake_failure`; `unassigned` for an alert without a name.
    public var name: String { Self.assigned.first { $0.alert == self }?.name ?? "unassigned" }

    /// Whether an alert from a server can only concern the client's certificate (RFC 8446, section 6.2).
    var isAboutCertificate: Bool {
        switch self {
        case .badCertificate, .unsupportedCertificate, .certificateRevoked, .certificateExpired,
            .certificateUnknown, .unknownCA, .certificateRequired:
            true
        default: false
        }
    }

    /// Whether a server sends it again to the same client: it refuses what the client has shown or offered.
    package var isLasting: Bool { isAboutCertificate || self == .handshakeFailure || self == .accessDenied }

    /// What it means for a client, behind its name.
    var remark: String {
        switch self {
        case .certificateRequired: ": it requires a certificate of the client"
        // OpenSSL's servers say so in TLS 1.2 if they miss one.
        case .handshakeFailure: ": it accepts no offer, or requires a certificate of the client"
        default: isAboutCertificate ? ", about the client's certificate" : ""
        }
    }

    private static let assigned: [(alert: TLSAlert, number: UInt8, name: String)] = [
        (.closeNotify, 0, "close_notify"),
        (.unexpectedMessage, 10, "unexpected_message"),
        (.badRecordMAC, 20, "bad_record_mac"),
        (.decryptionFailed, 21, "decryption_failed"),
        (.recordOverflow, 22, "record_overflow"),
        (.decompressionFailure, 30, "decompression_failure"),
        (.handshakeFailure, 40, "handshake_failure"),
        (.noCertificate, 41, "no_certificate"),
        (.badCertificate, 42, "bad_certificate"),
        (.unsupportedCertificate, 43, "unsupported_certificate"),
        (.certificateRevoked, 44, "certificate_revoked"),
        (.certificateExpired, 45, "certificate_expired"),
        (.certificateUnknown, 46, "certificate_unknown"),
        (.illegalParameter, 47, "illegal_parameter"),
        (.unknownCA, 48, "unknown_ca"),
        (.accessDenied, 49, "access_denied"),
        (.decodeError, 50, "decode_error"),
        (.decryptError, 51, "decrypt_error"),
        (.exportRestriction, 60, "export_restriction"),
        (.protocolVersion, 70, "protocol_version"),
        (.insufficientSecurity, 71, "insufficient_security"),
        (.internalError, 80, "internal_error"),
        (.inappropriateFallback, 86, "inappropriate_fallback"),
        (.userCanceled, 90, "user_canceled"),
        (.noRenegotiation, 100, "no_renegotiation"),
        (.missingExtension, 109, "missing_extension"),
        (.unsupportedExtension, 110, "unsupported_extension"),
        (.certificateUnobtainable, 111, "certificate_unobtainable"),
        (.unrecognizedName, 112, "unrecognized_name"),
        (.badCertificateStatusResponse, 113, "bad_certificate_status_response"),
        (.badCertificateHashValue, 114, "bad_certificate_hash_value"),
        (.unknownPSKIdentity, 115, "unknown_psk_identity"),
        (.certificateRequired, 116, "certificate_required"),
        (.noApplicationProtocol, 120, "no_application_protocol"),
        (.echRequired, 121, "ech_required"),
    ]
}

extension TLSAlert: CustomStringConvertible {
    /// The number and the name, such as `40 (handshake_failure)`.
    public var description: String { "\(number) (\(name))" }
}
