internal import DirectHTTP

/// JSON Lines output: one object for each result, in input order. All keys are always present.
final class JSONOutput: RecordOutput {
    private var buffer = OutputBuffer()

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        var text = JSONText()
        JSONRecord(record).write(to: &text)
        text.endLine()
        buffer.write(text.bytes)
    }

    func finish(_ tally: Tally, interrupted: Bool) {}

    func flush() -> Bool { buffer.flush() }
}

/// The JSON object of one record. `v` changes only when a key changes its meaning or is removed.
struct JSONRecord {
    private let record: ProbeRecord
    private var observation: Observation { record.observation }

    /// The maximum number of names in a record. A certificate may have ten thousand.
    private static let mostNames = 1000

    init(_ record: ProbeRecord) {
        self.record = record
    }

    /// Writes the object.
    func write(to text: inout JSONText) {
        text.object { text in
            text.field("v", 1)
            text.field("time", UTC.stamp(milliseconds: observation.time))
            text.field("host", record.target.name)
            text.field("ip", record.lookupFailure == nil ? observation.probe.address.description : nil)
            text.field("port", Int(observation.probe.port))
            text.field("url", record.target.url.map { "\($0)" })
            text.field("source", "\(observation.probe.source)")
            text.field("ok", record.passed)
            text.list("faults", record.faults) { $0.issue($1.id.rawValue, $1.text) }
            text.list("warnings", record.warnings) { $0.issue($1.id.rawValue, $1.text) }
            text.field("hint", record.hint?.text)
            sni(&text)
            tls(&text)
            certificate(&text)
            chain(&text)
            verify(&text)
            http(&text)
            times(&text)
            text.field("attempts", observation.attempts)
        }
    }

    private func sni(_ text: inout JSONText) {
        text.object("sni") { text in
            text.field("sent", record.sni.sent)
            text.field("verdict", record.sni.verdict.rawValue)
            let isSwapped = record.sni.sent == nil
            if isSwapped {
                text.null("without")
                handshake("with", observation.second, &text)
            } else {
                handshake("without", observation.second, &text)
                text.null("with")
            }
        }
    }

    /// Writes the result of the second handshake.
    private func handshake(_ key: StaticString, _ handshake: Handshake?, _ text: inout JSONText) {
        guard let handshake else { return text.null(key) }
        let identity = try? record.target.identity
        text.object(key) { text in
            switch handshake.outcome {
            case .success(let served):
                let leaf = served.chain.leaf
                text.field("result", "certificate")
                text.field("sha256", leaf.map { hexText($0.summary.sha256) })
                text.list("names", leaf.map { ServedNames($0).all.prefix(Self.mostNames) } ?? [])
                text.field("matches_host", served.chain.match(identity) != nil)
                text.null("alert")
            case .failure(let refusal):
                text.field("result", refusal.word)
                text.null("sha256")
                text.null("names")
                text.null("matches_host")
                text.field("alert", refusal.alertName)
            }
        }
    }

    private func tls(_ text: inout JSONText) {
        guard record.target.usesTLS else { return text.null("tls") }
        let facts = record.served?.facts
        text.object("tls") { text in
            text.field("version", facts?.version)
            text.field("cipher", facts?.cipher)
            text.field("group", facts?.group)
            text.field("alpn", facts?.alpn)
            text.field("alert", record.alert.map(nameOfAlert))
            text.field("client_certificate_asked", facts?.asksForCertificate)
            text.field("ocsp_stapled", facts?.hasStaple)
            text.field("scts", record.leaf?.timestamps)
        }
    }

