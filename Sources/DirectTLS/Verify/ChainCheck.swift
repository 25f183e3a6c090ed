internal import CDirectOpenSSL

/// Calls `body` with an `X509_STORE_CTX` for certificates that no handshake has brought, set up as OpenSSL
/// itself does at the end of one. Borrows all pointers.
///
/// - Parameters:
///   - context: An `SSL_CTX` with the demands on the chain.
///   - time: The time for checking dates, in seconds since 1970; `nil` means now.
func withCheck<Result>(
    of leaf: OpaquePointer,
    sent: OpaquePointer,
    roots: OpaquePointer?,
    context: OpaquePointer,
    time: Int?,
    body: (OpaquePointer) throws(TLSError) -> Result
) throws(TLSError) -> Result {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let check = X509_STORE_CTX_new() else { throw .badSettings(noMemory) }
    defer { X509_STORE_CTX_free(check) }
    guard X509_STORE_CTX_init(check, roots, leaf, sent) == 1 else {
        throw .badSettings(ErrorQueue.drainedReason())
    }
    let parameters = X509_STORE_CTX_get0_param(check)
    X509_VERIFY_PARAM_set_auth_level(parameters, SSL_CTX_get_security_level(context))
    X509_STORE_CTX_set_default(check, "ssl_server")
    X509_VERIFY_PARAM_set1(parameters, SSL_CTX_get0_param(context))
    if let time { X509_VERIFY_PARAM_set_time(parameters, time) }
    return try body(check)
}

/// Verifies a server's certificates: with OpenSSL, along other paths if OpenSSL's own path fails, and with
/// our rules.
struct ChainCheck {
    /// An `X509_STORE_CTX` that is ready to verify. Borrowed.
    let check: OpaquePointer
    private let rules: [ChainRule]
    /// The identity that the certificate has to prove, for the error.
    private let expected: String
    /// The pins of which the chain should contain one.
    private let pins: ServerPins?
    /// Whether all faults are wanted, and not only the first.
    let isThorough: Bool
    /// The certificates that the server sent. Borrowed.
    let sent: OpaquePointer?

    init(
        _ check: OpaquePointer,
        rules: CertificateRules,
        expected: String,
        pins: ServerPins? = nil,
        isThorough: Bool = false
    ) {
        self.check = check
        self.rules = rules.rules
        self.expected = expected
        self.pins = pins
        self.isThorough = isThorough
        sent = X509_STORE_CTX_get0_untrusted(check)
    }

    /// Verifies the chain, and leaves the result in the `X509_STORE_CTX` too, from which OpenSSL takes the
    /// alert and the chain. Of several good paths it is one with a pinned key, if there is such a path.
    ///
    /// - Returns: The faults of OpenSSL's path: the first one, or all of them. None if the chain is accepted,
    ///   along whatever path.
    func run() -> [CertificateFault] {
        // Failed attempts leave errors behind, and one in the queue would make a good handshake look failed.
        ERR_set_mark()
        let faults = faultsOfFirstPath()
        let worth = faults.isEmpty ? X509_STORE_CTX_get0_chain(check).map(worth) : nil
        var chain: OpaquePointer?
        if worth != .best, faults.allSatisfy(Self.isCurable) {
            chain = PathSearch.best(after: check, than: worth) {
                rules.violations(in: $0).isEmpty ? self.worth(of: $0) : nil
            }
        }
        guard faults.isEmpty || chain != nil else {
            ERR_clear_last_mark()
            return concluded(faults)
        }
        if let chain { adopt(chain) }
        ERR_pop_to_mark()
        return []
    }

    private func worth(of chain: OpaquePointer) -> PathSearch.Worth {
        guard let pins else { return .best }
        let keys = ServerPins.keys(of: chain)
        guard pins.accepts(keys) else { return .refused }
        return pins.reports(keys) ? .reported : .best
    }

    /// Verifies the path that OpenSSL builds, also with our rules. The faults of signatures come first: they
    /// say that the others may be anyone's.
    func faultsOfFirstPath() -> [CertificateFault] {
        var recorder = FaultRecorder(isThorough: isThorough, expected: expected)
        recorder.verify(check)
        if isThorough || recorder.faults.isEmpty, let chain = X509_STORE_CTX_get0_chain(check) {
            let isOpen = recorder.faults.contains(where: \.endsOpen)
            for violation in rules.violations(in: chain, isOpen: isOpen, isThorough: isThorough) {
                recorder.add(
                    violation.rule.code,
                    at: violation.certificate.raw,
                    depth: violation.certificate.depth,
                    of: check,
                    because: violation.rule.fault
                )
            }
        }
        let faults = recorder.faults
        return faults.filter { $0.kind == .badSignature } + faults.filter { $0.kind != .badSignature }
    }

    /// Returns a fault of the server's certificate.
    @inline(never)
    func fault(_ code: Int32, because reason: String? = nil) -> CertificateFault {
        var recorder = FaultRecorder(isThorough: false, expected: expected)
        recorder.add(code, at: X509_STORE_CTX_get0_cert(check), depth: 0, of: check, because: reason)
        return recorder.faults[0]
    }

    /// Makes the first of the faults the result.
    func concluded(_ faults: [CertificateFault]) -> [CertificateFault] {
        if let first = faults.first { X509_STORE_CTX_set_error(check, Int32(clamping: first.code)) }
        return faults
    }

    /// Whether the fault may be one of the path and not of the server's own certificate.
    private static func isCurable(_ fault: CertificateFault) -> Bool {
        if fault.depth > 0 { return true }
        switch fault.kind {
        case .unknownIssuer, .badSignature, .outsideNameConstraints, .noValidPolicy, .ruleViolated:
            return true
        default: return false
        }
    }

    /// Makes the chain of another path the result. The `X509_STORE_CTX` takes over our reference.
    private func adopt(_ chain: OpaquePointer) {
        X509_STORE_CTX_set0_verified_chain(check, chain)
        X509_STORE_CTX_set_error(check, X509_V_OK)
        X509_STORE_CTX_set_error_depth(check, 0)
    }
}
