internal import CDirectOpenSSL

/// The OCSP response that a server sent in its handshake, if it was asked for one.
struct OCSPStaple {
    let status: StapledStatus
    /// When the statement ends, in seconds since 1970; `nil` without one.
    let expiry: Int?

    /// Reads and checks the staple of a handshake.
    ///
    /// - Parameters:
    ///   - chain: The verified chain. Borrowed.
    ///   - store: The trusted roots, for a responder with a certificate of its own. Borrowed.
    init(of ssl: OpaquePointer, chain: OpaquePointer?, store: OpaquePointer?) {
        // Borrowed: the bytes belong to OpenSSL.
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = SSL_ctrl(ssl, SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP, 0, &bytes)
        guard count > 0, let bytes else {
            (status, expiry) = (.notStapled, nil)
            return
        }
        guard let chain, let store, let leaf = OPENSSL_sk_value(chain, 0) else {
            (status, expiry) = (.invalid("the certificate's issuer is not known"), nil)
            return
        }
        let response = Array(UnsafeBufferPointer(start: bytes, count: count))
        let judgement = StapleJudgement(response, leaf: OpaquePointer(leaf), chain: chain, store: store)
        (status, expiry) = (Self.status(by: judgement), judgement.expiry)
    }

    private static func status(by judgement: StapleJudgement) -> StapledStatus {
        if case .unusable(let reason) = judgement.status { return .invalid(reason) }
        guard judgement.isCurrent else { return .invalid("it is not of this time") }
        return switch judgement.status {
        case .good: .good
        case .revoked: .revoked
        case .unknown, .unusable: .unknown
        }
    }
}