    private func certificate(_ text: inout JSONText) {
        guard let leaf = record.leaf else { return text.null("certificate") }
        let summary = leaf.summary
        text.object("certificate") { text in
            text.field("subject", leaf.subject.full)
            text.list("names", summary.dnsNames.prefix(Self.mostNames))
            text.list("ips", summary.ipAddresses.prefix(Self.mostNames))
            text.field(
                "names_count",
                summary.dnsNames.count + summary.ipAddresses.count + summary.omittedNames
            )
            text.field("issuer", leaf.issuer.full)
            text.field("not_before", summary.notBefore.map(UTC.stamp))
            text.field("not_after", summary.notAfter.map(UTC.stamp))
            text.field("days_left", record.daysLeft)
            text.field("serial", summary.serial)
            text.field("sha256", hexText(summary.sha256))
            text.field("pin_sha256", base64(summary.spkiSHA256))
            text.object("key") { text in
                text.field("type", leaf.key.type)
                text.field("bits", leaf.key.bits)
                text.field("curve", leaf.key.curve)
            }
            text.field("signature", leaf.signature)
            text.list("issuer_urls", leaf.issuerURLs)
        }
    }

    private func chain(_ text: inout JSONText) {
        guard let chain = record.served?.chain else { return text.null("chain") }
        text.object("chain") { text in
            text.list("sent", chain.certificates) { text, certificate in
                text.object { text in
                    text.field("subject", certificate.subject.full)
                    text.field("sha256", hexText(certificate.summary.sha256))
                    text.field("not_after", certificate.summary.notAfter.map(UTC.stamp))
                }
            }
            text.field("count", chain.count)
            text.field("in_order", chain.isInOrder)
            text.field("anchor", chain.judgement.anchor?.full)
        }
    }

    private func verify(_ text: inout JSONText) {
        guard let chain = record.served?.chain else { return text.null("verify") }
        let dates: [Fault.ID] = [.expired, .notYetValid]
        let faults = ChainVerdict(chain, now: record.judgedAt).faults
        let trust = faults.first { !dates.contains($0.id) }
        let code = chain.judgement.faults.first { ![9, 10].contains($0.code) }
        text.object("verify") { text in
            text.object("name") { text in
                text.field("ok", record.matchedName != nil)
                text.field("matched", record.matchedName)
            }
            text.object("trust") { text in
                text.field("ok", trust == nil)
                text.field("code", code?.code ?? 0)
                text.field("text", code?.reason)
            }
            text.object("dates") { $0.field("ok", !faults.contains { dates.contains($0.id) }) }
        }
    }

    private func http(_ text: inout JSONText) {
        guard let exchange = observation.exchange else { return text.null("http") }
        text.object("http") { text in
            text.field("status", exchange.head.map { Int($0.status.code) })
            text.field("reason", exchange.head?.reason)
            text.field("location", exchange.head?.headers["Location"])
            text.field("hsts_max_age", exchange.head.flatMap(HSTS.maxAge))
            text.object("headers") { text in
                for (name, values) in headers(exchange.head) { text.list(named: name, values) }
            }
            text.field("body_bytes", exchange.bodyCount)
            text.field("body_sha256", exchange.bodyHash.map { hexText($0) })
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

    private func times(_ text: inout JSONText) {
        text.object("ms") { text in
            text.field("dns", milliseconds: observation.probe.resolveTime)
            text.field("tcp", milliseconds: observation.first?.tcpTime ?? observation.tcpTime)
            text.field("tls", milliseconds: record.served == nil ? nil : observation.first?.tlsTime)
            text.field("first_byte", milliseconds: observation.exchange?.firstByteTime)
            text.field("total", milliseconds: observation.total)
        }
    }
}

extension JSONText {
    fileprivate mutating func issue(_ id: String, _ words: String) {
        object { text in
            text.field("id", id)
            text.field("text", words)
        }
    }
}

extension Refusal {
    fileprivate var word: String {
        switch self {
        case .alert: "alert"
        case .closed: "closed"
        case .reset: "reset"
        case .silentTCP, .silentTLS: "timeout"
        case .notConnected, .badAddress: "not_connected"
        case .notTLS: "not_tls"
        case .broken: "broken"
        case .dropped: "not_tried"
        }
    }

    fileprivate var alertName: String? {
        if case .alert(let number) = self { nameOfAlert(number) } else { nil }
    }
}
