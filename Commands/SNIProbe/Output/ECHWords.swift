internal import DirectCore
internal import DirectHTTP

/// What the HTTPS records say, and what came of Encrypted Client Hello, in words.
struct ECHWords {
    let finding: ECHFinding
    let style: Style

    /// The lines after the label `ECH`.
    var lines: [String] {
        let records = finding.replies.flatMap { reply -> [String] in
            let name = style.safe(reply.resolver, upTo: 100)
            if let failure = reply.failure { return ["\(name): \(style.safe(failure, upTo: 200))"] }
            return reply.records.isEmpty
                ? ["\(name): no HTTPS record"] : reply.records.map { "\(name): \(words($0))" }
        }
        return trials + records
    }

    private var trials: [String] {
        switch finding.verdict {
        case .unknown: ["unknown: no resolver has answered"]
        case .notOffered: ["not offered"]
        case .notDone: ["not done" + (EncryptedClientHello.isSupported ? "" : ": needs OpenSSL 4")]
        default: finding.trials.map { "\($0.publicName): \(words($0))" }
        }
    }

    private func words(_ trial: ECHTrial) -> String {
        switch trial.verdict {
        case .accepted: "accepted; the path sees this name only"
        case .staleKeys:
            "old keys; the server names fresh ones, which "
                + (trial.retry?.served == nil ? "fail" : "it accepts")
        case .refused: "refused: the server proves this name, and has no keys"
        case .ignored: "ignored: the server does not prove this name"
        case .failed, .unknown, .notOffered, .notDone:
            "failed (\(trial.handshake.failure.map(SNIWords.text) ?? "no certificate"))"
        }
    }

    private func words(_ record: HTTPSRecord) -> String {
        var parts = ["alpn " + record.protocols.map { style.safe($0, upTo: 32) }.joined(separator: ",")]
        if record.priority != 1 { parts.insert("priority \(record.priority)", at: 0) }
        parts.append("target \(record.target)" + (record.port.map { ":\($0)" } ?? ""))
        if !record.hints.isEmpty {
            parts.append("hints " + record.hints.map(\.description).joined(separator: " "))
        }
        parts.append(record.encryptedClientHello.map { "ECH under \($0.publicName)" } ?? "no ECH")
        return parts.joined(separator: "; ")
    }
}
