internal import DirectCore
internal import DirectHTTP
internal import DirectJSON

/// What summaries and reports show of one result. It is the same for a result of this run and for its line of
/// the JSON output.
struct ReportEntry: Sendable {
    struct Issue: Sendable, Hashable {
        let id: String
        let text: String
        /// The shorter text of a fault, if it is one of this run.
        let brief: String
    }

    struct Certificate: Sendable, Hashable {
        let hash: String
        /// The first names.
        let names: [String]
        /// Seconds since 1970; `nil` if it cannot be read.
        let notBefore: Int?
        let notAfter: Int?
    }

    /// What one resolver has answered for the host.
    struct Reply: Sendable, Hashable {
        let resolver: String
        let givesIP: Bool
        let addresses: [String]
        let timeToLive: Int?
        let error: String?
        /// The time that the resolver took, in this run.
        var time = Duration.zero
    }

    /// Seconds since 1970.
    let time: Int
    let host: String
    let ip: String?
    let port: Int
    let url: String?
    let source: String
    /// The resolver whose failure this is, if there are several.
    let resolver: String?
    let passed: Bool
    let faults: [Issue]
    let warnings: [Issue]
    let hint: String?
    /// The hint with holes; of a line without, the hint.
    let advice: HintText?
    /// The SNI verdict, and the names that are served without SNI.
    let verdict: String
    let defaultNames: [String]
    let certificate: Certificate?
    /// The certificates of all answers to the same handshake: their hashes and ends.
    let shown: [(hash: String, notAfter: Int?)]
    let replies: [Reply]
    /// The options of its run; `nil` if the line is of a version that did not write them.
    let options: [String]?

    /// The host and the port, or the URL.
    var target: String { url ?? "\(host):\(port)" }

    /// The address, or a word in its place.
    var place: String { ip ?? "not resolved" + (resolver.map { " by \($0)" } ?? "") }

    /// What the hint is for.
    var hintPlace: Hint.Place {
        Hint.Place(host: host, address: ip ?? "", word: port == 443 ? host : "\(host):\(port)")
    }

    var state: ResultState { ResultState(passed: passed, warns: !warnings.isEmpty) }

    /// What distinguishes the result from others of its run, and is the same in the next one.
    var key: String {
        ProbeRecord.key(host, ip: ip ?? "", port: port, url: url ?? "", resolver: resolver ?? "")
    }

    /// The resolvers that give the address, if others give addresses but not this one.
    var partialGivers: [String]? {
        let givers = replies.filter(\.givesIP)
        let isGivenByAll = givers.count == replies.count { !$0.addresses.isEmpty }
        return givers.isEmpty || isGivenByAll ? nil : givers.map(\.resolver)
    }

    /// The exit code of the fault that the result is counted under; 0 if it passed.
    var exitCode: Int32 {
        guard !passed else { return ExitCode.passed }
        return faults.first.flatMap { Fault.ID(rawValue: $0.id)?.row.exitCode } ?? ExitCode.severalReasons
    }

    /// Reads a line. Returns `nil` if it is not one of version 1 of the JSON output.
    init?(_ line: [UInt8]) {
        guard let value = try? JSONReader.read(line), value["v"]?.number == 1,
            let time = value["time"]?.text.flatMap(UTC.seconds), let host = value["host"]?.text,
            let port = value["port"]?.number, let passed = value["ok"]?.flag,
            let faults = Self.issues(value["faults"]), let warnings = Self.issues(value["warnings"]),
            passed == faults.isEmpty, let verdict = value["sni"]?["verdict"]?.text
        else { return nil }
        (self.time, self.host, self.port, self.passed) = (time, host, port, passed)
        (self.faults, self.warnings, self.verdict) = (faults, warnings, verdict)
        ip = value["ip"]?.text
        url = value["url"]?.text
        source = value["source"]?.text ?? ""
        resolver = value["resolver"]?.text
        hint = value["hint"]?.text
        let marked = value["advice"]?.text.map(HintText.init(marked:))
        advice = marked ?? hint.map { HintText(stringLiteral: $0) }
        defaultNames = Self.texts(value["sni"]?["without"]?["names"], upTo: Self.mostNames)
        certificate = value["certificate"].flatMap(Self.certificate)
        let answers = value["answers"]?.elements?.prefix(Self.mostReplies).compactMap { answer in
            answer["sha256"]?.text.map { ($0, answer["not_after"]?.text.flatMap(UTC.seconds)) }
        }
        shown = answers ?? certificate.map { [($0.hash, $0.notAfter)] } ?? []
        options = value["options"]?.elements?.compactMap(\.text)
        replies = value["resolvers"]?.elements?.prefix(Self.mostReplies).compactMap(Self.reply) ?? []
    }

    /// Enough to recognise a certificate by. One may have ten thousand.
    fileprivate static let mostNames = 3
    private static let mostReplies = 32
    private static let mostAddresses = 256

    private static func texts(_ value: JSONValue?, upTo limit: Int) -> [String] {
        value?.elements?.prefix(limit).compactMap(\.text) ?? []
    }

    private static func issues(_ value: JSONValue?) -> [Issue]? {
        guard let elements = value?.elements else { return nil }
        let issues = elements.compactMap { element -> Issue? in
            guard let id = element["id"]?.text, let text = element["text"]?.text else { return nil }
            return Issue(id: id, text: text, brief: text)
        }
        return issues.count == elements.count ? issues : nil
    }

