internal import CDirectOpenSSL

/// The certificates that a server sent, kept to be judged after the handshake.
///
/// The OpenSSL objects are only read and reference-counted, so any thread may use this.
package final class ServedChain: @unchecked Sendable {
    let context: SurveyContext
    /// An OpenSSL stack with references of its own. Owned, never empty.
    let stack: OpaquePointer
    /// Identifies the chain: the SHA-256 hash of the only certificate, or of the hashes of all certificates
    /// in their order.
    package let fingerprint: [UInt8]
    /// The question to the judge that stands for the system's roots. It is to be held, off the event loop,
    /// before the chain is judged. `nil` if there is no judge.
    package let trial: ChainTrial?

    /// Copies the borrowed stack.
    init?(_ borrowed: OpaquePointer?, context: SurveyContext) {
        guard let borrowed, OPENSSL_sk_num(borrowed) > 0, let stack = X509_chain_up_ref(borrowed) else {
            return nil
        }
        self.context = context
        self.stack = stack
        fingerprint = Self.fingerprint(of: stack)
        trial = context.judge.map { judge in
            let sent = CertificateChain(stack)?.certificates ?? []
            // The name is not checked here: `match` does that.
            return ChainTrial(.init(certificates: sent, name: nil, mayFetch: false), by: judge)
        }
    }

    /// Creates a chain from DER, for tests and for chains from other sources.
    package convenience init?(der chain: [[UInt8]], context: SurveyContext) {
        guard let lists = try? chain.map({ try CertificateList(der: $0) }), let stack = OPENSSL_sk_new_null()
        else { return nil }
        // The stack borrows the certificates only until it has been copied.
        defer { OPENSSL_sk_free(stack) }
        defer { withExtendedLifetime(lists) {} }
        for list in lists { list.first.map { _ = OPENSSL_sk_push(stack, UnsafeRawPointer($0)) } }
        self.init(stack, context: context)
    }

    deinit {
        freeCertificates(stack)
    }

    /// The number of certificates.
    package var count: Int { Int(OPENSSL_sk_num(stack)) }

    /// The length of all certificates together, in DER.
    package var byteCount: Int {
        (0..<OPENSSL_sk_num(stack)).reduce(0) { sum, index in
            sum + Int(max(0, i2d_X509(OpaquePointer(OPENSSL_sk_value(stack, index)), nil)))
        }
    }

    /// Returns the certificates as values, the server's own first, at most `limit` of them. Copied at each
    /// call.
    package func certificates(atMost limit: Int) -> [ServedCertificate] {
        (0..<min(OPENSSL_sk_num(stack), Int32(clamping: limit))).compactMap { index in
            OPENSSL_sk_value(stack, index).map { ServedCertificate(OpaquePointer($0)) }
        }
    }

    /// Whether each certificate was issued, according to its contents, by the next one.
    package var isInOrder: Bool {
        (1..<max(1, OPENSSL_sk_num(stack))).allSatisfy { index in
            let (lower, upper) = (OPENSSL_sk_value(stack, index - 1), OPENSSL_sk_value(stack, index))
            guard let lower, let upper else { return false }
            return X509_check_issued(OpaquePointer(upper), OpaquePointer(lower)) == X509_V_OK
        }
    }

    /// Whether the certificates that lead up from the server's own are in order, even if others are between
    /// or after them.
    package var isInOrderApartFromOthers: Bool {
        guard var top = leaf else { return false }
        var others: [OpaquePointer] = []
        for index in 1..<max(1, OPENSSL_sk_num(stack)) {
            guard let certificate = OPENSSL_sk_value(stack, index).map({ OpaquePointer($0) }) else {
                return false
            }
            if isSelfIssued(top) || X509_check_issued(certificate, top) != X509_V_OK {
                others.append(certificate)
            } else {
                top = certificate
            }
        }
        return isSelfIssued(top) || !others.contains { X509_check_issued($0, top) == X509_V_OK }
    }

    private func isSelfIssued(_ certificate: OpaquePointer) -> Bool {
        X509_check_issued(certificate, certificate) == X509_V_OK
    }

    /// Returns the name in the certificate that proves this identity, or `nil` if there is none.
    package func match(_ identity: ServerIdentity) -> String? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return leaf.flatMap { identity.proof(in: $0) }
    }

    /// Judges the chain like a client, and if a client would reject it, finds every fault.
    package func judged(at time: Int? = nil) -> ChainJudgement {
        guard let leaf else { return ChainJudgement(unjudged: "there is no certificate") }
        return withTrust { roots, others in
            ChainJudgement(leaf: leaf, sent: others, roots: roots, context: context, time: time)
        }.explained(by: trial)
    }

    /// Whether the other roots of the context lead to an acceptable chain, too.
    package var otherVerdicts: [(label: String, isTrusted: Bool)] {
        context.others.map { other in
            (other.label, ServedChain(stack, context: other.context)?.judged().isTrusted ?? false)
        }
    }

    /// The server's own certificate. Borrowed.
    var leaf: OpaquePointer? {
        OPENSSL_sk_value(stack, 0).map { OpaquePointer($0) }
    }

    private static func fingerprint(of stack: OpaquePointer) -> [UInt8] {
        let count = OPENSSL_sk_num(stack)
        var hashes: [UInt8] = []
        for index in 0..<count {
            guard let certificate = OPENSSL_sk_value(stack, index) else { continue }
            let hash = sha256(CertificateReader(OpaquePointer(certificate)).der)
            if count == 1 { return hash }
            hashes += hash
        }
        return sha256(hashes)
    }
}
