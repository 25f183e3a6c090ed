internal import DirectCore
internal import DirectHTTP

/// The command's own targets, among which requests to `--listen` choose.
struct ListedTargets {
    /// The addresses of each target; none if it is to be resolved.
    private var entries: [String: (target: ProbeTarget, at: [ProbeAddresses])] = [:]

    /// The most addresses that a request may give itself.
    private static let mostAddresses = 16

    init() {}

    init(_ options: Options) throws(UsageError) {
        guard !options.files.isEmpty || !options.words.isEmpty else { return }
        let feed = try ProbeFeed(options)
        while true {
            switch feed.step() {
            case .probe(let probe):
                let place = ProbeAddresses(probe.address, port: probe.port)
                entries[Self.key(probe.target), default: (probe.target, [])].at.append(place)
            case .resolve(let target): entries[Self.key(target), default: (target, [])].at += []
            case .needsInput: feed.readMore()
            case .badLine(let error): if !options.skipsBad { throw error }
            case .end: return
            }
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Whether the port was given makes no difference.
    private static func key(_ target: ProbeTarget) -> String {
        target.url.map { "\($0)" } ?? "\(target.host)\n\(target.port)"
    }

    /// The target that a request asks for.
    ///
    /// - Throws: The answer to a request for a target that is none or not allowed.
    func word(for text: String, of upgrade: StartTLS?, allowsAny: Bool) throws(ServedReply) -> TargetWord {
        guard case .target(let given, let own)? = try? TargetWord(text) else {
            throw ServedReply(
                400,
                "the target is neither a host nor a URL, as it would be on the command line"
            )
        }
        let target = given.withPort(of: upgrade)
        let places = own.flatMap { range in
            (0..<range.count).prefix(Self.mostAddresses + 1).map {
                ProbeAddresses(range[$0], port: range.port ?? target.port)
            }
        }
        if let entry = entries[Self.key(target)] {
            if own.isEmpty { return .target(entry.target, at: entry.at) }
            if Set(places).isSubset(of: entry.at) { return .target(entry.target, at: places) }
        }
        guard allowsAny else { throw ServedReply(403, "the target is none of those of this sni-probe") }
        guard places.count <= Self.mostAddresses else {
            throw ServedReply(400, "the target has too many IPs")
        }
        return .target(target, at: own)
    }
}