    private static func certificate(_ value: JSONValue) -> Certificate? {
        guard let hash = value["sha256"]?.text else { return nil }
        let names = texts(value["names"], upTo: mostNames) + texts(value["ips"], upTo: mostNames)
        return Certificate(
            hash: hash,
            names: Array(names.prefix(mostNames)),
            notBefore: value["not_before"]?.text.flatMap(UTC.seconds),
            notAfter: value["not_after"]?.text.flatMap(UTC.seconds)
        )
    }

    private static func reply(_ value: JSONValue) -> Reply? {
        guard let resolver = value["resolver"]?.text else { return nil }
        return Reply(
            resolver: resolver,
            givesIP: value["gives_ip"]?.flag ?? false,
            addresses: texts(value["addresses"], upTo: mostAddresses),
            timeToLive: value["ttl"]?.number,
            error: value["error"]?.text
        )
    }
}

extension ReportEntry {
    init(_ record: ProbeRecord) {
        let (observation, target) = (record.observation, record.target)
        time = UTC.floored(Int(observation.time), divisor: 1000)
        (host, ip, port) = (target.name, record.address?.description, Int(observation.probe.port))
        url = target.url.map { "\($0)" }
        (source, resolver) = ("\(observation.probe.source)", record.failedResolver)
        passed = record.passed
        faults = record.faults.map { Issue(id: $0.id.rawValue, text: $0.text, brief: $0.brief) }
        warnings = record.warnings.map { Issue(id: $0.id.rawValue, text: $0.text, brief: $0.text) }
        hint = record.hint?.text
        advice = record.hint.map { HintText(marked: $0.words.marked) }
        verdict = record.sni.verdict.rawValue
        let standard = record.sni.sent == nil ? nil : observation.second?.served?.chain.leaf
        defaultNames =
            standard.map { leaf in
                let names = leaf.summary.dnsNames + leaf.summary.ipAddresses
                return names.isEmpty ? [leaf.subject.short] : Array(names.prefix(Self.mostNames))
            } ?? []
        certificate = record.leaf.map(Certificate.init)
        shown = observation.answers.prefix(Self.mostReplies).map {
            (Hex.encode($0.hash), $0.chain.leaf?.summary.notAfter)
        }
        options = nil
        replies =
            record.replies?.replies.prefix(Self.mostReplies).map { reply in
                Reply(
                    resolver: reply.resolver,
                    givesIP: record.address.map(reply.addresses.contains) ?? false,
                    addresses: reply.addresses.prefix(Self.mostAddresses).map(\.description),
                    timeToLive: reply.timeToLive,
                    error: reply.failure,
                    time: reply.time
                )
            } ?? []
    }
}

extension ReportEntry.Certificate {
    fileprivate init(_ leaf: ServedCertificate) {
        let summary = leaf.summary
        let most = ReportEntry.mostNames
        hash = Hex.encode(summary.sha256)
        names = Array((summary.dnsNames.prefix(most) + summary.ipAddresses.prefix(most)).prefix(most))
        (notBefore, notAfter) = (summary.notBefore, summary.notAfter)
    }
}

/// Whether a result passed. The word stands wherever the colour does.
enum ResultState: String, Sendable {
    case ok, warn, fail

    init(passed: Bool, warns: Bool) { self = passed ? warns ? .warn : .ok : .fail }

    var word: String { self == .fail ? "FAIL" : rawValue }
}

extension ReportEntry {
    /// A line has a thousand names of a certificate twice, and the headers of a response.
    static let longestLine = 16 << 20

    /// Opens the file of an earlier run, which an option names.
    static func open(_ path: String, of option: String) throws(UsageError) -> LineSource {
        let source = try LineSource(path, longestLine: longestLine, waits: false)
        guard source.isFile else {
            let what = "\(option) reads a file, and \(quoted(path)) is something else"
            throw UsageError(what, code: ExitCode.noInput)
        }
        return source
    }

    /// Reads the JSON lines of an earlier run.
    ///
    /// - Parameter mayBeCut: Whether the last line may be half.
    static func read(
        _ source: LineSource,
        mayBeCut: Bool = false,
        _ take: (ReportEntry, _ line: [UInt8]) -> Void
    ) throws(UsageError) {
        var bad: Int?
        while true {
            let place: Int
            switch source.next() {
            case .line(let text, _) where text.allSatisfy(\.isWhitespace): continue
            case .line(let text, let number):
                let line = Array(text.utf8)
                if bad == nil, let entry = ReportEntry(line) {
                    take(entry, line)
                    continue
                }
                place = number
            case .fault(_, let number): place = number
            case .needsInput, .end:
                if let failure = source.failure { throw failure }
                return
            }
            guard mayBeCut, bad == nil else { throw unreadable(source.name, line: bad ?? place) }
            bad = place
        }
    }

    static func unreadable(_ path: String, line: Int, hint: String? = nil) -> UsageError {
        UsageError(
            "\(PlainText.harmless(path, unicode: true)):\(line): this is not a line of sni-probe --json",
            hint: hint ?? "the file is the output of an earlier run: sni-probe … --json --output FILE",
            code: ExitCode.noInput
        )
    }
}
