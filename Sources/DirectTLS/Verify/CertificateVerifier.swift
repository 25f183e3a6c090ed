/// A caller's own check of servers that have passed all other checks. It can reject a server; it cannot
/// accept one that was rejected, for which there is ``InsecureCertificateOverride``.
///
/// It is called before any byte of a request, for each handshake, also for one that resumes a session. The
/// call is made on the thread that runs the handshake, so it must not block. Two verifiers are equal if they
/// are the same object.
public final class CertificateVerifier: Hashable, Sendable {
    /// The result of the check.
    public enum Verdict: Hashable, Sendable {
        /// The server is accepted.
        case accept
        /// The server is rejected, for this reason. The handshake fails with
        /// ``TLSError/rejectedByVerifier(reason:)``.
        case reject(String)
    }

    let check: @Sendable (VerifiedServer) -> Verdict

    /// Makes a verifier that calls the closure.
    public init(_ check: @escaping @Sendable (VerifiedServer) -> Verdict) {
        self.check = check
    }

    /// Whether both are the same object.
    public static func == (left: CertificateVerifier, right: CertificateVerifier) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A server that has proved its identity, or whose faults an ``InsecureCertificateOverride`` has accepted.
public struct VerifiedServer: Sendable {
    /// The name or the address that it had to prove.
    public let name: String
    /// The status in its OCSP staple.
    public let stapledStatus: StapledStatus
    /// Whether the handshake resumes a session. The chain and the staple are then those of the session's
    /// first handshake.
    public let isResumed: Bool
    /// The faults that an ``InsecureCertificateOverride`` has accepted. Empty if there was none.
    public let acceptedFaults: [TLSError]
    let chain: CertificateChain?

    /// The verified chain, from the server's certificate to a root. After accepted faults, the certificates
    /// that the server sent. Parsed at each call.
    public var certificates: [CertificateSummary] { chain?.summaries ?? [] }
}

/// A caller's decision to accept a server whose certificate was rejected.
///
/// It is asked about each fault of the chain, which is judged to its end for that: signatures, dates, names,
/// all rules of the settings. The server is accepted if every fault is. So a closure that accepts other names
/// accepts no forged signature beside them. Nothing can accept a chain of which OpenSSL does not know all
/// faults, nor a fault without a name (``CertificateFault/Kind/other(code:)``).
///
/// What is given up: whatever the closure accepts is believed, be it an attacker on the way to the server.
/// Connections that were accepted like this leave no session to resume, and HSTS is not learned from them.
/// Pins are checked against the key of the server's own certificate alone, since no chain has been verified.
///
/// It is called on the thread that runs the handshake, so it must not block. Two are equal if they are the
/// same object.
public final class InsecureCertificateOverride: Hashable, Sendable {
    let accepts: @Sendable (RejectedServer) -> Bool

    /// Makes an override that accepts what the closure accepts.
    public init(_ accepts: @escaping @Sendable (RejectedServer) -> Bool) {
        self.accepts = accepts
    }

    /// Whether both are the same object.
    public static func == (left: InsecureCertificateOverride, right: InsecureCertificateOverride) -> Bool {
        left === right
    }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A server whose certificate was rejected, and one of the faults.
public struct RejectedServer: Sendable {
    /// The name or the address that it had to prove.
    public let name: String
    /// The fault: ``TLSError/certificateRejected(_:)`` or ``TLSError/nameMismatch(expected:served:)``.
    public let fault: TLSError
    let chain: CertificateChain?

    /// The certificates that the server sent, its own first. Parsed at each call.
    public var certificates: [CertificateSummary] { chain?.summaries ?? [] }
}

/// The proof of a server's identity by a full handshake. A resumed handshake has no certificates of its own,
/// so this is kept with the session.
struct ServerProof: Sendable {
    /// The keys of the verified chain. Empty if there are no pins to check.
    var keys: [KeyPin] = []
    /// The verified chain.
    var chain: CertificateChain?
    /// When the first certificate of the verified chain ends, in seconds since 1970; `nil` if that is not
    /// known.
    var chainExpiry: Int?
    /// The status in the staple.
    var stapledStatus = StapledStatus.notRequested
    /// When the staple's statement ends, in seconds since 1970; `nil` without one.
    var stapleExpiry: Int?

    /// When the first of the revocation lists ends that the chain was checked against, in seconds since 1970;
    /// `nil` without one.
    var revocationExpiry: Int?

    /// The time from which no session resumes it, in seconds since 1970: however many sessions follow each
    /// other, the key of the certificate is proved again after seven days (RFC 8446, section 4.6.1). `nil`
    /// before it is proved.
    var lastUse: Int?
    /// The longest time for which it is resumed, in seconds.
    static let longestUse = 7 * 24 * 3600

    /// The time from which it proves nothing more, in seconds since 1970.
    var expiry: Int {
        min(chainExpiry ?? .max, stapleExpiry ?? .max, revocationExpiry ?? .max, lastUse ?? .max)
    }
}
