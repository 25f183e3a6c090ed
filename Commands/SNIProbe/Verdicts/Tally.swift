internal import DirectCore
internal import DirectHTTP

/// The totals of a run, for its summary and exit code. Every list has a limit, because a run may have any
/// number of probes.
struct Tally {
    /// A certificate, and the servers that sent it.
    struct Certificate {
        /// The SHA-256 hash in hexadecimal digits.
        let hash: String
        /// The end of the validity in seconds since 1970; `nil` if it cannot be read.
        let notAfter: Int?
        /// The number of probes that received it.
        var count = 0
        /// The first three addresses that sent it.
        var addresses: [String] = []
    }

    private(set) var count = 0
    private(set) var failed = 0
    private(set) var exitCodes: Set<Int32> = []
    private(set) var certificates: [Certificate] = []
    /// The number of probes whose certificate is not in `certificates`, because that list is full.
    private(set) var omittedCertificates = 0
    private var advice = HintList()
    /// The hints, one for each kind of advice, with the probes that it is for.
    var hints: [HintGroup] { advice.groups }
    /// The number of probes that were begun or queued when the run was interrupted.
    var unfinished = 0
    /// Whether there was more to probe when the run was interrupted.
    var isCutShort = false
    /// The number of passed probes with each SNI verdict.
    private(set) var verdicts: [SNIFinding.Verdict: Int] = [:]
    /// The names of the first three default certificates, those sent without SNI, of passed probes that need
    /// SNI.
    private(set) var defaultNames: [String] = []
    /// At most two of the hosts, which suffices to know whether the run has more than one.
    private(set) var hosts: Set<String> = []

    /// At most two of the targets, with port and path.
    private(set) var targets: Set<String> = []

    /// More than a summary shows.
    /// The replies of the named resolvers, for each of the first hosts.
    private(set) var lookups: [HostReplies] = []
    /// A line for each failed address that only some of the named resolvers give.
    private(set) var resolverVerdicts: [String] = []
    private static let mostLookups = 20

    private static let certificateLimit = 64

    var passed: Int { count - failed }

    /// The exit code of the failed probes if they all have the same one, otherwise that for several reasons.
    var exitCode: Int32 {
        exitCodes.count > 1 ? ExitCode.severalReasons : exitCodes.first ?? ExitCode.passed
    }

    /// Adds a record.
    mutating func add(_ record: ProbeRecord) {
        count += 1
        if hosts.count < 2 { hosts.insert(record.target.name) }
        if targets.count < 2 { targets.insert(record.target.heading) }
        if record.passed {
            count(record.sni.verdict, of: record)
        } else {
            failed += 1
            exitCodes.insert(record.exitCode)
        }
        if let replies = record.replies { add(replies, of: record) }
        if let hint = record.hint { advice.add(hint) }
        if record.passed || record.faults.allSatisfy({ [.differs, .tooFewDays, .strict].contains($0.id) }) {
            countCertificate(of: record)
        }
    }

    private mutating func add(_ replies: HostReplies, of record: ProbeRecord) {
        if lookups.count < Self.mostLookups, !lookups.contains(where: { $0.host == replies.host }) {
            lookups.append(replies)
        }
        guard !record.passed, record.lookupFailure == nil, resolverVerdicts.count < Self.mostLookups else {
            return
        }
        let verdict = ResolverVerdict(replies: replies, address: record.observation.probe.address)
        if let line = verdict.line(about: record) { resolverVerdicts.append(line) }
    }

    private mutating func count(_ verdict: SNIFinding.Verdict, of record: ProbeRecord) {
        verdicts[verdict, default: 0] += 1
        guard verdict == .needed, case .success(let served)? = record.observation.second?.outcome,
            let leaf = served.chain.leaf
        else { return }
        let name = ServedNames(leaf).first(1)
        if defaultNames.count < 3, !defaultNames.contains(name) { defaultNames.append(name) }
    }

    private mutating func countCertificate(of record: ProbeRecord) {
        guard let summary = record.leaf?.summary else { return }
        let hash = Hex.encode(summary.sha256)
        let known = certificates.firstIndex { $0.hash == hash }
        guard let index = known ?? append(hash, notAfter: summary.notAfter) else {
            return omittedCertificates += 1
        }
        certificates[index].count += 1
        if certificates[index].addresses.count < 3 {
            certificates[index].addresses.append(record.observation.probe.address.description)
        }
    }

    /// Appends a certificate and returns its index; `nil` if the list is full.
    private mutating func append(_ hash: String, notAfter: Int?) -> Int? {
        guard certificates.count < Self.certificateLimit else { return nil }
        certificates.append(Certificate(hash: hash, notAfter: notAfter))
        return certificates.count - 1
    }
}
