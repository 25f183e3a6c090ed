internal import DirectHTTP1
internal import TLSFixtures

extension RequestVector {
    /// Has the client send the request, as far as a URL can name it.
    func trials(_ authority: WireAuthority) -> Trials {
        guard case .head(let request) = message else {
            return .unsuitable("a client is not told the size of its chunks or its trailers")
        }
        guard !request.expectContinue, !request.close, !request.upgrade else {
            return .unsuitable("it asks the writer for fields that a client adds by itself")
        }
        guard request.target.first == UInt8(ascii: "/"), request.method != .connect else {
            return .unsuitable("a URL cannot name this target")
        }
        // A fragment is not sent, and what ends the authority gives it another meaning.
        let inURL = request.authority + request.target
        let host = request.authority.prefix { $0 > 0x20 && $0 < 0x7F }
        guard isRefused || host.count == request.authority.count && inURL.allSatisfy(\.isPrintable),
            inURL.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "#") }),
            !request.authority.contains(where: Array("@/?\\".utf8).contains),
            let place = Place(authority: Array(host))
        else { return .unsuitable("a URL cannot name this target") }
        var body: [UInt8]?
        switch request.framing {
        case .none: break
        case .chunked: body = Array("x".utf8)
        case .length(let count):
            guard count <= 1 << 16 else { return .unsuitable("its content is too large") }
            body = [UInt8](repeating: 0x78, count: Int(count))
        }
        return .plans([plan(request, place, body: body, authority)])
    }

    private var isRefused: Bool { if case .error = expect { true } else { false } }

    private func plan(
        _ request: RequestHead,
        _ place: Place,
        body: [UInt8]?,
        _ authority: WireAuthority
    ) -> TrialPlan {
        TrialPlan {
            let server = try FixtureServer.start(.plain) { request in
                _ = try request.body
                return .text("received").then(.close)
            }
            var asked = Job.Request(url: "http://\(request.authority.latin1)\(request.target.latin1)")
            asked.method = "\(request.method)"
            asked.fields = Self.pairs(request.headers)
            asked.body = body
            asked.isStream = request.framing == .chunked
            var job = Job(
                topic: head.topic.rawValue,
                vector: head.name,
                roots: authority.rootFile,
                routes: [Job.Route(host: place.host, port: place.port, addresses: [server.authority])],
                requests: [asked]
            )
            job.settings.fields = Self.pairs(request.extra)
            return Trial(job: job) { outcome, facts in
                _ = try? await server.waitUntil(within: .seconds(2)) { $0.allSatisfy { $0.end != nil } }
                // The bytes as they came: a head that is no longer HTTP is no request for the server.
                let received = server.records.map(\.received).filter { !$0.isEmpty }
                return differences(outcome, received: received, body: body ?? [], facts: facts)
            }
        }
    }

    private static func pairs(_ headers: HTTPHeaders) -> [(name: [UInt8], value: [UInt8])] {
        headers.indices.map { (name: headers[$0].name.bytesOfField, value: headers.valueBytes(at: $0)) }
    }

    private func differences(
        _ outcome: JobOutcome,
        received: [[UInt8]],
        body: [UInt8],
        facts: ClientDescription
    ) -> [Difference] {
        switch expect {
        case .bytes(let bytes):
            guard let got = received.first else {
                return [Difference(what: "request", expected: "sent", got: outcome.last.word)]
            }
            var wanted = SentHead(bytes)
            // A client that is given a stream may learn its length before it sends the head.
            let found = SentHead(got)
            if !facts.givesReasons { wanted.takeFraming(of: found, insteadOf: "transfer-encoding") }
            return wanted.differences(from: found) + found.content.differences(from: body)
        case .error(let label):
            guard case .head(let request) = message else { return [] }
            // A URL may hold more than a target: what it must not is encoded in it.
            if facts.givesReasons, !received.isEmpty, request.target.allSatisfy(\.isPrintable) {
                return [Difference(what: "request", expected: "refused: \(label)", got: "sent")]
            }
            // Another client may send what is left without the offence.
            return received.first.map { SentHead($0).offences(of: request) } ?? []
        }
    }
}

extension UInt8 {
    fileprivate var isPrintable: Bool { self > 0x20 && self < 0x7F }
}
