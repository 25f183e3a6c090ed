internal import DirectCore
internal import DirectHTTP

/// The metrics of one scrape: those of blackbox_exporter for the target as a whole, then those of each IP.
final class ScrapeOutput: RecordOutput {
    private let sink = OutputSink.memory
    private let details: PrometheusOutput
    private var first: ProbeRecord?
    private var resolveTime: Duration?
    private var duration = Duration.zero
    private var earliest: Int?
    private var chainEnd: Int?
    /// The metrics; `nil` if the run had no time to find out whether the target passes.
    private(set) var text: String?

    init() { details = PrometheusOutput(to: sink) }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        details.add(record, isOnlyOne: isOnlyOne)
        first = first ?? record
        resolveTime = resolveTime ?? record.observation.probe.resolveTime
        duration = max(
            duration,
            (record.observation.probe.resolveTime ?? .zero) + (record.observation.total ?? .zero)
        )
        let ends = record.observation.served.flatMap(\.chain.certificates).compactMap(\.summary.notAfter)
        earliest = (ends + [earliest].compactMap { $0 }).min()
        guard let end = record.chainEnd?.notAfter else { return }
        chainEnd = min(chainEnd ?? end, end)
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        details.finish(digest, interrupted: interrupted)
        _ = details.flush()
        let isWhole = digest.count > 0 && digest.unfinished == 0 && !digest.isCutShort
        // That others took its time says nothing of the target.
        guard isWhole || digest.failed > 0 else { return }
        let exchange = first?.observation.exchange
        let metrics: [(name: String, help: String, value: String?)] = [
            ("success", "Whether all IPs of the target passed.", digest.failed == 0 ? "1" : "0"),
            ("duration_seconds", "The longest probe.", Seconds.text(duration)),
            ("dns_lookup_time_seconds", "The resolver's.", resolveTime.map(Seconds.text)),
            (
                "ip_protocol", "IPv4 or IPv6, of the first IP.",
                first?.address.map { $0.family == .v4 ? "4" : "6" }
            ),
            ("http_status_code", "That of the first IP.", exchange?.head.map { "\($0.status.code)" }),
            ("ssl_earliest_cert_expiry", "The first end of what was sent.", earliest.map(String.init)),
            (
                "ssl_last_chain_expiry_timestamp_seconds", "The first end on the path to the root.",
                chainEnd.map(String.init)
            ),
        ]
        text =
            metrics.compactMap { metric in
                metric.value.map { Self.gauge(("probe_" + metric.name, metric.help, $0)) }
            }.joined() + versionMetric + String(decoding: sink.bytes, as: UTF8.self)
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
