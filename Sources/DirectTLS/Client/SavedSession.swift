internal import CDirectOpenSSL

/// A session that a later connection may resume, with what its first handshake has proved.
///
/// It is kept in DER, which has keys, ticket and the server's own certificate, but not the others that the server sent
/// (i2d_SSL_SESSION(3)). OpenSSL's object has all of them, and the connection that got it uses it on another thread.
struct SavedSession: Sendable {
    private let der: [UInt8]
    /// When it is offered for the last time, in seconds since 1970.
    let expiry: Int
    /// Whether it is used once.
    let isSingleUse: Bool
    /// What the session's first handshake has proved. A resumed handshake sends no certificates, so pins are checked against
    /// these. A session ends with the first of the certificates and with the statements about them: a new handshake
    /// could pass where the resumed one fails, for example with a renewed certificate.
    let proof: ServerProof

    /// The bytes beyond those that a session takes as a rule.
    let excess: Int

    /// Copies a session, which is borrowed; `nil` if it cannot be resumed. The error queue is left empty.
    init?(_ session: OpaquePointer, proof: ServerProof) {
        guard SSL_SESSION_is_resumable(session) == 1 else { return nil }
        der = encoded { i2d_SSL_SESSION(session, $0) }
        // Within a read, an error in the queue would count as the connection's.
        ErrorQueue.clear()
        guard !der.isEmpty else { return nil }
        expiry = min(sessionExpiry(session), proof.expiry)
        isSingleUse = isTLS13(session)
        excess = max(0, der.count + (proof.chain?.byteCount ?? 0) - CertificateChain.ordinaryByteCount)
        self.proof = proof
    }

    /// Makes OpenSSL's object, which the caller owns; `nil` if memory runs out.
    func restored() -> OpaquePointer? {
        defer { ErrorQueue.clear() }
        return der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_SSL_SESSION(nil, &cursor, bytes.count)
        }
    }
}

private func isTLS13(_ session: OpaquePointer) -> Bool {
    SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION
}

/// Returns the time from which the session is no longer offered: when the server's lifetime hint has passed, if it gave
/// one, and after seven days at the latest (RFC 8446, section 4.6.1). In TLS 1.3 a hint of zero means that the session
/// must not be used at all; in older versions it means that the server gave no hint (RFC 5077, section 3.3).
private func sessionExpiry(_ session: OpaquePointer) -> Int {
    let hint = Int(clamping: SSL_SESSION_get_ticket_lifetime_hint(session))
    let lifetime = isTLS13(session) || hint > 0 ? hint : Int(SSL_SESSION_get_timeout(session))
    return Int(SSL_SESSION_get_time(session)) + min(lifetime, 7 * 24 * 3600)
}
