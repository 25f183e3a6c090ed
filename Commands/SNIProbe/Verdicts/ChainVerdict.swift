internal import DirectHTTP

/// The faults of a chain in words: one fault for each cause, not one for each certificate or OpenSSL error
/// code.
struct ChainVerdict {
    private(set) var faults: [Fault] = []
    private let chain: ExaminedChain
    private let now: Int

    init(_ chain: ExaminedChain, now: Int) {
        self.chain = chain
        self.now = now
        // Dates come first: they are the most frequent fault and the most certain.
        for fault in chain.judgement.faults { addDate(fault) }
        for fault in chain.judgement.faults { add(fault) }
    }

    private mutating func addDate(_ fault: CertificateFault) {
        let dates = chain.certificate(at: fault.depth)?.summary
        switch fault.kind {
        case .expired: append(dated(.expired, fault: fault, date: dates?.notAfter, words: "expired"))
        case .notYetValid:
            append(dated(.notYetValid, fault: fault, date: dates?.notBefore, words: "not valid yet"))
        default: break
        }
    }

    private mutating func add(_ fault: CertificateFault) {
        switch fault.kind {
        case .expired, .notYetValid: break
        case .selfSigned: append(Fault(.selfSigned, "self-signed certificate"))
        case .untrustedRoot:
            append(unknownIssuer(chain.judgement.anchor ?? chain.judgement.top?.subject))
        case .unknownIssuer: append(openEnd)
        case .badSignature: append(Fault(.badSignature, "invalid signature\(place(fault))"))
        case .weakKey:
            let key = chain.certificate(at: fault.depth)?.key
            append(weak("key", key.map { "\($0.type) \($0.bits)" }, fault))
        case .weakSignature:
            append(weak("signature", chain.certificate(at: fault.depth)?.signature, fault))
        case .issuerIsNotCA:
            append(
                Fault(.certificateInvalid, "issuer \(chain.subject(at: fault.depth) ?? "above") is not a CA")
            )
        case .outsideNameConstraints:
            let words = "outside the issuer's name constraints"
            append(Fault(.certificateInvalid, "name is \(words)", brief: words))
        // This error repeats that an issuer is not a CA.
        case .wrongPurpose where fault.depth > 0 && faults.contains { $0.id == .certificateInvalid }:
            break
        case .wrongPurpose:
            let words = "certificate is not for TLS servers\(place(fault))"
            let brief = fault.depth > 0 ? "issuer not for servers" : "not for servers"
            append(Fault(.wrongPurpose, words, brief: brief))
        default: append(Fault(.certificateInvalid, "\(fault.reason)\(place(fault))"))
        }
    }

    /// The fault of a chain that ends before a root.
    ///
    /// Public CAs always put the URL of the issuer's certificate in a certificate (RFC 5280, section 4.2.2.1,
    /// and the Baseline Requirements). So if the server's own certificate has a URL and nothing above it was
    /// sent, an intermediate is missing: public CAs sign no server's certificate with a root. Private CAs
    /// seldom have a URL, so without one the root is unknown. If a CA certificate was sent, its issuer may be
    /// a root or an intermediate.
    private var openEnd: Fault {
        guard let top = chain.judgement.top else { return unknownIssuer(nil) }
        let isLeaf = !top.isSelfIssued && top.summary == chain.leaf?.summary
        guard !top.issuerURLs.isEmpty, isLeaf else { return unknownIssuer(top.issuer) }
        guard chain.certificates.dropFirst().contains(where: { $0.subject.full == top.issuer.full }) else {
            return Fault(
                .intermediateMissing,
                "intermediate certificate missing",
                brief: "intermediate missing"
            )
        }
        let words =
            "intermediate certificate missing: the one that was sent has the same name, but another key"
        return Fault(.intermediateMissing, words, brief: "intermediate has another key")
    }

    private func unknownIssuer(_ name: NameText?) -> Fault {
        Fault(.unknownIssuer, "unknown issuer" + (name.map { ": \($0.short)" } ?? ""))
    }

    private func dated(_ id: Fault.ID, fault: CertificateFault, date: Int?, words: String) -> Fault {
        if let root = chain.root(at: fault.depth) {
            let text = "root \(root) in this machine's trust store \(words)"
            return Fault(id, text, brief: "this machine's root \(words)")
        }
        let when = date.map { date in
            id == .expired
                ? " \(Words.distance(now - date)) ago" : ", for another \(Words.distance(date - now))"
        }
        guard fault.depth > 0 else { return Fault(id, words + (when ?? "")) }
        let name = chain.subject(at: fault.depth) ?? "of the chain"
        return Fault(id, "issuer \(name) \(words)\(when ?? "")", brief: "issuer \(words)")
    }

    private func weak(_ part: String, _ kind: String?, _ fault: CertificateFault) -> Fault {
        let kind = kind.map { " (\($0))" } ?? ""
        return Fault(.weakCertificate, "\(part) too weak\(kind)\(place(fault))", brief: "weak \(part)\(kind)")
    }

    private func place(_ fault: CertificateFault) -> String {
        fault.depth == 0 ? "" : " (issuer \(chain.subject(at: fault.depth) ?? "at depth \(fault.depth)"))"
    }

    private mutating func append(_ fault: Fault) {
        if !faults.contains(where: { $0.id == fault.id }) { faults.append(fault) }
    }
}

extension ExaminedChain {
    /// Returns the certificate at this depth of the path, counted from the server's own.
    fileprivate func certificate(at depth: Int) -> ServedCertificate? {
        judgement.path.indices.contains(depth) ? judgement.path[depth] : nil
    }

    /// The name of the root at this depth, which always comes from this machine; `nil` for another
    /// certificate.
    fileprivate func root(at depth: Int) -> String? {
        depth > 0 && depth == judgement.path.count - 1 ? judgement.anchor?.short : nil
    }

    fileprivate func subject(at depth: Int) -> String? { certificate(at: depth)?.subject.short }
}
