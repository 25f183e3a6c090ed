internal import CDirectOpenSSL

/// A session that a later connection may resume, with what its first handshake has proved.
///
/// It is a copy, so that no connection uses it on another thread, of a session whose connection has released
/// the certificates that the server sent beside its own. DER would need no object of OpenSSL's, but to read
/// the server's certificate again takes as many instructions as the rest of a resumed handshake: 4.1 million
/// in place of 2.5.
final class SavedSession: @unchecked Sendable {
    /// Owned, and never changed.
    private let raw: OpaquePointer
    /// When it is offered for the last time, in seconds since 1970.
    let expiry: Int
    /// Whether it is used once.
    let isSingleUse: Bool
    /// The proof by the session's first handshake. A resumed handshake sends no certificates, so pins are
    /// checked against these. A session ends with the first of the certificates and with the statements about
    /// them: a new handshake could pass where the resumed one fails, for example with a renewed certificate.
    let proof: ServerProof

    /// The bytes of certificates beyond those that a session keeps as a rule.
    let excess: Int

    /// Copies a session, which is borrowed; `nil` if it cannot be resumed. The error queue is left empty.
    init?(_ session: OpaquePointer, proof: ServerProof) {
        // Within a read, an error in the queue would count as the connection's.
        defer { ErrorQueue.clear() }
        guard SSL_SESSION_is_resumable(session) == 1, let copy = SSL_SESSION_dup(session) else { return nil }
        raw = copy
        expiry = min(sessionExpiry(session), proof.expiry)
        isSingleUse = isTLS13(session)
        excess = max(0, (proof.chain?.byteCount ?? 0) - CertificateChain.ordinaryByteCount)
        self.proof = proof
    }

    deinit {
        SSL_SESSION_free(raw)
    }

    /// Makes a copy for one connection, which the caller owns; `nil` if memory runs out.
    func restored() -> OpaquePointer? {
        defer { ErrorQueue.clear() }
        return SSL_SESSION_dup(raw)
    }
}

private func isTLS13(_ session: OpaquePointer) -> Bool {
    SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION
}

/// Returns the time from which the session is no longer offered: when the server's lifetime hint has passed,
/// if it gave one, and after seven days at the latest (RFC 8446, section 4.6.1). In TLS 1.3 a hint of zero
/// means that the session must not be used at all; in older versions it means that the server gave no hint
/// (RFC 5077, section 3.3).
private func sessionExpiry(_ session: OpaquePointer) -> Int {
    let hint = Int(clamping: SSL_SESSION_get_ticket_lifetime_hint(session))
    let lifetime = isTLS13(session) || hint > 0 ? hint : Int(SSL_SESSION_get_timeout(session))
    return Int(SSL_SESSION_get_time(session)) + min(lifetime, ServerProof.longestUse)
}
