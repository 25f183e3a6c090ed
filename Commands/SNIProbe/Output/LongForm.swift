internal import DirectCore
internal import DirectHTTP
internal import DirectHello

/// A result in full: the verdict, then the evidence, then a hint.
struct LongForm {
    let record: ProbeRecord
    let style: Style
    /// Whether all details are included.
    let verbose: Bool

    private var observation: Observation { record.observation }
    private var target: ProbeTarget { record.target }
    private var isNameWrong: Bool { hasFault(about: .name) && record.matchedName == nil }

    var text: String {
        let evidence = evidence
        var text = heading + "\n" + (evidence.isEmpty ? "" : "\n" + evidence)
        if let hint = record.hint { text += (evidence.isEmpty ? "" : "\n") + style.hint(hint.text) }
        return text
    }

    private var evidence: String {
        var text = ""
        if let served = record.served {
            text += certificate(served)
            if record.passed || verbose || hasFault(about: .chain) { text += chain(served.chain) }
        }
        text += revocation + otherKeys + answers + answer + alert + sni + ech
        if let facts = record.served?.facts { text += handshake(facts) }
        text += hellos + http + time
        return verbose ? text + DetailLines(record: record, style: style).text : text
    }

    private var heading: String {
        let place =
            record.checkedFile.map { " in \(style.safe($0 == "-" ? "standard input" : $0, upTo: 100))" }
            ?? record.address.map { " @ \(Endpoint($0, port: observation.probe.port))" } ?? ":\(target.port)"
        let head = style.state(record) + target.name + place
        let words = (record.faults.map(\.text) + record.warnings.map(\.text)).map {
            style.safe($0, upTo: 200)
        }
        guard !words.isEmpty else { return head }
        let visible = 6 + target.name.count + place.count
        let verdict = words.joined(separator: "; ")
        if visible + 3 + verdict.count <= style.width { return head + "   " + verdict }
        return head + "\n      " + style.wrapped(verdict, indent: 6).joined(separator: "\n      ")
    }

    private func has(_ id: Fault.ID) -> Bool { record.faults.contains { $0.id == id && $0.key == nil } }

    private func hasFault(about subject: Fault.ID.Subject) -> Bool {
        record.faults.contains { $0.id.row.subject == subject && $0.key == nil }
    }

    private func certificate(_ served: Handshake.Served) -> String {
        guard let leaf = served.chain.leaf else { return "" }
        var lines = [names(of: leaf)]
        if isNameWrong, let miss = ServedNames(leaf).nearMiss(target.host) { lines.append(style.safe(miss)) }
        lines.append("by \(style.safe(leaf.issuer.short, upTo: 60)), \(validity(leaf))")
        var hash = ""
        if style.fullHashes {
            // A full hash needs a line of its own.
            lines.append(key(leaf.key))
            hash = style.field("sha256", text: style.hash(leaf.summary.sha256))
        } else {
            lines.append("sha256 \(style.hash(leaf.summary.sha256))  \(key(leaf.key))")
        }
        guard isNameWrong else { return style.field("certificate", texts: lines) + hash }
        let asked = target.name + (record.otherNameSent.map { ", with SNI \(style.safe($0))" } ?? "")
        return style.field("asked for", text: asked) + style.field("served", texts: lines) + hash
    }

    private var revocation: String {
        guard let revocation = observation.revocation, let source = revocation.source else { return "" }
        let end = revocation.judgement?.nextUpdate.map { ", until \(UTC.stamp($0))" } ?? ""
        let url = revocation.url.map { ", \(style.safe($0, upTo: 100))" } ?? ""
        let word = revocation.word(now: record.judgedAt).replacing("_", with: " ")
        return style.field("revocation", text: "\(word), by \(source.words)\(end)\(url)")
    }

    private var answers: String {
        guard let count = record.answers else { return "" }
        let lines = count.answers.map { "\($0.count) of \(count.total) \(style.safe($0.words, upTo: 100))" }
        return style.field("answers", texts: lines)
    }

