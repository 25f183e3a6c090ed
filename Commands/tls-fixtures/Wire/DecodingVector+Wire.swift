internal import TLSFixtures

extension DecodingVector {
    /// Serves the coded content to a client that decodes.
    func trials(_ authority: WireAuthority, codings: [String]) -> Trials {
        let used = encodings.flatMap { $0.split(separator: ",") }.map { coding in
            let name = coding.drop { $0 == " " || $0 == "\t" }.lowercased()
            return name.hasPrefix("x-") ? String(name.dropFirst(2)) : name
        }
        if expect != .raw,
            let missing = used.first(where: { Self.known.contains($0) && !codings.contains($0) })
        {
            return .unsuitable("it does not decode \(missing)")
        }
        return .plans([
            plan("without TLS", scheme: "http", authority), plan("over TLS", scheme: "https", authority),
        ])
    }

    private static let known = ["gzip", "deflate", "br", "zstd"]
    private static let host = "a.test"

    private func plan(_ label: String, scheme: String, _ authority: WireAuthority) -> TrialPlan {
        TrialPlan(label: label) {
            let place = Place(scheme: scheme, host: Self.host, port: scheme == "https" ? 443 : 80)
            let servers = try NamedServers([place], authority: authority) { _ in
                .http { _ in
                    var reply = FixtureReply.bytes(input)
                    for encoding in encodings { reply.headers.append("Content-Encoding", encoding) }
                    return reply.then(.close)
                }
            }
            var job = Job(
                topic: head.topic.rawValue,
                vector: head.name,
                roots: authority.rootFile,
                routes: servers.routes,
                requests: [Job.Request(url: "\(scheme)://\(Self.host)/")]
            )
            job.settings.decodes = true
            job.settings.decoding = settings
            return Trial(job: job, on: servers) { outcome, facts in
                differences(outcome.last, facts: facts)
            }
        }
    }

    private func differences(_ got: RequestOutcome, facts: ClientDescription) -> [Difference] {
        switch expect {
        case .content(let content): Self.difference(content, got: got)
        case .raw: Self.difference(input, got: got)
        case .fault(let fault):
            switch got.result {
            case .response: [Difference(what: "outcome", expected: "an error: \(fault)", got: got.word)]
            case .failed(_, let detail, _) where facts.givesReasons:
                Difference.between("fault", expected: fault, got: detail)
            case .failed: []
            case .crashed(let why): [Difference(what: "outcome", expected: fault, got: why)]
            }
        }
    }

    private static func difference(_ wanted: [UInt8], got: RequestOutcome) -> [Difference] {
        guard let response = got.response else {
            return [Difference(what: "outcome", expected: "content", got: got.word)]
        }
        guard response.body != wanted else { return [] }
        func words(_ bytes: [UInt8]) -> String {
            bytes.count <= 80 ? String(decoding: bytes, as: UTF8.self) : "\(bytes.count) bytes"
        }
        return [Difference(what: "content", expected: words(wanted), got: words(response.body))]
    }
}
