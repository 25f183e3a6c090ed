internal import DirectCore
internal import DirectHTTP
internal import DirectJSON

/// JSON Lines output: one object for each result, in input order. All keys are always present.
final class JSONOutput: BufferedOutput, RecordOutput {
    private let options: [String]

    init(to sink: OutputSink = .standardOutput, options: [String] = []) {
        self.options = options
        super.init(to: sink)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        buffer.write(JSONRecord(record, options: options).line)
    }

    /// A file that takes the place of another gets the earlier results too.
    func add(earlier result: ReportEntry, line: [UInt8]) {
        if sink.replacesFile { buffer.write(line + [UInt8(ascii: "\n")]) }
    }
}

/// The JSON object of one record. `v` changes only when a key changes its meaning or is removed.
struct JSONRecord {
    let record: ProbeRecord
    /// The options that change what the record means.
    private let options: [String]
    var observation: Observation { record.observation }

    /// The maximum number of names in a record. A certificate may have ten thousand.
    private static let mostNames = 1000

    init(_ record: ProbeRecord, options: [String] = []) {
        (self.record, self.options) = (record, options)
    }

    var value: JSONValue { JSONText(write).value }

    /// The object, and the end of its line.
    var line: [UInt8] { JSONText(write).bytes + [UInt8(ascii: "\n")] }

    private func write(to text: inout JSONText) {
        text.field("v", value: 1)
        text.field("time", value: UTC.stamp(milliseconds: observation.time))
        text.field("host", value: record.target.name)
        text.field("ip", value: record.address?.description)
        text.field("port", value: Int(observation.probe.port))
        text.field("url", value: record.target.url.map { "\($0)" })
        text.field("source", value: "\(observation.probe.source)")
        text.field("ok", value: record.passed)
        text.list("faults", elements: record.faults) { $0.issue($1.id.rawValue, words: $1.text) }
        text.list("warnings", elements: record.warnings) { $0.issue($1.id.rawValue, words: $1.text) }
        text.field("hint", value: record.hint?.text)
        text.field("advice", value: record.hint?.words.marked)
        sni(&text)
        tls(&text)
        certificate(&text)
        answers(&text)
        otherKeys(&text)
        ech(&text)
        hellos(&text)
        chain(&text)
        verify(&text)
        http(&text)
        text.object("ms") { text in
            for (phase, time) in observation.phases { text.field(phase, milliseconds: time) }
        }
        text.field("resolver", value: record.failedResolver)
        resolvers(&text)
        baseline(&text)
        text.field("attempts", value: observation.attempts)
        text.list("options", texts: options)
    }

    private func sni(_ text: inout JSONText) {
        text.object("sni") { text in
            text.field("sent", value: record.sni.sent)
            text.field("verdict", value: record.sni.verdict.rawValue)
            let isSwapped = record.sni.sent == nil
            handshake("without", handshake: isSwapped ? nil : observation.second, text: &text)
            handshake("with", handshake: isSwapped ? observation.second : nil, text: &text)
            let count = observation.firsts.count + observation.seconds.count
            text.field("handshakes", value: record.checkedFile == nil ? count : 0)
        }
    }

    /// Writes the result of the second handshake.
    private func handshake(_ key: String, handshake: Handshake?, text: inout JSONText) {
        guard let handshake else { return text.null(key) }
        let (chain, identity) = (handshake.served?.chain, try? record.target.identity)
        text.object(key) { text in
            text.field("result", value: handshake.failure?.word ?? "certificate")
            text.field("sha256", value: chain?.leaf.map { Hex.encode($0.summary.sha256) })
            text.list("names", texts: chain.map { first($0.leaf.map { ServedNames($0).all } ?? []) })
            text.field("matches_host", value: chain.map { $0.match(identity) != nil })
            text.field("alert", value: handshake.failure?.alertName)
        }
    }

    private func first(_ names: [String]) -> [String] { Array(names.prefix(Self.mostNames)) }

    private func tls(_ text: inout JSONText) {
        guard record.target.usesTLS, record.checkedFile == nil else { return text.null("tls") }
        let facts = record.served?.facts
        text.object("tls") { text in
            text.field("version", value: facts?.version)
            text.field("cipher", value: facts?.cipher)
            text.field("group", value: facts?.group)
            text.field("alpn", value: facts?.alpn)
            text.field("alert", value: record.alert?.name)
            text.field("client_certificate_asked", value: facts?.requestsClientCertificate)
            text.list("client_authorities", texts: observation.first?.clientAuthorities.names ?? [])
            text.field("client_authorities_count", value: observation.first?.clientAuthorities.count)
            text.field("ocsp_stapled", value: facts.map { $0.staple != nil })
            text.field("scts", value: record.leaf?.timestamps)
        }
    }