    private var otherKeys: String {
        let lines = observation.otherKeys.map { other in
            let (kind, isVersion) = (other.kind.rawValue, other.kind.version != nil)
            guard let leaf = other.served?.chain.leaf else {
                let why = other.handshake.requestsClientCertificate ? " without a client certificate" : ""
                return isVersion ? "\(kind): no handshake\(why)" : "no \(kind) certificate"
            }
            let end = "\(key(leaf.key)), \(validity(leaf)), sha256 \(style.hash(leaf.summary.sha256))"
            let isSame = leaf.summary.sha256 == record.leaf?.summary.sha256
            return (isVersion ? "\(kind): " : "") + (isSame ? "the same: \(end)" : end)
        }
        return lines.isEmpty ? "" : style.field("other keys", texts: lines)
    }

    private func names(of leaf: ServedCertificate) -> String {
        let names = ServedNames(leaf)
        guard names.count > 0 else {
            return style.safe(leaf.subject.short, upTo: 64) + " (as CN, no SAN)"
        }
        // The matching name comes first. It would be hard to find among ten thousand names.
        let matched = record.matchedName.map { [$0] } ?? []
        let shown = (matched + names.all.filter { !matched.contains($0) }).prefix(verbose ? 100 : 6)
        return Words.list(shown.map { style.safe($0, upTo: 64) }, of: names.count)
    }

    private func validity(_ leaf: ServedCertificate) -> String {
        guard let from = leaf.summary.notBefore, let until = leaf.summary.notAfter else {
            return "with an invalid date"
        }
        guard leaf.isCurrent(at: record.judgedAt), let time = leaf.secondsLeft(at: record.judgedAt) else {
            return "\(UTC.day(from)) to \(UTC.day(until)) \(UTC.clock(until)) UTC"
        }
        return "until \(UTC.day(until)), \(Words.left(time)) left"
    }

    private func key(_ key: KeyText) -> String {
        switch key.type {
        case "EC": "ECDSA \(key.curve ?? "\(key.bits)")"
        case "RSA", "RSA-PSS": "\(key.type) \(key.bits)"
        default: key.type.prefix(1) + key.type.dropFirst().lowercased()
        }
    }

    private func chain(_ chain: ExaminedChain) -> String {
        let above = chain.certificates.dropFirst().map { style.safe($0.subject.short, upTo: 40) }
        var sent = above.isEmpty ? "leaf only" : Words.list(["leaf"] + above, of: chain.count)
        if !chain.isInOrder { sent += chain.hasSurplus ? " (more than needed)" : " (not in order)" }
        var lines = ["\(sent); \(ending(chain))"]
        if let end = chain.end, end.above, end.notAfter > record.judgedAt,
            end.notAfter < record.leaf?.summary.notAfter ?? 0
        {
            lines.append("ends before its leaf: \(Words.left(end.notAfter - record.judgedAt)) left")
        }
        let others = chain.otherStores.map { "\($0.label) \($0.isTrusted ? "trusts" : "does not trust") it" }
        if !others.isEmpty { lines.append(others.joined(separator: ", ")) }
        return style.field("chain", texts: lines)
    }

    private func ending(_ chain: ExaminedChain) -> String {
        let judgement = chain.judgement
        if has(.selfSigned) { return "self-signed" }
        if let top = judgement.top {
            let issuer = style.safe(top.issuer.short, upTo: 40)
            if top.isSelfIssued { return "\(issuer) is not trusted" }
            return has(.intermediateMissing)
                ? "issuer \(issuer) was not sent" : "issuer \(issuer) was not sent, is not trusted"
        }
        guard let anchor = judgement.anchor else { return "no root found" }
        return (judgement.isTrusted ? "trusted by " : "leads to ") + style.safe(anchor.short, upTo: 40)
    }

