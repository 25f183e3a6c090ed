internal import DirectCore
internal import DirectHTTP

/// Writes the hint for the first fault of a certificate or an HTTP exchange.
struct HintWriter {
    let record: ProbeRecord
    let settings: ProbeSettings

    private var host: String { record.target.name }
    private var address: String { record.observation.probe.address.description }

    /// Returns the hint for a fault, or `nil` if there is no advice.
    func hint(for fault: Fault) -> Hint? {
        if let key = fault.key {
            let text =
                "the server has certificates for several kinds of keys, and the \(key) one is not in order: "
                + "clients that prefer that kind, or accept no other, get it"
            return Hint(kind: fault.id, text: text, cause: .otherKey)
        }
        return text(for: fault.id).map { Hint(kind: fault.id, text: $0, cause: cause(of: fault.id)) }
    }

    private func cause(of id: Fault.ID) -> Hint.Cause {
        switch id {
        case .defaultCertificate, .nameMismatch: isNearMiss ? .nearMiss : .usual
        case .httpBroken, .timeoutHTTP: requestsClientCertificate ? .clientCertificate : .usual
        case .httpStatus: .status(record.observation.exchange?.head?.status.code ?? 0)
        default: .usual
        }
    }

    private var requestsClientCertificate: Bool {
        record.served?.facts.requestsClientCertificate == true
            || record.observation.exchange?.wasAskedToRenegotiate == true
    }

    private func text(for id: Fault.ID) -> String? {
        switch id {
        case .answersVary:
            "several servers seem to answer behind \(address), and not all are set up alike for \(host): --repeat 20 "
                + "counts the answers of more handshakes"
        case .defaultCertificate where isNearMiss, .nameMismatch where isNearMiss: nearMiss
        case .defaultCertificate where record.sni.sent == nil: noNameSent
        case .defaultCertificate: stranger
        case .nameMismatch: mismatch
        case .expired where isLeafCurrent: renewChain
        case .expired: expired
        case .notYetValid:
            "check the clocks, including this machine's; or the certificate was installed too early"
        case .selfSigned:
            "clients do not accept it unless configured to; if it is intended, give it with --ca FILE"
        case .unknownIssuer: unknownIssuer
        case .intermediateMissing: intermediate
        case .badSignature: "the certificate is damaged, or forged: install it again"
        case .weakCertificate:
            "current clients refuse it: have a new one issued with a larger key and SHA-256"
        case .wrongPurpose: "have one issued for servers (extended key usage serverAuth)"
        case .certificateInvalid:
            "the chain breaks a rule that clients enforce: have the certificate reissued, or install the current "
                + "chain of its issuer"
        case .revoked:
            "clients that look at the response refuse it: have a new certificate issued, and install it"
        case .stapleMissing:
            "turn OCSP stapling on (nginx: ssl_stapling on), let the server reach its issuer's responder, or have a "
                + "certificate issued without the must-staple extension"
        case .tooFewDays: "renew it on \(address), or find out why the renewed one is not there"
        case .notExpected:
            "this IP shows another certificate than the one given with --expect: is it deployed there?"
        case .httpStatus: status
        case .httpBroken, .timeoutHTTP: exchange
        case .differs:
            "the certificate is not the same on all IPs: see which of them the renewal has not reached"
        default: nil
        }
    }

    private var stranger: String {
        let start = "\(address) does not know \(host)\(record.observation.often). Set the host up there, or "
        switch record.observation.probe.source {
        case .resolvers(let names):
            return start
                + "take the IP out of what \(names.joined(separator: " and ")) \(names.count == 1 ? "gives" : "give")"
        case .resolver: return start + "take the IP out of its DNS records"
        default: return start + "check the IP; sni-probe \(record.target.word) probes all that DNS gives."
        }
    }

    private var exchange: String {
        let (outcome, port) = (record.observation.exchange, record.observation.probe.port)
        if outcome?.wasAskedToRenegotiate == true {
            return
                "the server asks to renegotiate once it has the request, as servers do that want a client certificate "
                + "for some paths only. TLS 1.3 and most clients do not do that: have it ask in the first handshake"
        }
        if outcome == nil {
            return "--alpn http/1.1 offers the only protocol that sni-probe sends requests in"
        }
        if requestsClientCertificate { return HintWriter.clientCertificate(settings) }
        if outcome?.beginsAsHTTP2 == true {
            return
                "it may speak nothing else: a client gets HTTP/1.1 only from a server or a port that is set up for it"
        }
        if record.target.usesTLS { return "TLS is fine; the HTTP server behind it is not" }
        return outcome?.firstByteTime == nil || outcome?.failure == .speaksTLS
            ? "the port may be one for TLS: try https://\(host):\(port)/"
            : "another service than HTTP answers on port \(port), or the server is broken"
    }

