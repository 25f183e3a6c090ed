internal import DirectCore
internal import DirectHTTP

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
        case seconds = "sni_probe_seconds"
        case status = "sni_probe_http_status"

        var help: String {
            switch self {
            case .success: "Whether the probe passed."
            case .fault: "1 for each fault of the probe."
            case .notAfter: "The expiry of the certificate that was sent, in seconds since 1970."
            case .chainNotAfter: "The first expiry in the chain that was sent, in seconds since 1970."
            case .stapleEnd: "The end of the stapled OCSP response, in seconds since 1970."
            case .revocationEnd: "The end of the issuer's answer, in seconds since 1970."
            case .needed: "Whether the right certificate is sent only with SNI; absent if that is unknown."
            case .seconds: "The duration of each phase of the probe."
            case .status: "The status of the HTTP response."
            }
        }
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        let observation = record.observation
        let address = record.address?.description ?? ""
        // The path distinguishes two URLs of the same host, address and port.
        let path = record.target.url.map { ",path=\"\(escaped($0.path))\"" } ?? ""
        let resolver = record.failedResolver.map { ",resolver=\"\(escaped($0))\"" } ?? ""
        let labels =
            "host=\"\(escaped(record.target.name))\",ip=\"\(escaped(address))\",port=\"\(observation.probe.port)\""
            + path + resolver
        // The collector rejects a file in which a metric has the same labels twice, so only the first probe
        // counts.
        guard seen.insert(labels).inserted else { return }
        add(.success, labels: labels, value: record.passed ? "1" : "0")
        for fault in record.faults {
            add(.fault, labels: labels + ",fault=\"\(fault.id.rawValue)\"", value: "1")
        }
        // The date is also useful for a certificate with faults.
        if let summary = record.leaf?.summary, let notAfter = summary.notAfter {
            add(.notAfter, labels: labels + ",sha256=\"\(Hex.encode(summary.sha256))\"", value: "\(notAfter)")
        }
        if let end = record.chainEnd { add(.chainNotAfter, labels: labels, value: "\(end.notAfter)") }
        if let end = record.served?.staple?.nextUpdate { add(.stapleEnd, labels: labels, value: "\(end)") }
        if let end = observation.revocation?.judgement?.nextUpdate {
            add(.revocationEnd, labels: labels, value: "\(end)")
        }
        switch record.sni.verdict {
        case .needed, .neededStrict: add(.needed, labels: labels, value: "1")
        case .noDifference, .changesCertificate: add(.needed, labels: labels, value: "0")
        case .selectsWrong, .refused, .varies, .unknown: break
        }
        for case (let phase, let time?) in observation.phases {
            add(.seconds, labels: labels + ",phase=\"\(phase)\"", value: Seconds.text(time))
        }
        if let status = observation.exchange?.head?.status.code {
            add(.status, labels: labels, value: "\(status)")
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