    /// The first bytes of a server that does not use TLS.
    private var answer: String {
        guard let bytes = observation.first?.nonTLSBytes, !bytes.isEmpty else { return "" }
        // Byte by byte, because the answer may end in the middle of a character.
        let text = bytes.map { byte in
            switch byte {
            case 0x20..<0x7F: String(UnicodeScalar(byte))
            case 0x0A: "\\n"
            case 0x0D: "\\r"
            default: "\\x" + Hex.encode([byte])
            }
        }
        return style.field("answered", text: PlainText.cut(text.joined(), to: 60, mark: style.ellipsis))
    }

    private var alert: String {
        guard let alert = record.alert else { return "" }
        var text = "\(alert.name) (\(alert.number))"
        if let failure = observation.second?.failure, failure.isRejection {
            let other = observation.first?.serverName == nil ? "with SNI" : "without SNI"
            text += failure == .alert(alert) ? ", also \(other)" : "; \(other): \(SNIWords.text(of: failure))"
        }
        return style.field("alert", text: text)
    }

    private var sni: String {
        SNIWords(record: record, style: style).text.map { style.field("SNI", text: $0) } ?? ""
    }

    private var ech: String {
        observation.ech.map { style.field("ECH", texts: ECHWords(finding: $0, style: style).lines) } ?? ""
    }

    private var hellos: String {
        observation.hellos.map { style.field($0.survey.label, text: HelloWords(finding: $0).text) }.joined()
    }

    private func handshake(_ facts: SurveyFacts) -> String {
        var parts = [
            facts.version.hasPrefix("TLSv") ? "TLS \(facts.version.dropFirst(4))" : facts.version,
            facts.cipher,
        ]
        if let group = facts.group { parts.append(group) }
        if let alpn = facts.alpn { parts.append(style.safe(alpn, upTo: 32)) }
        var lines = [parts.joined(separator: "  ")]
        if facts.requestsClientCertificate { lines.append("asks for a client certificate") }
        return style.field("protocol", texts: lines)
    }

    private var http: String {
        guard let exchange = observation.exchange else {
            guard target.url != nil, record.served != nil, !record.passed else { return "" }
            return style.field("HTTP", text: "no request sent, since the certificate is wrong (-k sends it)")
        }
        guard let head = exchange.head else { return "" }
        var text = "\(head.status.code)"
        if let location = head.headers["Location"] {
            text += " to \(style.safe(location, upTo: 200))"
        } else if !head.reason.isEmpty {
            text += " \(style.safe(head.reason, upTo: 60))"
        }
        if let age = head.hstsMaximumAge { text += "   HSTS \(Words.distance(age))" }
        return style.field("HTTP", text: text)
    }

    private var time: String {
        var parts: [String] = []
        if let time = observation.probe.resolveTime { parts.append("dns \(Words.milliseconds(time))") }
        if let time = observation.first?.tcpTime ?? observation.tcpTime {
            parts.append("tcp \(Words.milliseconds(time))")
        }
        if has(.timeoutTLS) {
            guard let last = parts.popLast() else { return "" }
            let end = observation.first?.hasReceivedBytes == true ? "then part of an answer" : "then silence"
            return style.field("time", text: (parts + ["\(last) ms, \(end)"]).joined(separator: "  "))
        }
        guard observation.first?.tcpTime != nil || observation.tcpTime != nil, !has(.timeoutTCP) else {
            return ""
        }
        if let time = observation.first?.tlsTime { parts.append("tls \(Words.milliseconds(time))") }
        if let time = observation.exchange?.firstByteTime {
            parts.append("first byte \(Words.milliseconds(time))")
        }
        if let time = observation.total { parts.append("total \(Words.milliseconds(time))") }
        if let first = parts.first { parts[0] = first + " ms" }
        if observation.attempts > 1 { parts.append("after \(observation.attempts) attempts") }
        return style.field("time", text: parts.joined(separator: "  "))
    }
}

extension ResponseHead {
    /// The `max-age` of Strict-Transport-Security in seconds.
    var hstsMaximumAge: Int? {
        headers["Strict-Transport-Security"].flatMap { HSTSPolicy(Array($0.utf8)) }.map { Int($0.maximumAge) }
    }
}
