internal import DirectJSON

/// What a report shows of one result. It is read from the JSON output, so a report on a run and a report on
/// its lines are the same.
struct ReportEntry: Sendable {
    struct Issue: Sendable, Hashable {
        let id: String
        let text: String
    }

    struct Certificate: Sendable, Hashable {
        let hash: String
        /// The first names, and the number of all.
        let names: [String]
        let namesCount: Int
        let issuer: String
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
    let replies: [Reply]

    /// The host and the port, or the URL.
    var target: String { url ?? "\(host):\(port)" }

    /// The address, or a word in its place.
    var place: String { ip ?? "not resolved" + (resolver.map { " by \($0)" } ?? "") }

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
        replies = value["resolvers"]?.elements?.prefix(Self.mostReplies).compactMap(Self.reply) ?? []
    }

    /// Enough to recognise a certificate by. One may have ten thousand.
    private static let mostNames = 3
    private static let mostReplies = 32
    private static let mostAddresses = 64

    private static func texts(_ value: JSONValue?, upTo limit: Int) -> [String] {
        value?.elements?.prefix(limit).compactMap(\.text) ?? []
    }

    private static func issues(_ value: JSONValue?) -> [Issue]? {
        guard let elements = value?.elements else { return nil }
        let issues = elements.compactMap { element -> Issue? in
            guard let id = element["id"]?.text, let text = element["text"]?.text else { return nil }
            return Issue(id: id, text: text)
        }
        return issues.count == elements.count ? issues : nil
    }

    private static func certificate(_ value: JSONValue) -> Certificate? {
        guard let hash = value["sha256"]?.text else { return nil }
        let names = texts(value["names"], upTo: mostNames) + texts(value["ips"], upTo: mostNames)
        return Certificate(
            hash: hash,
            names: Array(names.prefix(mostNames)),
            namesCount: value["names_count"]?.number ?? names.count,
            issuer: value["issuer"]?.text ?? "",
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
