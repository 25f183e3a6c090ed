internal import DirectCore
internal import DirectHTTP

/// The parts of a record that compare: with other handshakes, other resolvers, and an earlier run.
extension JSONRecord {
    func resolvers(_ text: inout JSONText) {
        guard let replies = record.replies else { return text.null("resolvers") }
        let address = record.address
        text.list("resolvers", elements: replies.replies) { text, reply in
            text.object { text in
                text.field("resolver", value: reply.resolver)
                text.field("gives_ip", value: address.map { reply.addresses.contains($0) })
                text.list("addresses", texts: reply.addresses.map(\.description))
                text.field("ttl", value: reply.timeToLive)
                text.field("ms", milliseconds: reply.time)
                text.field("error", value: reply.failure)
            }
        }
    }

    func baseline(_ text: inout JSONText) {
        guard let change = record.change else { return text.null("baseline") }
        var old: Baseline.Entry?
        if case .other(let was) = change { old = was }
        text.object("baseline") { text in
            text.field("change", value: change.word)
            text.field("sha256", value: old?.hash)
            if let old { text.list("faults", texts: old.faults) } else { text.null("faults") }
            text.field("sni_verdict", value: old?.verdict)
        }
    }

    func answers(_ text: inout JSONText) {
        guard !observation.repeats.isEmpty, let count = record.answers else { return text.null("answers") }
        text.list("answers", elements: count.answers) { text, answer in
            text.object { text in
                text.field("count", value: answer.count)
                text.field("ok", value: answer.isRight)
                if case .failure(let failure) = answer.outcome {
                    text.field("result", value: failure.word)
                    text.field("alert", value: failure.alertName)
                } else {
                    text.field("result", value: "certificate")
                    text.null("alert")
                }
                text.field("sha256", value: answer.leaf.map { Hex.encode($0.summary.sha256) })
                text.field("not_after", value: answer.leaf?.summary.notAfter.map(UTC.stamp))
                text.field("name", value: answer.leaf.map { ServedNames($0).first(1) })
            }
        }
    }

    func otherKeys(_ text: inout JSONText) {
        guard !observation.otherKeys.isEmpty else { return text.null("other_keys") }
        text.list("other_keys", elements: observation.otherKeys) { text, other in
            let leaf = other.served?.chain.leaf
            text.object { text in
                text.field("key", value: other.kind.rawValue)
                text.field("sha256", value: leaf.map { Hex.encode($0.summary.sha256) })
                text.field("not_after", value: leaf?.summary.notAfter.map(UTC.stamp))
                text.field("days_left", value: leaf?.daysLeft(at: record.judgedAt))
            }
        }
    }
}