    /// The hint for a server that wants to know who the client is.
    static func clientCertificate(_ settings: ProbeSettings) -> String {
        settings.identity == nil
            ? "the server wants a client certificate: give one with --cert FILE and --key FILE"
            : "the server does not accept the certificate of --cert, or wants one of another issuer"
    }

    private var isNearMiss: Bool {
        guard let leaf = record.leaf, record.target.host.name != nil else { return false }
        return ServedNames(leaf).nearMiss(record.target.host) != nil
    }

    private var nearMiss: String {
        "the certificate is close, but does not cover \(host): have one issued with that name as DNS SAN"
    }

    private var isLeafCurrent: Bool { record.leaf?.isCurrent(at: record.judgedAt) ?? false }

    private var renewChain: String {
        "the server's own certificate is good, one above it is not: install the current chain of its issuer"
    }

    private var noNameSent: String {
        guard let name = record.target.host.name else { return "the certificate is for other addresses" }
        switch record.sni.verdict {
        case .needed, .neededStrict:
            return
                "this IP holds several certificates. The client must send SNI \(name); checking the default "
                + "certificate against another name cannot work here."
        default:
            return
                "\(address) does not know \(name), with SNI or without\(record.observation.often). Set the host up there, or check the IP"
        }
    }

    private var mismatch: String {
        if case .address = record.target.host {
            return "certificates are for names as a rule: give the name, "
                + "sni-probe NAME\(record.target.port == 443 ? "" : ":\(record.target.port)") @\(address)"
        }
        if let sent = record.sni.sent, sent != record.target.host.name?.text {
            return
                "the name sent was \(sent), the certificate is checked against \(host): leave out --sni to ask "
                + "for the host itself"
        }
        switch record.sni.verdict {
        case .selectsWrong where answersOtherwise:
            return
                "\(address) has an entry for \(host), with the wrong certificate\(record.observation.often): without SNI "
                + "another one comes. Look at what is set up for that name" + record.observation.orSeveral
        case .unknown where settings.skipsDefault:
            return "without --skip-default sni-probe says whether this is the IP's default certificate"
        default: return "look at what is set up for \(host) on \(address)"
        }
    }

    /// Whether the other handshake got a certificate. If it was refused, this certificate may be the one for
    /// all names.
    private var answersOtherwise: Bool {
        if case .success? = record.observation.second?.outcome { true } else { false }
    }

    private var expired: String {
        "renew it on \(address); other IPs may have the new one already: "
            + "sni-probe \(record.target.word) --same"
    }

    private var unknownIssuer: String {
        let name = record.served?.chain.judgement.top?.issuer.short ?? "the issuer"
        let clean = name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let file = String(clean.prefix(24)).split(separator: "-").joined(separator: "-")
        let advice = "if \(name) is your own CA, give it with --ca \(file.isEmpty ? "root" : file).pem"
        guard let top = record.served?.chain.judgement.top, !top.isSelfIssued else { return advice }
        if let url = top.issuerURLs.first {
            return advice + "; if it is an intermediate, the server must send it (\(url))"
        }
        guard case .only = settings.roots else { return advice }
        return advice + "; if a root of --ca is above it, the server must send it"
    }

    private var intermediate: String {
        guard let url = record.served?.chain.judgement.top?.issuerURLs.first else {
            return "send the full chain"
        }
        return
            "browsers fetch or remember it, most clients do not. Send the full chain (\(url), named by the "
            + "certificate, is the missing one)"
    }

    private var status: String? {
        guard let status = record.observation.exchange?.head?.status.code else { return nil }
        switch status {
        case 421: return "the server says that it does not serve this name: check the IP, or its set-up"
        case 404 where record.target.usesTLS:
            let path = record.target.url.map { PlainText.cut($0.path, to: 60, mark: "...") } ?? "/"
            let unknown = "the host may be unknown to the HTTP server, though its certificate is there"
            return path == "/" ? unknown : "if \(path) has to be there, \(unknown)"
        case 400 where !record.target.usesTLS:
            return "some servers answer this on a port for TLS: try https://"
        case 500...: return record.target.usesTLS ? "TLS is fine; the service behind it is not" : nil
        default: return "if that status is right, accept it with --status"
        }
    }
}