    private func certificate(_ text: inout JSONText) {
        guard let leaf = record.leaf else { return text.null("certificate") }
        let summary = leaf.summary
        text.object("certificate") { text in
            text.field("subject", value: leaf.subject.full)
            text.list("names", texts: first(summary.dnsNames))
            text.list("ips", texts: first(summary.ipAddresses))
            text.field("names_count", value: ServedNames(leaf).count)
            text.field("issuer", value: leaf.issuer.full)
            text.field("not_before", value: summary.notBefore.map(UTC.stamp))
            text.field("not_after", value: summary.notAfter.map(UTC.stamp))
            text.field("days_left", value: record.daysLeft)
            text.field("serial", value: summary.serial)
            text.field("sha256", value: Hex.encode(summary.sha256))
            text.field("pin_sha256", value: Base64.encode(summary.spkiSHA256))
            text.object("key") { text in
                text.field("type", value: leaf.key.type)
                text.field("bits", value: leaf.key.bits)
                text.field("curve", value: leaf.key.curve)
            }
            text.field("signature", value: leaf.signature)
            text.list("issuer_urls", texts: leaf.issuerURLs)
        }
    }

    private func chain(_ text: inout JSONText) {
        guard let chain = record.served?.chain else { return text.null("chain") }
        text.object("chain") { text in
            text.list("sent", elements: chain.certificates) { text, certificate in
                text.field("subject", value: certificate.subject.full)
                text.field("sha256", value: Hex.encode(certificate.summary.sha256))
                text.field("not_after", value: certificate.summary.notAfter.map(UTC.stamp))
            }
            text.field("count", value: chain.count)
            text.field("in_order", value: chain.isInOrder)
            text.field("anchor", value: chain.judgement.anchor?.full)
            text.field("not_after", value: record.chainEnd.map { UTC.stamp($0.notAfter) })
        }
    }

    private func verify(_ text: inout JSONText) {
        guard let chain = record.served?.chain else { return text.null("verify") }
        let faults = ChainVerdict(chain, now: record.judgedAt).faults
        let trust = faults.first { $0.id.row.subject != .dates }
        let code = chain.judgement.faults.first { ![.expired, .notYetValid].contains($0.kind) }
        text.object("verify") { text in
            text.object("name") { text in
                text.field("ok", value: record.matchedName != nil)
                text.field("matched", value: record.matchedName)
            }
            text.object("trust") { text in
                text.field("ok", value: trust == nil)
                text.field("code", value: code?.code ?? 0)
                text.field("text", value: code?.reason)
                text.list("other_stores", elements: chain.otherStores) { text, store in
                    text.field("label", value: store.label)
                    text.field("ok", value: store.isTrusted)
                }
            }
            text.object("staple") { text in
                text.field("status", value: record.served?.staple?.word(now: record.judgedAt))
                text.field("required", value: chain.leaf?.requiresStaple)
                text.field("next_update", value: record.served?.staple?.nextUpdate.map(UTC.stamp))
            }
            revocation(&text)
            text.object("dates") { $0.field("ok", value: !faults.contains { $0.id.row.subject == .dates }) }
        }
    }

    private func revocation(_ text: inout JSONText) {
        guard let revocation = observation.revocation else { return text.null("revocation") }
        text.object("revocation") { text in
            text.field("status", value: revocation.word(now: record.judgedAt))
            text.field("source", value: revocation.source?.rawValue)
            text.field("url", value: revocation.url)
            text.field("next_update", value: revocation.judgement?.nextUpdate.map(UTC.stamp))
        }
    }

    private func http(_ text: inout JSONText) {
        guard let exchange = observation.exchange else { return text.null("http") }
        text.object("http") { text in
            text.field("status", value: exchange.head.map { Int($0.status.code) })
            text.field("reason", value: exchange.head?.reason)
            text.field("location", value: exchange.head?.headers["Location"])
            text.field("hsts_max_age", value: exchange.head?.hstsMaximumAge)
            text.object("headers") { text in
                for (name, values) in headers(exchange.head) { text.list(name, texts: values) }
            }
            text.field("body_bytes", value: exchange.bodyCount)
            text.field("body_sha256", value: exchange.bodyHash.map { Hex.encode($0) })
        }
    }

    /// Returns the header fields by lower-case name, in the order of the first line of each.
    private func headers(_ head: ResponseHead?) -> [(String, [String])] {
        guard let head else { return [] }
        var names: [String] = []
        for field in head.headers {
            let name = field.name.lowercased()
            if !names.contains(name) { names.append(name) }
        }
        return names.map { ($0, head.headers.values(for: $0)) }
    }
}

extension JSONText {
    fileprivate mutating func issue(_ id: String, words: String) {
        field("id", value: id)
        field("text", value: words)
    }
}

extension HandshakeFailure {
    var word: String {
        switch self {
        case .alert: "alert"
        case .closed: "closed"
        case .reset: "reset"
        case .silentTCP, .silentTLS: "timeout"
        case .notConnected, .badAddress, .noTunnel: "not_connected"
        case .notTLS, .noUpgrade: "not_tls"
        case .broken: "broken"
        case .cancelled: "not_tried"
        }
    }

    var alertName: String? {
        if case .alert(let alert) = self { alert.name } else { nil }
    }
}
