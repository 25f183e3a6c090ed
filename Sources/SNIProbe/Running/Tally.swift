internal import DirectCore
internal import DirectHTTP

/// The totals of a run. Its size is bounded, regardless of the number of probes.
struct Tally {
    /// A certificate, and the servers that sent it.
    struct Certificate {
        let hash: String
        let notAfter: Int?
        var count = 0
        /// The first few addresses.
        var addresses: [String] = []
    }

    private(set) var count = 0
    private(set) var failed = 0
    private(set) var warned = 0
    private(set) var exitCodes: Set<Int32> = []
    private(set) var certificates: [Certificate] = []
    /// The number of probes whose certificate is not in `certificates`, because that list is full.
    private(set) var omittedCertificates = 0
    private(set) var hints: [Hint] = []
    /// The number of passed probes by SNI verdict.
    private(set) var verdicts: [SNIFinding.Verdict: Int] = [:]
    /// The first names of the default certificates of passed probes that need SNI.
    private(set) var defaults: [String] = []
    private(set) var hosts: Set<String> = []

    private static let most = 64

    var passed: Int { count - failed }

    /// The exit code: that of the failed probes if they have the same, otherwise the one for several reasons.
    var exitCode: Int32 {
        exitCodes.count > 1 ? ExitCode.severalReasons : exitCodes.first ?? ExitCode.passed
    }

    /// Adds a record.
    mutating func add(_ record: ProbeRecord) {
        count += 1
        if hosts.count < 2 { hosts.insert(record.target.name) }
        if record.passed {
            note(record.sni.verdict, record: record)
            if !record.warnings.isEmpty { warned += 1 }
        } else {
            failed += 1
            exitCodes.insert(record.exitCode)
        }
        if let hint = record.hint, !hints.contains(where: { $0.says(theSameAs: hint) }) { hints.append(hint) }
        if record.passed || record.faults.allSatisfy({ $0.id == .differs || $0.id == .tooFewDays }) {
            noteCertificate(record)
        }
    }

    private mutating func note(_ verdict: SNIFinding.Verdict, record: ProbeRecord) {
        verdicts[verdict, default: 0] += 1
        guard verdict == .needed, case .success(let served)? = record.observation.second?.outcome,
            let leaf = served.chain.leaf
        else { return }
        let name = ServedNames(leaf).first(1)
        if defaults.count < 3, !defaults.contains(name) { defaults.append(name) }
    }

    private mutating func noteCertificate(_ record: ProbeRecord) {
        guard let summary = record.leaf?.summary else { return }
        let hash = Hex.encode(summary.sha256)
        let place = certificates.firstIndex { $0.hash == hash }
        guard let place = place ?? newPlace(hash, notAfter: summary.notAfter) else {
            return omittedCertificates += 1
        }
        certificates[place].count += 1
        if certificates[place].addresses.count < 3 {
            certificates[place].addresses.append(record.observation.probe.address.description)
        }
    }

    private mutating func newPlace(_ hash: String, notAfter: Int?) -> Int? {
        guard certificates.count < Self.most else { return nil }
        certificates.append(Certificate(hash: hash, notAfter: notAfter))
        return certificates.count - 1
    }
}
