internal import DirectCore
internal import DirectHTTP

/// The lines that `-v` adds to the long form.
struct DetailLines {
    let record: ProbeRecord
    let style: Style

    var text: String {
        var text = ""
        if let leaf = record.leaf {
            text += style.field("subject", texts: [style.safe(leaf.subject.full, upTo: 300)])
            text += style.field("issuer", texts: [style.safe(leaf.issuer.full, upTo: 300)])
            text += style.field("serial", texts: [style.safe(leaf.summary.serial, upTo: 60)])
            text += style.field("signature", texts: [leaf.signature])
            text += style.field("pin-sha256", texts: [Base64.encode(leaf.summary.spkiSHA256)])
            text += style.field("valid", texts: [validity(leaf)])
        }
        if let served = record.served {
            text += chain(served.chain)
            text += style.field(
                "staple",
                texts: [staple(served)]
            )
            text += style.field("SCTs", texts: ["\(served.chain.leaf?.timestamps ?? 0) in the certificate"])
            for fault in served.chain.judgement.faults {
                text += style.field(
                    "openssl",
                    texts: ["\(fault.code) at depth \(fault.depth): \(style.safe(fault.reason))"]
                )
            }
        }
        if let head = record.observation.exchange?.head {
            for (index, field) in head.headers.prefix(40).enumerated() {
                text += style.field(
                    index == 0 ? "headers" : "",
                    texts: ["\(style.safe(field.name, upTo: 60)): \(style.safe(field.value, upTo: 300))"]
                )
            }
            let count = record.observation.exchange?.bodyCount ?? 0
            text += style.field("body", texts: [count == 1 ? "1 byte" : "\(Words.grouped(count)) bytes"])
            if let hash = record.observation.exchange?.bodyHash {
                text += style.field("  sha256", texts: [style.hash(hash)])
            }
        }
        if case .broken(_, let why)? = record.observation.firstFailure {
            text += style.field("openssl", texts: [style.safe(why, upTo: 300)])
        }
        text += style.field("source", texts: [style.safe("\(record.observation.probe.source)", upTo: 100)])
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
            ) + style.field("  sha256", texts: [style.hash(certificate.summary.sha256)])
        }.joined()
    }
}
