/// The use of OCSP staples: a statement of the issuer on the server's certificate, which the server sends in
/// its handshake (RFC 6066, section 8).
public enum OCSPStapling: Hashable, Sendable {
    /// No staple is asked for.
    case ignored
    /// A staple is asked for and checked. Its result is in ``TLSFacts/stapledStatus``, and rejects no server.
    case reported
    /// The server has to send a valid staple that says ``StapledStatus/good``.
    case required
}

/// The status of a server's certificate by its OCSP staple.
@nonexhaustive
public enum StapledStatus: Hashable, Sendable {
    /// No staple was asked for.
    case notRequested
    /// The server sent none.
    case notStapled
    /// The certificate has not been revoked.
    case good
    /// The certificate has been revoked.
    case revoked
    /// The responder does not know the certificate.
    case unknown
    /// The staple proves nothing: it is malformed, not signed for the issuer, about another certificate, or
    /// not of this time. The text says which.
    case invalid(String)

    /// The text for a staple that is no OCSP response.
    static let unreadable = "it cannot be read"
}

extension StapledStatus: CustomStringConvertible {
    /// The status in words.
    public var description: String {
        switch self {
        case .notRequested: "not requested"
        case .notStapled: "no OCSP staple"
        case .good: "good"
        case .revoked: "revoked"
        case .unknown: "not known to the responder"
        case .invalid(let reason): "an invalid OCSP staple: \(printable(reason))"
        }
    }
}
