internal import DirectCore
internal import DirectHTTP

/// The command's own targets, among which requests to `--listen` choose.
struct ListedTargets {
    /// The addresses of each target; none if it is to be resolved.
    private var entries: [String: [ProbeAddresses]] = [:]

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
                entries[Self.key(probe.target), default: []].append(place)
            case .resolve(let target): entries[Self.key(target), default: []] += []
            case .needsInput:
                throw UsageError("--listen reads its input in each round, and a pipe can be read only once")
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

    /// The target that a request asks for. One of the list keeps its port, whatever the module.
    ///
    /// - Throws: The answer to a request for an invalid target, or one that is not allowed.
    func word(for text: String, _ options: Options) throws(ServedReply) -> TargetWord {
        guard case .target(let given, let own)? = try? TargetWord(text) else {
            throw ServedReply(400, "the target is neither a host nor a URL of the command line")
        }
        let target = given.withPort(of: options.settings.upgrade)
        let places = own.flatMap { range in
            (0..<range.count).prefix(Self.mostAddresses + 1).map {
                ProbeAddresses(range[$0], port: range.port ?? target.port)
            }
        }
        if let entry = entries[Self.key(target)], Set(places).isSubset(of: entry) {
            let same = target.url == nil ? ProbeTarget(host: target.host, port: target.port) : target
            return .target(same, at: own.isEmpty ? entry : places)
        }
        guard options.listensForAny else { throw ServedReply(403, "the target is not of this sni-probe") }
        guard places.count <= Self.mostAddresses else {
            throw ServedReply(400, "the target has too many IPs")
        }
        return .target(given, at: own)
    }
}
