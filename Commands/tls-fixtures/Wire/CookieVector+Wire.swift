internal import DirectHTTP
internal import TLSFixtures

extension CookieVector {
    /// Serves the cookies, and looks at those that come back.
    func trials(_ authority: WireAuthority) -> Trials {
        let steps = self.steps
        guard steps.allSatisfy({ step in Place(url: step.url.text) != nil }) else {
            return .unsuitable("its URL has no host to connect to")
        }
        return .plans([
            TrialPlan {
                let places = steps.compactMap { Place(url: $0.url.text) }
                let script = CookieScript(steps.map(\.cookies))
                let servers = try NamedServers(places, authority: authority) { _ in
                    .http { _ in script.nextAnswer() }
                }
                var job = Job(
                    topic: head.topic.rawValue,
                    vector: head.name,
                    roots: authority.rootFile,
                    routes: servers.routes,
                    requests: steps.map { step in
                        var request = Job.Request(url: step.url.text)
                        request.time = step.time.seconds - Self.start.seconds
                        return request
                    }
                )
                job.kept = [.cookies]
                if isAboutTime { job.time = Self.start.seconds }
                return Trial(job: job, on: servers) { outcome, facts in
                    differences(outcome, requests: servers.requests, facts: facts)
                }
            }
        ])
    }

    /// A request, and the cookies in its response.
    private struct Step {
        var url: SpelledURL
        var cookies: [[UInt8]]
        var time: UnixTime
    }

    private var steps: [Step] {
        responses.map { Step(url: $0.url, cookies: $0.fields, time: $0.time) }
            + requests.map { Step(url: $0.url, cookies: [], time: $0.time) }
    }

    /// Whether the result depends on the time of day.
    private var isAboutTime: Bool {
        let fields = responses.flatMap(\.fields).map { $0.latin1.lowercased() }
        return steps.contains { $0.time != Self.start }
            || fields.contains { $0.contains("expires") || $0.contains("max-age") }
    }

    /// Whether the client refused a response because a field has a control character. It then has no cookie
    /// of it, also none that a jar would take.
    private func isRefusedAsAWhole(_ outcome: JobOutcome) -> Bool {
        guard case .done(let outcomes) = outcome else { return false }
        return zip(responses, outcomes).contains { response, outcome in
            outcome.response == nil
                && response.fields.contains { $0.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F } }
        }
    }

    private func differences(
        _ outcome: JobOutcome,
        requests seen: [RequestRecord],
        facts: ClientDescription
    ) -> [Difference] {
        if isRefusedAsAWhole(outcome) { return [] }
        let count = responses.count + requests.count
        guard seen.count == count else {
            let word = outcome.last.word
            let found = [Difference(what: "requests", expected: "\(count)", got: "\(seen.count) (\(word))")]
            return seen.count < count ? found.asLess : found
        }
        return zip(requests, seen.dropFirst(responses.count)).flatMap { request, got in
            let values = got.head.fieldValues("cookie")
            var cookie = values.isEmpty ? nil : Array(values.joined(separator: Array("; ".utf8)))
            var (expected, sent) = (request.cookie?.cookies ?? [], cookie?.cookies ?? [])
            // The order of cookies is a SHOULD, with vectors of its own.
            if !facts.givesReasons, !head.name.hasPrefix("order:") {
                (expected, sent) = (expected.sorted(), sent.sorted())
                if cookie != nil, expected == sent { cookie = request.cookie }
            }
            var found = Difference.between(
                request.url.text,
                expected: Self.text(request.cookie),
                got: Self.text(cookie)
            )
            // A user agent may ignore a cookie, and may send none (RFC 6265, sections 5.3 and 5.4).
            if sent.isPart(of: expected) { found = found.judged(by: .choice) }
            return cookie == nil ? found.asLess : found
        }
    }
}

/// Sets the cookies of each response in turn.
private final class CookieScript: Sendable {
    private let cookies: [[[UInt8]]]
    private let answered = Locked(0)

    init(_ cookies: [[[UInt8]]]) {
        self.cookies = cookies
    }

    func nextAnswer() -> FixtureReply {
        let index = answered.withLock { count in
            count += 1
            return count - 1
        }
        var bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".utf8)
        for cookie in index < cookies.count ? cookies[index] : [] {
            bytes += Array("Set-Cookie: ".utf8) + cookie + [13, 10]
        }
        return .raw(bytes + [13, 10])
    }
}

extension [UInt8] {
    /// The cookies of a `Cookie` field, with a semicolon and a space between two (RFC 6265, section 5.4).
    fileprivate var cookies: [String] { split(separator: [59, 32]).map(\.latin1) }

    /// The values of the fields with this lower-case name in a request head.
    fileprivate func fieldValues(_ name: String) -> [[UInt8]] {
        split(separator: 10).compactMap { line in
            guard let colon = line.firstIndex(of: 58),
                String(decoding: line[..<colon], as: UTF8.self).lowercased() == name
            else { return nil }
            var value = line[(colon + 1)...].drop { $0 == 32 || $0 == 9 }
            if value.last == 13 { value.removeLast() }
            return Array(value)
        }
    }
}

extension [String] {
    /// Whether it lacks some of these, and has the others once each and in their order.
    fileprivate func isPart(of whole: [String]) -> Bool {
        var rest = whole[...]
        return isEmpty
            || count < whole.count
                && allSatisfy { text in
                    guard let place = rest.firstIndex(of: text) else { return false }
                    rest = rest[(place + 1)...]
                    return true
                }
    }
}
