internal import DirectCore
internal import DirectHTTP

/// The metrics of one scrape: those of blackbox_exporter for the target as a whole, then those of each IP.
final class ScrapeOutput: RecordOutput {
    private let sink = OutputSink.memory
    private let details: PrometheusOutput
    private var first: ProbeRecord?
    private var duration = Duration.zero
    private var earliest: Int?
    private var chainEnd: Int?
    private(set) var text = ""

    init() { details = PrometheusOutput(to: sink) }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        details.add(record, isOnlyOne: isOnlyOne)
        first = first ?? record
        let whole = [record.observation.probe.resolveTime, record.observation.total].compactMap { $0 }
        duration = max(duration, whole.reduce(.zero, +))
        let ends = (record.served?.chain.certificates ?? []).compactMap(\.summary.notAfter)
        earliest = (ends + [earliest].compactMap { $0 }).min()
        guard let end = record.chainEnd?.notAfter else { return }
        chainEnd = min(chainEnd ?? end, end)
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        details.finish(digest, interrupted: interrupted)
        _ = details.flush()
        let passed = digest.count > 0 && digest.failed == 0 && digest.unfinished == 0 && !digest.isCutShort
        var metrics = [
            ("probe_success", "Whether all IPs of the target passed.", passed ? "1" : "0"),
            ("probe_duration_seconds", "The longest probe.", Seconds.text(duration)),
        ]
        func add(_ name: String, _ help: String, _ value: String?) {
            if let value { metrics.append((name, help, value)) }
        }
        add(
            "probe_dns_lookup_time_seconds",
            "The time of the resolver.",
            first?.observation.probe.resolveTime.map(Seconds.text)
        )
        add(
            "probe_ip_protocol",
            "Whether the first IP is of IPv4 or IPv6.",
            first?.address.map { $0.family == .v4 ? "4" : "6" }
        )
        add(
            "probe_http_status_code",
            "The status of the HTTP response of the first IP.",
            first?.observation.exchange?.head.map { "\($0.status.code)" }
        )
        add(
            "probe_ssl_earliest_cert_expiry",
            "The first end of a certificate that was sent.",
            earliest.map { "\($0)" }
        )
        add(
            "probe_ssl_last_chain_expiry_timestamp_seconds",
            "The first end on a path to a root.",
            chainEnd.map { "\($0)" }
        )
        text = metrics.map(Self.gauge).joined() + versionMetric + String(decoding: sink.bytes, as: UTF8.self)
    }

    func flush() -> Bool { true }

    private var versionMetric: String {
        guard let version = first?.served?.facts?.version else { return "" }
        let name = version.hasPrefix("TLSv") ? "TLS \(version.dropFirst(4))" : version
        return Self.gauge(
            ("probe_tls_version_info{version=\"\(name)\"}", "The version of TLS with the first IP.", "1")
        )
    }

    /// A metric with one sample.
    static func gauge(_ metric: (name: String, help: String, value: String)) -> String {
        let bare = metric.name.prefix { $0 != "{" }
        return "# HELP \(bare) \(metric.help)\n# TYPE \(bare) gauge\n\(metric.name) \(metric.value)\n"
    }
}
