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
        // What a URL may not contain, or what ends its path, never reaches the writer.
        let inURL = request.authority + request.target
        guard inURL.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !inURL.contains(UInt8(ascii: "#")),
            !request.authority.contains(where: Array("@/?\\".utf8).contains),
            let place = Place(authority: request.authority)
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
                return differences(outcome, received: received, facts: facts)
            }
        }
    }

    private static func pairs(_ headers: HTTPHeaders) -> [(name: [UInt8], value: [UInt8])] {
        headers.indices.map { (name: headers[$0].name.bytesOfField, value: headers.valueBytes(at: $0)) }
    }

    private func differences(
        _ outcome: JobOutcome,
        received: [[UInt8]],
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
            return wanted.differences(from: found)
        case .error(let label):
            if facts.givesReasons, !received.isEmpty {
                return [Difference(what: "request", expected: "refused: \(label)", got: "sent")]
            }
            // Another client may send what is left without the offence.
            return received.first.map { SentHead($0).offences(of: message) } ?? []
        }
    }
}

/// A request head as it was sent.
private struct SentHead {
    var line: String
    var fields: [(name: String, value: String)]
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var lines = bytes.latin1.replacing("\r\n", with: "\n").split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        line = lines.isEmpty ? "" : String(lines.removeFirst())
        fields = lines.prefix { !$0.isEmpty }.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? parts[1] : ""
            return (name: parts[0].lowercased(), value: String(value.drop { $0 == " " || $0 == "\t" }))
        }
    }

    private func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Expects the framing of another head if this one has a framing field with the given name.
    mutating func takeFraming(of other: SentHead, insteadOf name: String) {
        guard !values(name).isEmpty else { return }
        let names = ["content-length", "transfer-encoding"]
        fields.removeAll { names.contains($0.name) }
        fields += other.fields.filter { names.contains($0.name) }
    }

    /// Compares the request line, the fields that must be there, and the framing. A client may add fields of
    /// its own.
    func differences(from got: SentHead) -> [Difference] {
        var found = Difference.between("request line", expected: line, got: got.line)
        for name in Set(fields.map(\.name)).sorted() {
            let wanted = values(name)
            found += Difference.between(name, expected: wanted, got: got.values(name))
        }
        for name in ["content-length", "transfer-encoding"] where values(name).isEmpty {
            let values = got.values(name)
            guard !values.isEmpty else { continue }
            found.append(Difference(what: name, expected: "none", got: values.joined(separator: ", ")))
        }
        return found
    }

    /// Whether these bytes were sent. An end of line at their end is seen by what follows the end of the
    /// head.
    private func isSent(_ part: [UInt8]) -> Bool {
        guard bytes.contains(part) else { return false }
        guard part.suffix(2) == [13, 10] else { return true }
        guard let end = bytes.firstRange(of: [13, 10, 13, 10]) else { return true }
        return end.upperBound < bytes.count
    }

    /// Returns what makes this head dangerous: the invalid parts of the message, as they were given, or two
    /// framings.
    func offences(of message: RequestVector.Message) -> [Difference] {
        guard case .head(let request) = message else { return [] }
        var found: [Difference] = []
        var parts: [(what: String, bytes: [UInt8])] = []
        let method = "\(request.method)".bytesOfField
        if !method.allSatisfy(\.isInToken) { parts.append(("method", method + [0x20])) }
        for headers in [request.headers, request.extra] {
            for index in headers.indices {
                let name = headers[index].name.bytesOfField
                if name.isEmpty || !name.allSatisfy(\.isInToken) {
                    parts.append(("field name", [13, 10] + name + [0x3A]))
                }
                let value = headers.valueBytes(at: index)
                if value.contains(where: \.isInvalidInValue) { parts.append(("field value", value)) }
            }
        }
        for (what, part) in parts where isSent(part) {
            let wanted = "refused or without invalid bytes"
            found.append(Difference(what: what, expected: wanted, got: "sent as given"))
        }
        if !values("content-length").isEmpty, !values("transfer-encoding").isEmpty {
            found.append(
                Difference(what: "framing", expected: "one", got: "Content-Length and Transfer-Encoding")
            )
        }
        if values("host").count > 1 {
            found.append(Difference(what: "Host", expected: "one", got: "\(values("host").count)"))
        }
        return found
    }
}

extension UInt8 {
    /// Whether the byte may stand in a token (RFC 9110, section 5.6.2).
    fileprivate var isInToken: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: Array("!#$%&'*+-.^_`|~".utf8).contains(self)
        }
    }

    /// Whether the byte may not stand in a field value (RFC 9110, section 5.5).
    fileprivate var isInvalidInValue: Bool { self < 0x20 && self != 9 || self == 0x7F }
}
