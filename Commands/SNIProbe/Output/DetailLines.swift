internal import DirectCore
internal import DirectHTTP

/// The lines that `-v` adds to the long form.
struct DetailLines {
    let record: ProbeRecord
    let style: Style

    var text: String {
        var text = ""
        if let leaf = record.leaf {
            text += style.field("subject", text: style.safe(leaf.subject.full, upTo: 300))
            text += style.field("issuer", text: style.safe(leaf.issuer.full, upTo: 300))
            text += style.field("serial", text: style.safe(leaf.summary.serial, upTo: 60))
            text += style.field("signature", text: leaf.signature)
            text += style.field("pin-sha256", text: Base64.encode(leaf.summary.spkiSHA256))
            text += style.field("valid", text: validity(leaf))
        }
        if let served = record.served {
            text += chain(served.chain)
            text += style.field("staple", text: staple(served))
            text += style.field("SCTs", text: "\(served.chain.leaf?.timestamps ?? 0) in the certificate")
            for fault in served.chain.judgement.faults {
                text += style.field(
                    "openssl",
                    text: "\(fault.code) at depth \(fault.depth): \(style.safe(fault.reason))"
                )
            }
        }
        if let wanted = record.observation.first?.clientAuthorities, wanted.count > 0 {
            text += style.field("client CAs", text: "\(wanted.count), which the server wants certificates of")
            for name in wanted.names { text += style.field("", text: style.safe(name, upTo: 200)) }
        }
        if let head = record.observation.exchange?.head {
            for (index, field) in head.headers.prefix(40).enumerated() {
                text += style.field(
                    index == 0 ? "headers" : "",
                    text: "\(style.safe(field.name, upTo: 60)): \(style.safe(field.value, upTo: 300))"
                )
            }
            let count = record.observation.exchange?.bodyCount ?? 0
            text += style.field("body", text: Words.count(count, of: "byte"))
            if let hash = record.observation.exchange?.bodyHash {
                text += style.field("  sha256", text: style.hash(hash))
            }
        }
        if case .broken(_, let why)? = record.observation.firstFailure {
            text += style.field("openssl", text: style.safe(why, upTo: 300))
        }
        text += style.field("source", text: style.safe("\(record.observation.probe.source)", upTo: 100))
        return text
    }

    private func staple(_ served: Handshake.Served) -> String {
        let isRequired = served.chain.leaf?.requiresStaple == true ? ", which the certificate requires" : ""
        guard let staple = served.staple else { return "no OCSP response" + isRequired }
        let end = staple.nextUpdate.map { ", until \(UTC.stamp($0))" } ?? ""
        return "OCSP response: \(staple.word(now: record.judgedAt).replacing("_", with: " "))\(end)"
            + isRequired
    }

    private func validity(_ leaf: ServedCertificate) -> String {
        let ends = [leaf.summary.notBefore, leaf.summary.notAfter].map { $0.map(UTC.stamp) ?? "no date" }
        return ends.joined(separator: " to ")
    }

    private func chain(_ chain: ExaminedChain) -> String {
        chain.certificates.enumerated().map { index, certificate in
            style.field(
                "sent \(index)",
                texts: [
                    style.safe(certificate.subject.full, upTo: 200),
                    "until " + (certificate.summary.notAfter.map(UTC.day) ?? "no date"),
                ]
            ) + style.field("  sha256", text: style.hash(certificate.summary.sha256))
        }.joined()
    }
}
