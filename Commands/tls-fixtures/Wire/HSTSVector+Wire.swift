internal import DirectHTTP
internal import TLSFixtures

extension HSTSVector {
    /// Serves the policies, and notes by which scheme the requests come.
    func trials(_ authority: WireAuthority) -> Trials {
        let asked = responses.map(\.url) + requests.map(\.url)
        let urls = asked.map(\.url) + requests.map(\.reached)
        let places = urls.compactMap { Place(url: $0.text) }
        guard places.count == urls.count else { return .unsuitable("its URL has no host to connect to") }
        return .plans([
            TrialPlan {
                let script = PolicyScript(responses)
                let servers = try NamedServers(reachable(places), authority: authority) { scheme in
                    .http { request in script.answer(request, scheme: scheme) }
                }
                var job = Job(
                    topic: head.topic.rawValue,
                    vector: head.name,
                    roots: authority.rootFile,
                    routes: servers.routes,
                    requests: asked.map { Job.Request(url: $0.text) }
                )
                for (index, response) in responses.enumerated() {
                    job.requests[index].method = response.method ?? "GET"
                }
                job.kept = [.hsts]
                return Trial(job: job, on: servers) { outcome, _ in
                    differences(outcome, reached: script.reached)
                }
            }
        ])
    }

    /// Where requests must come, before where they would come without a policy: one host and port leads to
    /// one server.
    private func reachable(_ places: [Place]) -> [Place] {
        let wanted = (responses.map(\.url.url) + requests.map(\.reached)).compactMap { Place(url: $0.text) }
        return wanted
            + places.filter { place in !wanted.contains { ($0.host, $0.port) == (place.host, place.port) } }
    }

    private func differences(_ outcome: JobOutcome, reached: [String]) -> [Difference] {
        guard case .done(let outcomes) = outcome, outcomes.count == responses.count + requests.count else {
            return [Difference(what: "results", expected: "one for each request", got: outcome.last.word)]
        }
        let wanted = responses.map(\.url.url.text) + requests.map(\.reached.text)
        let found = Difference.between("requests", expected: wanted, got: reached)
        return wanted.starts(with: reached) ? found.asLess : found
    }
}

/// Gives the policy of each response in turn, and records the URLs of all requests.
private final class PolicyScript: Sendable {
    private let responses: [HSTSVector.Response]
    private let seen = Locked<[String]>([])

    init(_ responses: [HSTSVector.Response]) {
        self.responses = responses
    }

    var reached: [String] { seen.withLock { $0 } }

    func answer(_ request: FixtureRequest, scheme: String) -> FixtureReply {
        let text = "\(scheme)://\(request.host ?? "none")\(request.target)"
        let index = seen.withLock { seen in
            // A port that is the scheme's own need not be written.
            seen.append((try? HTTPURL(text).text) ?? text)
            return seen.count - 1
        }
        let response = index < responses.count ? responses[index] : nil
        var bytes = Array("HTTP/1.1 \(response?.status ?? 200) Text\r\nContent-Length: 0\r\n".utf8)
        for policy in response?.fields ?? [] {
            bytes += Array("Strict-Transport-Security: ".utf8) + policy + [13, 10]
        }
        return .raw(bytes + [13, 10])
    }
}
