internal import CDirectOpenSSL

/// All faults of a certificate chain.
package struct ChainJudgement: Sendable {
    /// One fault, found by OpenSSL or by one of our rules.
    package struct Fault: Equatable, Sendable {
        /// OpenSSL's `X509_V_ERR_…` number, for reports; -1 if the chain could not be judged. Decisions are
        /// made by ``kind``.
        package let code: Int
        /// OpenSSL's text, or the rule's.
        package let reason: String
        /// The position in the chain; 0 is the server's own certificate.
        package let depth: Int

        /// The kind of fault.
        package var kind: CertificateFault.Kind { CertificateFault.Kind(code: code) }

        /// Whether there is no trusted root after this fault.
        var endsOpen: Bool {
            switch kind {
            case .unknownIssuer, .selfSigned, .untrustedRoot, .chainTooLong: true
            default: false
            }
        }
    }

    /// The subject of the root at the end of the chain; `nil` if there is none.
    package let anchor: NameText?
    /// The faults. Empty if a client would trust the chain.
    package let faults: [Fault]
    /// The last of the certificates that were sent and form a chain, if no root followed.
    package let top: ServedCertificate?

    /// Whether a client would trust the chain.
    package var isTrusted: Bool { faults.isEmpty }

    init(anchor: NameText?, faults: [Fault], top: ServedCertificate? = nil) {
        self.anchor = anchor
        self.faults = faults
        self.top = top
    }

    /// Verifies the chain. Borrows the pointers.
    ///
    /// - Parameters:
    ///   - sent: The certificates that may lead to a root.
    ///   - roots: A store of the trusted roots.
    init(
        leaf: OpaquePointer,
        sent: OpaquePointer,
        roots: OpaquePointer,
        context: SurveyContext,
        time: Int?
    ) {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let check = X509_STORE_CTX_new() else {
            self.init(anchor: nil, faults: [Fault(code: -1, reason: "no memory", depth: 0)])
            return
        }
        defer { X509_STORE_CTX_free(check) }
        // First like a client, with its search for other paths: a chain that it accepts has no fault.
        let parts = Parts(leaf: leaf, sent: sent, roots: roots)
        guard Self.prepare(check, parts, context: context, time: time) else {
            self.init(anchor: nil, faults: [Fault(code: -1, reason: ErrorQueue.drainedReason(), depth: 0)])
            return
        }
        // The name is not checked here: `ServedChain.match` does that.
        let rejection = ChainCheck(check, rules: context.rules, expected: "").run()
        guard let rejection else {
            self.init(
                anchor: Self.last(X509_STORE_CTX_get0_chain(check)).map(NameText.init(subjectOf:)),
                faults: []
            )
            return
        }
        self.init(recording: rejection, parts, context, time)
    }

    /// Verifies once more, this time to the end, whatever faults there are.
    private init(
        recording rejection: VerificationFailure,
        _ parts: Parts,
        _ context: SurveyContext,
        _ time: Int?
    ) {
        let recorder = FaultRecorder()
        var end: OpaquePointer?
        var anchor: NameText?
        var top: ServedCertificate?
        if let check = X509_STORE_CTX_new() {
            defer { X509_STORE_CTX_free(check) }
            if Self.prepare(check, parts, context: context, time: time) {
                X509_STORE_CTX_set_ex_data(check, 0, Unmanaged.passUnretained(recorder).toOpaque())
                X509_STORE_CTX_set_verify_cb(check, recordFault)
                _ = withExtendedLifetime(recorder) { X509_verify_cert(check) }
                end = Self.last(X509_STORE_CTX_get0_chain(check))
                if recorder.faults.contains(where: \.endsOpen) {
                    top = end.map { ServedCertificate($0) }
                } else {
                    anchor = end.map(NameText.init(subjectOf:))
                }
            }
        }
        var faults = recorder.faults
        if faults.isEmpty { faults = [rejection.fault] }
        self.faults = faults
        self.anchor = anchor
        self.top = top
    }

    /// What a verification is about. Borrowed.
    private struct Parts {
        let leaf, sent, roots: OpaquePointer
    }

    private static func prepare(
        _ check: OpaquePointer,
        _ parts: Parts,
        context: SurveyContext,
        time: Int?
    ) -> Bool {
        guard X509_STORE_CTX_init(check, parts.roots, parts.leaf, parts.sent) == 1 else { return false }
        let parameters = X509_STORE_CTX_get0_param(check)
        X509_VERIFY_PARAM_set_auth_level(parameters, SSL_CTX_get_security_level(context.raw))
        X509_STORE_CTX_set_default(check, "ssl_server")
        if context.rules == .webPKI {
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_X509_STRICT))
        }
        if let time { X509_VERIFY_PARAM_set_time(parameters, time) }
        return true
    }

    private static func last(_ chain: OpaquePointer?) -> OpaquePointer? {
        guard let chain else { return nil }
        return OPENSSL_sk_value(chain, OPENSSL_sk_num(chain) - 1).map { OpaquePointer($0) }
    }
}

/// Collects the faults that the callback receives.
private final class FaultRecorder {
    var faults: [ChainJudgement.Fault] = []

    func note(_ check: OpaquePointer) {
        let code = X509_STORE_CTX_get_error(check)
        let fault = ChainJudgement.Fault(
            code: Int(code),
            reason: String(cString: X509_verify_cert_error_string(Int(code))),
            depth: Int(X509_STORE_CTX_get_error_depth(check))
        )
        // OpenSSL may report a fault twice; a hostile chain must not make it report a million.
        if faults.count < 32, !faults.contains(fault) { faults.append(fault) }
    }
}

private let recordFault: @convention(c) (Int32, OpaquePointer?) -> Int32 = { isGood, check in
    guard isGood == 0, let check, let recorder = X509_STORE_CTX_get_ex_data(check, 0) else { return 1 }
    Unmanaged<FaultRecorder>.fromOpaque(recorder)._withUnsafeGuaranteedRef { $0.note(check) }
    return 1
}

extension VerificationFailure {
    fileprivate var fault: ChainJudgement.Fault {
        guard case .certificateRejected(let fault) = error else {
            return ChainJudgement.Fault(code: -1, reason: "\(error)", depth: 0)
        }
        return ChainJudgement.Fault(code: fault.code, reason: fault.reason, depth: fault.depth)
    }
}
