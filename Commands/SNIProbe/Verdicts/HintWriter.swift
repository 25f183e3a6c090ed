internal import DirectCore
internal import DirectHTTP

/// Writes the hint for the first fault of a certificate or an HTTP exchange.
struct HintWriter {
    let record: ProbeRecord
    let settings: ProbeSettings

    private var often: String { record.observation.often }
    private var orSeveral: String { record.observation.orSeveral }

    /// Returns the hint for a fault, or `nil` if there is no advice.
    func hint(for fault: Fault) -> Hint? {
        let words = fault.key.map(otherKey) ?? text(for: fault.id)
        return words.map { Hint(kind: fault.id, words: $0, place: record.hintPlace) }
    }

    private func otherKey(_ key: String) -> HintText {
        if key.hasPrefix("TLS") {
            return
                "the server has another certificate for \(key), which is not in order: older or newer clients get it"
        }
        return
            "the server has certificates for several kinds of keys, and the \(key) one is not in order: "
            + "clients that prefer that kind, or accept no other, get it"
    }

    private var requestsClientCertificate: Bool {
        record.served?.facts?.requestsClientCertificate == true
            || record.observation.exchange?.wasAskedToRenegotiate == true
    }

    private var areMixed: Bool { record.answers?.areMixed == true }

    private func text(for id: Fault.ID) -> HintText? {
        switch id {
        case .keyMismatch:
            "the key and the certificate are not a pair: find the key that the certificate was requested with"
        case .nameMismatch where record.checkedFile != nil && !isNearMiss:
            "the certificate is for other names: have one issued with \(.host) as "
                + (record.target.host.name == nil ? "IP SAN" : "DNS SAN") + ", or check the file"
        case .expired where record.checkedFile != nil && !isLeafCurrent,
            .tooFewDays where record.checkedFile != nil:
            "renew it before it is deployed"
        case .notExpected where record.checkedFile != nil:
            "the file has another certificate than --expect says"
        case .echUnusable:
            "clients that use Encrypted Client Hello get no connection: publish the configuration that the server has "
                + "now in the HTTPS record of \(.host), or take it out of the record"
        case .helloLost: Self.longHello(record.observation.sizes)
        case .answersVary,
            .notExpected where areMixed,
            .tooFewDays where areMixed,
            .statusEnds where areMixed:
            "several servers seem to answer behind \(.ip), and not all are set up alike for \(.host): --repeat 20 "
                + "counts the answers of more handshakes\(record.observation.orBusy)"
        case .defaultCertificate where isNearMiss, .nameMismatch where isNearMiss:
            "the certificate is close, but does not cover \(.host): have one issued with that name as DNS SAN"
        case .defaultCertificate where record.sni.sent == nil: noNameSent
        case .nameMismatch,
            .defaultCertificate where record.otherNameSent != nil:
            mismatch
        case .defaultCertificate: stranger
        case .expired where isOfThisMachine, .notYetValid where isOfThisMachine:
            "the server is not to blame: update the roots of this machine (the package ca-certificates), or what --ca names"
        case .expired where isLeafCurrent:
            "the server's own certificate is good, one above it is not: install the current chain of its issuer"
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
        case .wrongPurpose where record.faults.contains { $0.brief == "issuer not for servers" }:
            "an issuer of it is not for servers: have one issued by another authority"
        case .wrongPurpose: "have one issued for servers (extended key usage serverAuth)"
        case .certificateInvalid:
            "the chain breaks a rule that clients enforce: have the certificate reissued, or install the current "
                + "chain of its issuer"
        case .revoked:
            "clients that look for it refuse the certificate: have a new one issued, and install it"
        case .stapleMissing:
            "turn OCSP stapling on (nginx: ssl_stapling on), let the server reach its issuer's responder, or have a "
                + "certificate issued without the must-staple extension"
        case .chainSize where (record.leaf?.summary.der.count ?? 0) > Judge.mostOthersTake:
            "the server's own certificate alone is too large: have one issued with fewer names, or several"
        case .chainSize:
            "curl, OpenSSL and GnuTLS accept 100 KiB: send the chain of this certificate and nothing else"
        case .tooFewDays where record.chainEnd?.above == true:
            "a certificate above the server's own ends first: install the current chain of its issuer"
        case .statusEnds:
            "find out why no newer one is there: the server, or its issuer, renews it long before its end"
        case .tooFewDays: "renew it on \(.ip), or find out why the renewed one is not there"
        case .notExpected:
            "this IP shows another certificate than the one given with --expect: is it deployed there?"
        case .httpStatus: status
        case .httpBroken, .timeoutHTTP: exchange
        case .differs: Self.differs
        default: nil
        }
    }

    /// What to do about a long hello that goes without an answer.
    static func longHello(_ sizes: HelloWords?) -> HintText? {
        guard let sizes else { return nil }
        let loss: HintText =
            sizes.losesLength
            ? "takes no hello of that length, while a short one is answered. Update it"
            : "takes the first segment for the whole hello. Update it; a short one is answered"
        return
            "browsers send such long ones since they offer X25519MLKEM768, and get no connection: the server, or a box on "
            + "the path, " + loss
    }

    static let differs: HintText =
        "the certificate is not the same on all IPs: see which of them the renewal has not reached"

