internal import CDirectOpenSSL

/// What OpenSSL's callback notes while one path is verified: its first fault, or all of them.
///
/// OpenSSL checks purposes, keys, name and revocation before it checks a single signature, and stops at the
/// first fault, unless its callback tells it to go on. A fault may be accepted only if all are known.
struct FaultRecorder {
    /// Whether the path is judged to its end.
    let isThorough: Bool
    private let expected: String
    /// The first few names of the server's own certificate, read for the first fault.
    private var served: [String]?
    private(set) var faults: [CertificateFault] = []

    init(isThorough: Bool, expected: String, served: [String]? = nil) {
        self.isThorough = isThorough
        self.expected = expected
        self.served = served
    }

    /// Verifies the path that OpenSSL builds.
    mutating func verify(_ check: OpaquePointer) {
        let result = withUnsafeMutablePointer(to: &self) { recorder in
            // Index 0 is the caller's own; the `SSL` has another.
            X509_STORE_CTX_set_ex_data(check, 0, recorder)
            defer { X509_STORE_CTX_set_ex_data(check, 0, nil) }
            X509_STORE_CTX_set_verify_cb(check, noteFault)
            return X509_verify_cert(check)
        }
        let code = X509_STORE_CTX_get_error(check)
        if faults.isEmpty {
            guard result != 1 || code != X509_V_OK else { return }
            note(code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code, of: check)
        } else if isThorough, result != 1 {
            // Whatever the reason is, something has not been checked.
            note(X509_V_ERR_UNSPECIFIED, of: check, because: "the verification ended early")
        } else if isThorough, !endsAtTrustAnchor(check), !faults.contains(where: \.endsOpen) {
            note(X509_V_ERR_UNSPECIFIED, of: check, because: "the path ends at no trusted certificate")
        }
    }

    /// Whether the path ends at a certificate of the store.
    private func endsAtTrustAnchor(_ check: OpaquePointer) -> Bool {
        let count = OPENSSL_sk_num(X509_STORE_CTX_get0_chain(check))
        return count > 0 && X509_STORE_CTX_get_num_untrusted(check) < count
    }

    /// Notes the fault that OpenSSL tells.
    mutating func note(_ code: Int32, of check: OpaquePointer, because reason: String? = nil) {
        let certificate = X509_STORE_CTX_get_current_cert(check)
        add(code, at: certificate, depth: X509_STORE_CTX_get_error_depth(check), of: check, because: reason)
    }

    /// Adds a fault, once for each certificate. In place of too many there is one that no override can
    /// accept.
    mutating func add(
        _ code: Int32,
        at certificate: OpaquePointer?,
        depth: Int32,
        of check: OpaquePointer,
        because reason: String?
    ) {
        guard faults.count <= Self.mostFaults else { return }
        let names =
            served ?? X509_STORE_CTX_get0_cert(check).map { CertificateReader($0).names(atMost: 20).all }
        served = names
        func made(_ code: Int32, _ reason: String?) -> CertificateFault {
            CertificateFault(
                code: Int(code),
                reason: reason ?? String(cString: X509_verify_cert_error_string(Int(code))),
                depth: Int(depth),
                subject: certificate.map { CertificateReader($0).subject } ?? "",
                expected: expected,
                served: names ?? []
            )
        }
        let fault = made(code, reason)
        // Both OpenSSL and a rule of ours may find it. Each rule without a code of its own has another
        // reason.
        let isKnown = faults.contains {
            $0.code == fault.code && $0.depth == fault.depth
                && ($0.kind != .ruleViolated || $0.reason == fault.reason)
        }
        guard !isKnown else { return }
        let isOver = faults.count == Self.mostFaults
        faults.append(isOver ? made(X509_V_ERR_UNSPECIFIED, "more than \(Self.mostFaults) faults") : fault)
    }

    private static let mostFaults = 32
}

private let noteFault: @convention(c) (Int32, OpaquePointer?) -> Int32 = { isGood, check in
    guard isGood == 0 else { return 1 }
    guard let check, let pointer = X509_STORE_CTX_get_ex_data(check, 0) else { return 0 }
    let recorder = pointer.assumingMemoryBound(to: FaultRecorder.self)
    recorder.pointee.note(X509_STORE_CTX_get_error(check), of: check)
    guard recorder.pointee.isThorough else { return 0 }
    // OpenSSL 3.0 takes an error that is left here for its reason to stop where the path ends: it would tell
    // a weak key for a second time, and no root that is missing.
    X509_STORE_CTX_set_error(check, X509_V_OK)
    return 1
}

/// A chain that was rejected.
struct RejectedChain {
    let error: TLSError
    /// The certificates that the server sent, which a failed handshake does not keep elsewhere.
    let certificates: CertificateChain?
}

extension TLSError {
    /// The error of a fault.
    init(_ fault: CertificateFault) {
        self =
            fault.kind == .nameMismatch
            ? .nameMismatch(expected: fault.expected, served: fault.served) : .certificateRejected(fault)
    }
}
