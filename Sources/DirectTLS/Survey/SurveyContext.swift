internal import CDirectOpenSSL

/// The state that survey handshakes share: an `SSL_CTX` that accepts every certificate, and, separate from
/// it, the roots to judge the certificates by afterwards.
///
/// A client can never use it: clients use `TLSContext`, which is another type, and a `SurveyConnection` makes
/// no promise about the server's identity. Immutable once created: any thread may use it.
package final class SurveyContext: @unchecked Sendable {
    /// Both are owned.
    let raw: OpaquePointer
    let store: OpaquePointer
    let rules: CertificateRules
    /// The judge that stands for the system's roots; `nil` if all roots are in the store.
    let judge: ChainJudge?

    /// Contexts with other roots, which judge the same chains.
    package let others: [(label: String, context: SurveyContext)]

    /// Reads files and may parse a bundle of certificates. Must not be called on an event loop.
    ///
    /// The versions are offered even if OpenSSL's configuration file forbids them to clients: a survey is to
    /// see what a server offers.
    package init(
        roots: TrustRoots = .system,
        versions: ClosedRange<TLSVersion> = .tls12 ... .tls13,
        rules: CertificateRules = .standard,
        identity: ClientIdentity? = nil,
        judge: ChainJudge? = nil,
        others: [(label: String, context: SurveyContext)] = []
    ) throws(TLSError) {
        self.others = others
        try OpenSSLLibrary.start()
        ErrorQueue.clear()
        self.judge = roots.judge(judge)
        store = try TrustStore.make(roots, judge: self.judge)
        guard let raw = SSL_CTX_new(TLS_client_method()) else {
            X509_STORE_free(store)
            throw .badSettings(ErrorQueue.drainedReason())
        }
        self.raw = raw
        self.rules = rules
        let lowest = Int32(versions.lowerBound.rawValue), highest = Int32(versions.upperBound.rawValue)
        guard direct_SSL_CTX_set_version_range(raw, lowest, highest) == 1 else {
            throw .badSettings("\(versions): \(ErrorQueue.drainedReason())")
        }
        let options = direct_SSL_OP_NO_RENEGOTIATION() | direct_SSL_OP_NO_COMPRESSION()
        SSL_CTX_set_options(raw, options | direct_SSL_OP_NO_TICKET())
        direct_SSL_CTX_set_session_cache_mode(raw, Int(SSL_SESS_CACHE_OFF))
        direct_SSL_CTX_set_mode(raw, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        limitMessages(of: raw)
        SSL_CTX_set_info_callback(raw, noteStep)
        direct_SSL_CTX_set_read_ahead(raw, 1)
        // The same ClientHello as the client's, so that servers respond alike.
        rules.restrict(raw)
        limitCertificates(of: raw, to: Self.mostCertificateBytes)
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(raw, letPass, nil)
        SSL_CTX_set_cert_cb(raw, noteCertificateRequest, nil)
        direct_SSL_CTX_set_mode(raw, Int(SSL_MODE_NO_AUTO_CHAIN))
        try identity?.install(in: raw)
    }

    deinit {
        SSL_CTX_free(raw)
        X509_STORE_free(store)
    }

    /// Large enough for a chain of 1 MiB; there must be some limit.
    private static let mostCertificateBytes = 1280 * 1024
}

/// OpenSSL's callback that replaces its verification. The chain is judged later, and cannot end the
/// handshake.
private let letPass: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { check, _ in
    X509_STORE_CTX_set_error(check, X509_V_OK)
    return 1
}

/// OpenSSL's callback for steps of the handshake and for alerts. The client refuses a renegotiation by a
/// warning.
private let noteStep: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = { ssl, step, value in
    guard let ssl else { return }
    installMessageCount(ssl)
    guard step == SSL_CB_WRITE_ALERT, value & 0xFF == SSL_AD_NO_RENEGOTIATION else { return }
    SSL_get_ex_data(ssl, 0).map { pointer in
        Unmanaged<SurveyConnection>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
            $0.hasRefusedRenegotiation = true
        }
    }
}

/// OpenSSL's callback for a request for a client certificate, before one is chosen. The request is recorded,
/// and the certificate of the context is sent, if it has one.
private let noteCertificateRequest: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
    ssl,
    _ in
    SSL_get_ex_data(ssl, 0).map { pointer in
        Unmanaged<SurveyConnection>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
            $0.hasReceivedCertificateRequest = true
        }
    }
    return 1
}
