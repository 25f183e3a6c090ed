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
    /// The first few names of the server's certificate, if they have been read.
    private let served: [String]?

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
        served = nil
    }

    /// The same for another path of the server's certificate, whose names are known.
    private init(_ check: OpaquePointer, like other: ChainCheck, served: [String]?) {
        self.check = check
        (rules, expected, pins) = (other.rules, other.expected, other.pins)
        (isThorough, sent) = (other.isThorough, nil)
        self.served = served
    }

    /// Verifies the chain, and leaves the result in the `X509_STORE_CTX` too, from which OpenSSL takes the
    /// alert and the chain. Of several paths it is the best one: a good one with a pinned key, if there is
    /// one, and else the one of which the fewest faults are to be told.
    ///
    /// - Returns: The faults of this path: the first one, or all of them. None if the chain is accepted.
    func run() -> [CertificateFault] {
        // Failed attempts leave errors behind, and one in the queue would make a good handshake look failed.
        ERR_set_mark()
        var verdict = verdict()
        if !verdict.isBest {
            let served = verdict.faults.first?.served
            let other = PathSearch.best(after: check, than: verdict) {
                ChainCheck($0, like: self, served: served).verdict()
            }
            if let other { verdict = adopt(other) }
        }
        if verdict.faults.isEmpty { ERR_pop_to_mark() } else { ERR_clear_last_mark() }
        return concluded(verdict.faults)
    }

    /// Verifies the path that OpenSSL builds.
    private func verdict() -> PathSearch.Verdict {
        let faults = faultsOfFirstPath()
        guard faults.isEmpty, let pins, let chain = X509_STORE_CTX_get0_chain(check) else {
            return PathSearch.Verdict(faults: faults, pins: .kept)
        }
        let keys = ServerPins.keys(of: chain)
        return PathSearch.Verdict(
            faults: [],
            pins: !pins.accepts(keys) ? .refused : pins.reports(keys) ? .reported : .kept
        )
    }

    /// Verifies the path that OpenSSL builds, also with our rules. The faults of signatures come first: they
    /// say that the others may be anyone's.
    func faultsOfFirstPath() -> [CertificateFault] {
        if isThorough, areCostly(keysOf: sent) {
            return [fault(X509_V_ERR_UNSPECIFIED, because: "the keys would take too long to verify with")]
        }
        var recorder = FaultRecorder(isThorough: isThorough, expected: expected, served: served)
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

    /// Makes the chain of another path the result. The `X509_STORE_CTX` takes over our reference.
    private func adopt(_ path: PathSearch.Found) -> PathSearch.Verdict {
        X509_STORE_CTX_set0_verified_chain(check, path.chain)
        X509_STORE_CTX_set_error(check, X509_V_OK)
        X509_STORE_CTX_set_error_depth(check, 0)
        return path.verdict
    }
}
