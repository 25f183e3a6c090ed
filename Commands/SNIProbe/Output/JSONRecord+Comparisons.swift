internal import DirectCore
internal import DirectHTTP
internal import DirectHello

/// The parts of a record that compare: with other handshakes, other resolvers, and an earlier run.
extension JSONRecord {
    func resolvers(_ text: inout JSONText) {
        guard let replies = record.replies else { return text.null("resolvers") }
        let address = record.address
        text.list("resolvers", elements: replies.replies) { text, reply in
            text.field("resolver", value: reply.resolver)
            text.field("gives_ip", value: address.map { reply.addresses.contains($0) })
            text.list("addresses", texts: reply.addresses.map(\.description))
            text.field("ttl", value: reply.timeToLive)
            text.field("ms", milliseconds: reply.time)
            text.field("error", value: reply.failure)
        }
    }

    func baseline(_ text: inout JSONText) {
        guard let change = record.change else { return text.null("baseline") }
        var old: Baseline.Entry?
        if case .other(let was) = change { old = was }
        text.object("baseline") { text in
            text.field("change", value: change.word)
            text.field("sha256", value: old?.hashes.min())
            text.list("faults", texts: old?.faults)
            text.field("sni_verdict", value: old?.verdict)
        }
    }

    func answers(_ text: inout JSONText) {
        guard let count = record.answers else { return text.null("answers") }
        text.list("answers", elements: count.answers) { text, answer in
            text.field("count", value: answer.count)
            text.field("ok", value: answer.isRight)
            text.field("result", value: answer.failure?.word ?? "certificate")
            text.field("alert", value: answer.failure?.alertName)
            text.field("sha256", value: answer.leaf.map { Hex.encode($0.summary.sha256) })
            text.field("not_after", value: answer.leaf?.summary.notAfter.map(UTC.stamp))
            text.field("name", value: answer.leaf.map { ServedNames($0).first(1) })
        }
    }

    func otherKeys(_ text: inout JSONText) {
        guard !observation.otherKeys.isEmpty else { return text.null("other_keys") }
        text.list("other_keys", elements: observation.otherKeys) { text, other in
            let leaf = other.served?.chain.leaf
            text.field("key", value: other.kind.rawValue)
            text.field("sha256", value: leaf.map { Hex.encode($0.summary.sha256) })
            text.field("not_after", value: leaf?.summary.notAfter.map(UTC.stamp))
            text.field("days_left", value: leaf?.daysLeft(at: record.judgedAt))
        }
    }

    func hellos(_ text: inout JSONText) {
        guard !observation.hellos.isEmpty else { return text.null("hellos") }
        text.list("hellos", elements: observation.hellos) { text, finding in
            text.field("survey", value: finding.survey.rawValue)
            text.field("text", value: HelloWords(finding: finding).text)
            text.field("group", value: finding.classicGroup?.name)
            text.list("forms", elements: finding.survey.forms) { text, form in
                text.field("form", value: form.rawValue)
                text.field("verdict", value: finding.verdict(on: form).rawValue)
                text.list("replies", texts: finding.replies(to: form).map(\.words))
            }
        }
    }

    func ech(_ text: inout JSONText) {
        guard let finding = observation.ech else { return text.null("ech") }
        text.object("ech") { text in
            text.field("verdict", value: finding.verdict.rawValue)
            text.list("resolvers", elements: finding.replies) { text, reply in
                text.field("resolver", value: reply.resolver)
                text.field("error", value: reply.failure)
                text.list("records", elements: reply.records) { $1.write(to: &$0) }
            }
            text.list("handshakes", elements: finding.trials) { text, trial in
                text.field("public_name", value: "\(trial.publicName)")
                text.field("verdict", value: trial.verdict.rawValue)
                text.field("fresh_keys_accepted", value: trial.retry.map { $0.served != nil })
                let refusal = trial.handshake.refusal
                text.field("public_name_proved", value: refusal.map { $0.proves(trial.publicName) })
                text.field("sha256", value: refusal?.chain.leaf.map { Hex.encode($0.summary.sha256) })
            }
        }
    }
}

extension HTTPSRecord {
    fileprivate func write(to text: inout JSONText) {
        text.field("priority", value: Int(priority))
        text.field("target", value: target.text)
        text.field("port", value: port.map(Int.init))
        text.list("alpn", texts: protocols)
        text.list("hints", texts: hints.map(\.description))
        text.field("public_name", value: encryptedClientHello.map { "\($0.publicName)" })
    }
}
