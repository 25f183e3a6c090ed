internal import DirectCore
internal import DirectHTTP

/// Compares the certificates that the addresses of a host show.
///
/// Only addresses that passed are a standard: if one has a wrong or outdated certificate, the fault is not
/// with the others. Without `--same` the standard is the first address that passed, so that results can be
/// printed as they come. With `--same` it is the certificate that most addresses show: `learn` gets all
/// results before the first is compared.
struct PoolWatch {
    /// A certificate of a host, and the addresses that passed with it.
    private struct Shown {
        let hash: String
        let notAfter: Int?
        let first: String
        var count = 1
    }

    private var hosts: [String: [Shown]] = [:]

    /// The maximum number of hosts that are compared, which limits the memory of a run.
    private static let mostHosts = 50_000
    /// The maximum number of certificates of one host.
    private static let mostCertificates = 64

    /// Adds results to the standard, before they are compared with it.
    mutating func learn(_ records: some Sequence<ProbeRecord>) {
        for record in records { learn(record) }
    }

    private mutating func learn(_ record: ProbeRecord) {
        guard record.passed else { return }
        for answer in record.observation.answers {
            let shown = Shown(
                hash: Hex.encode(answer.hash),
                notAfter: answer.chain.leaf?.summary.notAfter,
                first: record.observation.probe.address.description
            )
            learn(shown, of: Self.host(record))
        }
    }

    /// Adds a result of the run that this one goes on with.
    mutating func learn(_ result: ReportEntry) {
        guard result.passed, let certificate = result.certificate else { return }
        let shown = Shown(hash: certificate.hash, notAfter: certificate.notAfter, first: result.ip ?? "")
        learn(shown, of: "\(result.host):\(result.port)")
    }

    private mutating func learn(_ shown: Shown, of host: String) {
        guard hosts[host] != nil || hosts.count < Self.mostHosts else { return }
        var known = hosts[host] ?? []
        if let index = known.firstIndex(where: { $0.hash == shown.hash }) {
            known[index].count += 1
        } else if known.count < Self.mostCertificates {
            known.append(shown)
        }
        hosts[host] = known
    }

    /// Adds a warning to the record if its certificate differs from that of the first address that passed.
    mutating func compareWithFirst(_ record: inout ProbeRecord) {
        guard let summary = record.leaf?.summary else { return }
        guard let first = hosts[Self.host(record)]?.first else { return learn(record) }
        guard record.passed, first.hash != Hex.encode(summary.sha256) else { return }
        record.warnings.insert(
            Warning(id: .otherCertificate, text: Self.words(summary.notAfter, standard: first)),
            at: 0
        )
    }

    /// Adds a fault to the record if its certificate differs from that of most addresses, of those that were
    /// learned.
    func compareWithMost(_ record: inout ProbeRecord) {
        // A certificate for other names has a fault already. That it also differs is no news.
        // Of certificates that equally many show, the one that was seen first.
        guard record.matchedName != nil,
            let most = hosts[Self.host(record)]?.max(by: { $0.count < $1.count }),
            let other = record.observation.answers.first(where: { Hex.encode($0.hash) != most.hash }),
            let summary = other.chain.leaf?.summary
        else { return }
        let text = Self.words(summary.notAfter, standard: most)
        let others = most.count - 1
        let isOwn = most.first == record.observation.probe.address.description
        let who =
            others == 0
            ? isOwn ? "another of its answers" : "\(most.first) shows"
            : "\(most.first) and \(Words.count(others, of: "other IP")) show"
        record.faults.append(Fault(.differs, "\(text) than \(who)", brief: text))
        if record.hint == nil {
            record.hint = Hint(kind: .differs, words: HintWriter.differs, place: record.hintPlace)
        }
    }

    private static func host(_ record: ProbeRecord) -> String {
        "\(record.target.name):\(record.target.port)"
    }

    private static func words(_ notAfter: Int?, standard: Shown) -> String {
        guard let notAfter, let known = standard.notAfter, notAfter != known else {
            return "another certificate"
        }
        return notAfter < known ? "older certificate" : "newer certificate"
    }
}
