internal import DirectHTTP
internal import TLSFixtures

extension CacheVector {
    /// Serves the origin's answers, for clients with a cache and with a clock that the job sets.
    func trials(_ authority: WireAuthority) -> Trials {
        guard exchanges.allSatisfy({ $0.delay == 0 }) else {
            return .unsuitable("the time passes while the origin thinks")
        }
        guard exchanges.allSatisfy({ $0.added.isEmpty }) else {
            return .unsuitable("fields are added below the cache")
        }
        guard exchanges.allSatisfy({ $0.upgrade.isEmpty }) else {
            return .unsuitable("it switches to another protocol")
        }
        return .plans([
            TrialPlan {
                let base = try HTTPURL("https://\(Self.host)/")
                let urls = try exchanges.map { try base.resolving($0.url) }
                let script = OriginScript(exchanges.map(\.origin))
                let places = urls.compactMap { Place(url: $0.text) }
                let servers = try NamedServers(places, authority: authority) { _ in
                    .http { request in script.answer(request) }
                }
                var job = Job(
                    topic: head.topic.rawValue,
                    vector: head.name,
                    roots: authority.rootFile,
                    routes: servers.routes,
                    requests: exchanges.indices.map { request($0, url: urls[$0]) }
                )
                job.kept = [.cache]
                job.time = Self.start.seconds
                job.settings.stale = staleWhenUnreachable
                return Trial(job: job, on: servers) { outcome, _ in
                    differences(outcome, asked: script.asked)
                }
            }
        ])
    }

    private static let host = "a.example"

    private func request(_ index: Int, url: HTTPURL) -> Job.Request {
        let exchange = exchanges[index]
        var request = Job.Request(url: url.text)
        request.method = exchange.method
        request.fields = exchange.fields.map { (Array($0.name.utf8), Array($0.value.utf8)) }
        // Tells the origin which answer to send, also if a cache asks later.
        request.fields.append((Array(OriginScript.field.utf8), Array("\(index)".utf8)))
        request.body = exchange.body.map { Array($0.utf8) }
        request.time = exchange.time
        return request
    }

    private func differences(_ outcome: JobOutcome, asked: [Int: FixtureHeaders]) -> [Difference] {
        guard case .done(let outcomes) = outcome, outcomes.count == answers.count else {
            return [Difference(what: "results", expected: "\(answers.count)", got: outcome.last.word)]
        }
        return zip(answers, outcomes).enumerated().flatMap { index, pair in
            let faults = asked[index].map { self.faults(of: $0, at: index) } ?? []
            return (Self.differences(pair.0, got: pair.1, sent: asked[index]) + faults)
                .map { $0.found(in: "\(index + 1)") }
        }
    }

    /// An If-Range that a client must not send (RFC 9110, section 13.1.5), if the caller has sent none.
    private func faults(of sent: FixtureHeaders, at index: Int) -> [Difference] {
        guard !exchanges[index].fields.contains(where: { $0.name == "If-Range" }),
            let value = sent["if-range"]
        else { return [] }
        let isTagged = exchanges[..<index].contains { exchange in
            guard case .answers(_, let fields, _) = exchange.origin else { return false }
            return fields.contains { $0.name == "ETag" }
        }
        var found: [Difference] = []
        if sent["range"] == nil {
            found.append(Difference(what: "If-Range", expected: "a Range", got: "none"))
        }
        let isTag = value.hasPrefix("\"")
        if value.hasPrefix("W/") || isTagged && !isTag {
            found.append(Difference(what: "If-Range", expected: "a strong entity tag", got: value))
        }
        return found.judged(by: .must)
    }

    private static func differences(
        _ wanted: Answer,
        got: RequestOutcome,
        sent: FixtureHeaders?
    ) -> [Difference] {
        guard let response = got.response else {
            return Difference.between("use", expected: wanted.use, got: "error")
        }
        // A cache may say by 504 that the origin cannot be reached (RFC 9111, section 5.2.2.2).
        if wanted.use == "error", response.status == 504, response.use.map({ $0 == "miss" }) ?? true {
            return []
        }
        var found: [Difference] = []
        if let use = response.use { found += Difference.between("use", expected: wanted.use, got: use) }
        found += Difference.between("status", expected: wanted.status, got: response.status)
        let text = String(decoding: response.body, as: UTF8.self)
        found += Difference.between("body", expected: wanted.body, got: text)
        for (name, value) in wanted.fields {
            let values = response.fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            let text = values.isEmpty ? "none" : values.joined(separator: ", ")
            found += Difference.between("header \(name)", expected: value ?? "none", got: text)
        }
        let isAsked = wanted.isAsked ?? !["hit", "stale"].contains(wanted.use)
        found += Difference.between("origin asked", expected: isAsked, got: sent != nil)
        // No RFC requires a cache to store a response, or to use it without asking.
        if response.use == "miss" || response.use == nil && sent != nil,
            !isAsked || wanted.use == "revalidated"
        {
            return found.judged(by: .choice)
        }
        guard let sent else { return found }
        let differing = wanted.sent.flatMap { name, value in
            let values = sent.all(name)
            let text = values.isEmpty ? "none" : values.joined(separator: ", ")
            return Difference.between("sent \(name)", expected: value ?? "none", got: text)
        }
        // Nor does any require it to ask with a condition.
        let isConditional = sent.fields.contains { $0.name.lowercased().hasPrefix("if-") }
        return found + (isConditional ? differing : differing.judged(by: .choice))
    }
}

/// Answers as the origin, and records the last request of each exchange.
private final class OriginScript: Sendable {
    /// The field with the number of the exchange.
    static let field = "Vector-Exchange"

    private let origins: [CacheVector.Origin]
    private let requests = Locked<[Int: FixtureHeaders]>([:])

    init(_ origins: [CacheVector.Origin]) {
        self.origins = origins
    }

    /// The fields of the last request of each exchange.
    var asked: [Int: FixtureHeaders] { requests.withLock { $0 } }

    func answer(_ request: FixtureRequest) -> FixtureReply {
        guard let index = request.headers[Self.field].flatMap({ Int($0) }), origins.indices.contains(index)
        else { return .status(500) }
        requests.withLock { $0[index] = request.headers }
        guard case .answers(let status, let fields, let body) = origins[index] else {
            return .raw([UInt8](), then: .reset)
        }
        var text = "HTTP/1.1 \(status) X\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        let hasContent = request.method != "HEAD" && status != 304 && status != 204
        let hasLength = fields.contains { $0.name.lowercased() == "content-length" }
        if status != 304 && status != 204 && !hasLength { text += "Content-Length: \(body.utf8.count)\r\n" }
        return .raw(Array("\(text)\r\n\(hasContent ? body : "")".utf8))
    }
}