    private var stranger: HintText {
        let start: HintText = "\(.ip) does not know \(.host)\(often)\(orSeveral). Set the host up there, or "
        switch record.observation.probe.source {
        case .resolvers(let names):
            return start
                + "take the IP out of what \(names.joined(separator: " and ")) \(names.count == 1 ? "gives" : "give")"
        case .resolver: return start + "take the IP out of its DNS records"
        default: return start + "check the IP; sni-probe \(.target) probes all that DNS gives."
        }
    }

    private var exchange: HintText {
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
            ? "the port may be one for TLS: try https://\(.host):\(port)/"
            : "another service than HTTP answers on port \(port), or the server is broken"
    }

    /// The hint for a server that wants to know who the client is.
    static func clientCertificate(_ settings: ProbeSettings) -> HintText {
        settings.identity == nil
            ? "the server wants a client certificate: give one with --cert FILE and --key FILE"
            : "the server does not accept the certificate of --cert, or wants one of another issuer"
    }

    static let unexpectedHeader: HintText =
        "the server may not expect the PROXY header with which the connection begins: leave out --proxy-protocol"

    private var isNearMiss: Bool {
        guard let leaf = record.leaf, record.target.host.name != nil else { return false }
        return ServedNames(leaf).nearMiss(record.target.host) != nil
    }

    private var isLeafCurrent: Bool { record.leaf?.isCurrent(at: record.judgedAt) ?? false }

    /// Whether the fault is that of a root of this machine.
    private var isOfThisMachine: Bool { record.faults.first?.brief.hasPrefix("this machine's root") == true }

    private var noNameSent: HintText {
        guard record.target.host.name != nil else { return "the certificate is for other addresses" }
        switch record.sni.verdict {
        case .needed, .neededStrict:
            return
                "this IP holds several certificates. The client must send SNI \(.host); checking the default "
                + "certificate against another name cannot work here."
        default:
            return
                "\(.ip) does not know \(.host), with SNI or without\(often). Set the host up there, or check the IP"
        }
    }

    private var mismatch: HintText {
        if case .address = record.target.host {
            return "certificates are for names as a rule: give the name, "
                + "sni-probe NAME\(record.target.port == 443 ? "" : ":\(record.target.port)") @\(.at)"
        }
        if let sent = record.otherNameSent {
            return
                "the name sent was \(sent), the certificate is checked against \(.host): leave out --sni to ask "
                + "for the host itself"
        }
        switch record.sni.verdict {
        // If the other handshake was refused, this certificate may be the one for all names.
        case .selectsWrong where record.observation.second?.served != nil:
            return
                "\(.ip) has an entry for \(.host), with the wrong certificate\(often): without SNI "
                + "another one comes. Look at what is set up for that name" + "\(orSeveral)"
        case .unknown where settings.skipsDefault:
            return "without --skip-default sni-probe says whether this is the IP's default certificate"
        case .unknown where record.observation.isHalfConfirmed: return "\(record.observation.withMoreTime)"
        default: return "look at what is set up for \(.host) on \(.ip)"
        }
    }

    private var expired: HintText {
        "renew it on \(.ip)\(often); other IPs may have the new one already: "
            + "sni-probe \(.target) --same"
            + (record.sni.verdict == .changesCertificate ? "\(orSeveral)" : "")
            + (record.observation.isHalfConfirmed ? "; \(record.observation.withMoreTime)" : "")
    }

    private var unknownIssuer: HintText {
        let name = record.served?.chain.judgement.top?.issuer.short ?? "the issuer"
        let clean = name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let file = String(clean.prefix(24)).split(separator: "-").joined(separator: "-")
        let advice: HintText =
            "if \(name) is your own CA, give it with --ca \(file.isEmpty ? "root" : file).pem"
        guard let top = record.served?.chain.judgement.top, !top.isSelfIssued else { return advice }
        if let url = top.issuerURLs.first {
            return advice + "; if it is an intermediate, the server must send it (\(url))"
        }
        guard case .only = settings.roots else { return advice }
        return advice + "; if a root of --ca is above it, the server must send it"
    }

    private var intermediate: HintText {
        guard let url = record.served?.chain.judgement.top?.issuerURLs.first else {
            return "send the full chain"
        }
        return
            "browsers fetch or remember it, most clients do not. Send the full chain (\(url), named by the "
            + "certificate, is the missing one)"
    }

    private var status: HintText? {
        guard let status = record.observation.exchange?.head?.status.code else { return nil }
        switch status {
        case 421: return "the server says that it does not serve this name: check the IP, or its set-up"
        case 404 where record.target.usesTLS:
            let path = record.target.url.map { PlainText.cut($0.path, to: 60, mark: "...") } ?? "/"
            let unknown: HintText =
                "the host may be unknown to the HTTP server, though its certificate is there"
            return path == "/" ? unknown : "if \(path) has to be there, \(unknown)"
        case 400, 401, 403, 496:
            guard record.target.usesTLS, requestsClientCertificate else { break }
            return HintWriter.clientCertificate(settings)
        default: break
        }
        switch status {
        case 400 where !record.target.usesTLS:
            return settings.proxyHeader != nil
                ? Self.unexpectedHeader : "some servers answer this on a port for TLS: try https://"
        case 401,
            403 where record.target.usesTLS && settings.identity == nil:
            return
                "the server refuses this client: give what it wants to know of one, as --header or --cert, or accept "
                + "the status with --status"
        case 500...: return record.target.usesTLS ? "TLS is fine; the service behind it is not" : nil
        default: return "if that status is right, accept it with --status"
        }
    }
}
