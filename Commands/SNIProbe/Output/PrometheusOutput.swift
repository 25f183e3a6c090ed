internal import DirectCore
internal import DirectHTTP
internal import DirectJSON

/// Metrics in the Prometheus text format, for the node exporter's textfile directory.
///
/// The samples of a metric must be consecutive, so everything is written at the end.
final class PrometheusOutput: BufferedOutput, RecordOutput {
    private var samples: [Metric: [String]] = [:]
    private var seen: Set<String> = []

    private enum Metric: String, CaseIterable {
        case success = "sni_probe_success"
        case fault = "sni_probe_fault"
        case notAfter = "sni_probe_cert_not_after_seconds"
        case chainNotAfter = "sni_probe_chain_not_after_seconds"
        case stapleEnd = "sni_probe_staple_next_update_seconds"
        case revocationEnd = "sni_probe_revocation_next_update_seconds"
        case needed = "sni_probe_sni_needed"
        case hello = "sni_probe_hello"
        case seconds = "sni_probe_seconds"
        case status = "sni_probe_http_status"

        var help: String {
            switch self {
            case .success: "Whether the probe passed."
            case .fault: "1 for each fault of the probe."
            case .notAfter: "The expiry of the server's own certificate, in seconds since 1970."
            case .chainNotAfter:
                "The first expiry on the path to the root, without the root, in seconds since 1970."
            case .stapleEnd: "The end of the stapled OCSP response, in seconds since 1970."
            case .revocationEnd: "The end of the issuer's answer, in seconds since 1970."
            case .needed: "Whether the right certificate is sent only with SNI; absent if that is unknown."
            case .hello: "Whether each ClientHello of this form was answered as wanted; absent if unknown."
            case .seconds: "The duration of each phase of the probe."
            case .status: "The status of the HTTP response."
            }
        }
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        add(Facts(ReportEntry(record), line: JSONRecord(record).value))
    }

    func add(earlier result: ReportEntry, line: [UInt8]) {
        if let line = try? JSONReader.read(line) { add(Facts(result, line: line)) }
    }

    private func add(_ facts: Facts) {
        let result = facts.result
        // The path distinguishes two URLs of the same host, address and port.
        let path = facts.path.map { ",path=\"\(escaped($0))\"" } ?? ""
        let resolver = result.resolver.map { ",resolver=\"\(escaped($0))\"" } ?? ""
        let labels =
            "host=\"\(escaped(result.host))\",ip=\"\(escaped(result.ip ?? ""))\",port=\"\(result.port)\""
            + path + resolver
        // The collector rejects a file in which a metric has the same labels twice, so only the first probe
        // counts.
        guard seen.insert(labels).inserted else { return }
        add(.success, labels: labels, value: result.passed ? "1" : "0")
        for fault in result.faults {
            add(.fault, labels: labels + ",fault=\"\(escaped(fault.id))\"", value: "1")
        }
        // The date is also useful for a certificate with faults.
        for (hash, notAfter) in facts.certificates.sorted(by: { $0.key < $1.key }) {
            add(.notAfter, labels: labels + ",sha256=\"\(escaped(hash))\"", value: "\(notAfter)")
        }
        for (metric, end) in facts.ends {
            if let end { add(metric, labels: labels, value: "\(end)") }
        }
        switch SNIFinding.Verdict(rawValue: result.verdict) {
        case .needed, .neededStrict: add(.needed, labels: labels, value: "1")
        case .noDifference, .changesCertificate: add(.needed, labels: labels, value: "0")
        case .selectsWrong, .refused, .varies, .unknown, nil: break
        }
        for (form, isAnswered) in facts.hellos {
            add(.hello, labels: labels + ",form=\"\(escaped(form))\"", value: isAnswered ? "1" : "0")
        }
        for case (let phase, let time?) in facts.phases {
            add(.seconds, labels: labels + ",phase=\"\(phase)\"", value: Seconds.text(time))
        }
        if let status = facts.status { add(.status, labels: labels, value: "\(status)") }
    }

    /// What the samples of a result are made of: its line of JSON.
    private struct Facts {
        let result: ReportEntry
        let path: String?
        /// The hashes and ends of all certificates, each once.
        var certificates: [String: Int] = [:]
        let ends: [(Metric, Int?)]
        let phases: [(name: String, time: Duration?)]
        let status: Int?
        /// The forms of hellos of which it is known whether they are answered as wanted.
        let hellos: [(form: String, isAnswered: Bool)]

        init(_ result: ReportEntry, line: JSONValue) {
            (self.result, path) = (result, result.url.flatMap { try? HTTPURL($0).path })
            for case (let hash, let end?) in result.shown { certificates[hash] = end }
            for other in line["other_keys"]?.elements ?? [] {
                guard let hash = other["sha256"]?.text else { continue }
                certificates[hash] = other["not_after"]?.text.flatMap(UTC.seconds)
            }
            let verify = line["verify"]
            let values: [(Metric, JSONValue?)] = [
                (.chainNotAfter, line["chain"]?["not_after"]),
                (.stapleEnd, verify?["staple"]?["next_update"]),
                (.revocationEnd, verify?["revocation"]?["next_update"]),
            ]
            ends = values.map { ($0, $1?.text.flatMap(UTC.seconds)) }
            phases = ["dns", "tcp", "tls", "first_byte", "total"].map { name in
                guard case .number(let text)? = line["ms"]?[name]?.content, let time = Double(text) else {
                    return (name, nil)
                }
                return (name, .microseconds(Int64(clamping: Int(max(0, min(time, 1e9)) * 1000))))
            }
            status = line["http"]?["status"]?.number
            let forms = line["hellos"]?.elements?.flatMap { $0["forms"]?.elements ?? [] } ?? []
            hellos = forms.compactMap { form in
                guard let name = form["form"]?.text, let verdict = form["verdict"]?.text else { return nil }
                return verdict == "unknown" ? nil : (name, verdict == "yes")
            }
        }
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        for metric in Metric.allCases {
            guard let lines = samples[metric] else { continue }
            buffer.write("# HELP \(metric.rawValue) \(metric.help)\n# TYPE \(metric.rawValue) gauge\n")
            for line in lines { buffer.write(line) }
        }
    }

    private func add(_ metric: Metric, labels: String, value: String) {
        samples[metric, default: []].append("\(metric.rawValue){\(labels)} \(value)\n")
    }

    /// Returns a label value with quotes and backslashes escaped. The parsers for hosts and addresses do not
    /// allow these characters now, but may in the future.
    private func escaped(_ text: String) -> String {
        String(
            PlainText.harmless(text, unicode: true).flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        )
    }
}
