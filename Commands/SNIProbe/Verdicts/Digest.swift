/// The totals of any number of results, for summaries, reports and the exit code, and what a report shows of
/// them. Every list has a limit, so its memory is bounded.
struct Digest {
    private(set) var count = 0
    private(set) var failed = 0
    private(set) var warned = 0
    private(set) var exitCodes: Set<Int32> = []
    /// Whether a target of which one result has passed does not fail the run (`--any-good`).
    var anyIsEnough = false
    /// The targets of which a result has passed, and the codes of those that failed, if that is so.
    private var goodTargets: Set<String> = []
    private var targetCodes: [String: Set<Int32>] = [:]
    private(set) var faults = IssueCounts()
    private(set) var warnings = IssueCounts()
    /// The number of passed results with each SNI verdict.
    private(set) var verdicts: [SNIFinding.Verdict: Int] = [:]
    /// The times of the first and the last result, in seconds since 1970.
    private(set) var times: ClosedRange<Int>?
    private(set) var certificates = CertificateList(most: 200)
    private(set) var hosts = DistinctCount()
    /// At most two of the targets, which suffices to know whether there are several.
    private(set) var targets: Set<String> = []
    /// The names of the first three default certificates, those sent without SNI, of passed results that need
    /// SNI.
    private(set) var defaultNames: [String] = []
    private var advice = HintList()
    private(set) var lookups: [Lookup] = []
    /// A line for each failed address that only some of the named resolvers give.
    private(set) var resolverLines: [String] = []
    /// The number of probes that were begun or queued when the run was interrupted.
    var unfinished = 0
    /// Whether there was more to probe when the run was interrupted.
    var isCutShort = false
    /// The results that are shown: failed ones first, then those with warnings, then others.
    private var shown: [[ReportEntry]] = [[], [], []]

    /// The answers of the resolvers for a host.
    struct Lookup {
        let host: String
        let replies: [ReportEntry.Reply]

        /// Whether they give other addresses, or for none other reasons.
        var differ: Bool {
            Set(replies.map { $0.addresses.isEmpty ? [$0.error ?? ""] : $0.addresses.sorted() }).count > 1
        }
    }

    /// The results that are shown of each kind.
    private static let mostShown = [1000, 500, 500]
    private static let mostLookups = 100
    private static let mostResolverLines = 20

    var passed: Int { count - failed }

    /// How many results there are, and for how many hosts.
    var extent: String { "\(Words.count(count, of: "result")) for \(hosts.text("host"))" }

    /// The number of passed results that need SNI.
    var needingSNI: Int { verdicts[.needed, default: 0] + verdicts[.neededStrict, default: 0] }

    /// The hints, each with the places that it is for.
    var hints: [String] {
        advice.groups.map { count > 1 ? $0.text(severalHosts: !hosts.isOne) : $0.hint.text }
    }

    /// The exit code of the failed results if they all have the same one, otherwise that for several reasons.
    var exitCode: Int32 {
        let bad = targetCodes.filter { !goodTargets.contains($0.key) }.values
        let codes = anyIsEnough ? bad.reduce(into: Set()) { $0.formUnion($1) } : exitCodes
        return codes.count > 1 ? ExitCode.severalReasons : codes.first ?? ExitCode.passed
    }

    /// The shown results of each host, hosts with faults first.
    var pools: [(host: String, entries: [ReportEntry])] {
        var order: [String] = []
        var pools: [String: [ReportEntry]] = [:]
        for entry in shown.joined() {
            if pools[entry.host] == nil { order.append(entry.host) }
            pools[entry.host, default: []].append(entry)
        }
        return order.map { ($0, pools[$0] ?? []) }
    }

    mutating func add(_ record: ProbeRecord) { add(ReportEntry(record)) }

    mutating func add(_ entry: ReportEntry) {
        count += 1
        hosts.add(entry.host)
        if targets.count < 2 { targets.insert(entry.target) }
        if anyIsEnough, entry.passed { goodTargets.insert(entry.target) }
        if anyIsEnough, !entry.passed { targetCodes[entry.target, default: []].insert(entry.exitCode) }
        times = entry.extending(times)
        for fault in entry.faults { faults.add(fault.id) }
        for warning in entry.warnings { warnings.add(warning.id) }
        var kind = 2
        if !entry.passed {
            (failed, kind) = (failed + 1, 0)
            exitCodes.insert(entry.exitCode)
        } else {
            countVerdict(of: entry)
            if !entry.warnings.isEmpty { (warned, kind) = (warned + 1, 1) }
        }
        if shown[kind].count < Self.mostShown[kind] { shown[kind].append(entry) }
        if let certificate = entry.certificate { certificates.add(certificate, of: entry) }
        if let words = entry.advice {
            let kind = entry.faults.first.flatMap { Fault.ID(rawValue: $0.id) } ?? .certificateInvalid
            advice.add(Hint(kind: kind, words: words, place: entry.hintPlace))
        }
        addReplies(of: entry)
    }

    private mutating func countVerdict(of entry: ReportEntry) {
        let verdict = SNIFinding.Verdict(rawValue: entry.verdict) ?? .unknown
        verdicts[verdict, default: 0] += 1
        guard verdict == .needed, defaultNames.count < 3, let name = entry.defaultNames.first,
            !defaultNames.contains(name)
        else { return }
        defaultNames.append(name)
    }

    private mutating func addReplies(of entry: ReportEntry) {
        guard !entry.replies.isEmpty else { return }
        if lookups.count < Self.mostLookups, !lookups.contains(where: { $0.host == entry.host }) {
            lookups.append(Lookup(host: entry.host, replies: entry.replies))
        }
        if resolverLines.count < Self.mostResolverLines, let line = entry.resolverLine {
            resolverLines.append(line)
        }
    }
}

extension ReportEntry {
    /// The range of times with that of this result.
    func extending(_ times: ClosedRange<Int>?) -> ClosedRange<Int> {
        min(times?.lowerBound ?? time, time)...max(times?.upperBound ?? time, time)
    }

    /// A line on a failed address that only some of the resolvers give.
    var resolverLine: String? {
        guard let ip, let fault = faults.first, let givers = partialGivers else { return nil }
        return "\(ip) is given by \(Words.all(givers)) only, and fails: \(fault.brief)"
    }
}

/// How often each fault or warning occurs.
struct IssueCounts {
    private(set) var counts: [String: Int] = [:]

    /// More than there are. Lines may come from another version, but also from anywhere.
    private static let most = 128

    mutating func add(_ id: String) {
        guard counts[id] != nil || counts.count < Self.most else { return }
        counts[id, default: 0] += 1
    }

    /// The most frequent first.
    var sorted: [(id: String, count: Int)] {
        counts.map { ($0.key, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }
}

/// A number of distinct texts, up to a limit.
struct DistinctCount {
    private var hashes: Set<Int> = []
    private var isFull = false

    private static let most = 100_000

    mutating func add(_ text: String) {
        guard !isFull else { return }
        hashes.insert(text.hashValue)
        isFull = hashes.count > Self.most
    }

    /// The number in words, with what is counted.
    func text(_ thing: String) -> String {
        isFull ? "more than \(Words.count(Self.most, of: thing))" : Words.count(hashes.count, of: thing)
    }

    var isOne: Bool { hashes.count == 1 }
}
