import DirectHTTP1
import Testing

@Suite struct ResponseVectorTests {
    @Test func `Every vector says the same whole, byte by byte, and cut in two anywhere`() throws {
        let vectors = try Vectors.load("response", as: ResponseVector.self)
        #expect(vectors.count >= 120)
        for vector in vectors {
            let exchange = vector.exchange
            let whole = exchange.read(cutAt: [])
            vector.check(whole)
            #expect(exchange.read(cutAt: 0...exchange.input.count) == whole, "\(vector.name), byte by byte")
            for cut in 0...exchange.input.count {
                let halves = exchange.read(cutAt: [cut])
                if halves != whole { Issue.record("\(vector.name), cut at \(cut): \(halves.outcome)") }
            }
        }
    }

    @Test func `Every vector has a name of its own, a reason and a reference`() throws {
        let vectors = try Vectors.load("response", as: ResponseVector.self)
        #expect(Set(vectors.map(\.name)).count == vectors.count)
        for vector in vectors {
            #expect(!vector.why.isEmpty && !vector.why.contains("\n"), "\(vector.name)")
            #expect(
                vector.reference.hasPrefix("RFC ") || vector.reference.hasPrefix("CVE-"),
                "\(vector.name)"
            )
        }
    }
}

struct ResponseVector: Decodable {
    struct Expectation: Decodable {
        var outcome: String
        var status: UInt16?
        var reason: String?
        var version: String?
        var headers: [[String]]?
        var trailers: [[String]]?
        var interims: [UInt16]?
        var framing: String?
        var content: Bytes?
        var leftover: Int?
        var reuse: String?
        var keepAlive: [UInt32?]?
        var otherCodings: Bool?
    }

    var name: String
    var why: String
    var reference: String
    var method: String?
    var upgrade: Bool?
    var input: Bytes
    var close: String?
    var leniency: [String]?
    var limits: [String: Int]?
    var expect: Expectation

    var exchange: Exchange {
        var exchange = Exchange(input: input.values)
        exchange.method = Method(stringLiteral: method ?? "GET")
        exchange.upgrade = upgrade ?? false
        exchange.cleanEnd = close.map { $0 == "clean" }
        exchange.leniency.acceptsBareLineFeeds = leniency?.contains("acceptsBareLineFeeds") ?? false
        exchange.leniency.unfoldsLines = leniency?.contains("unfoldsLines") ?? false
        exchange.leniency.acceptsDoubtfulFraming = leniency?.contains("acceptsDoubtfulFraming") ?? false
        exchange.leniency.acceptsBareLineFeedsInChunks =
            leniency?.contains("acceptsBareLineFeedsInChunks") ?? false
        for (name, value) in limits ?? [:] {
            guard let limit = Self.limits[name] else {
                Issue.record("\(self.name): there is no limit \(name)")
                continue
            }
            exchange.limits[keyPath: limit] = value
        }
        return exchange
    }

    func check(_ transcript: Transcript) {
        let head = transcript.head
        expect("outcome", transcript.outcome, expect.outcome)
        expect("status", head?.status.code, expect.status)
        expect("reason", head?.reason, expect.reason)
        expect("version", head?.version.description, expect.version)
        expect("headers", head.map { Self.pairs($0.headers) }, expect.headers)
        expect("trailers", transcript.trailers.map(Self.pairs), expect.trailers)
        expect("interims", transcript.interims.map(\.status.code), expect.interims)
        expect("framing", Self.label(transcript.framing), expect.framing)
        expect("content", transcript.content, expect.content?.values)
        expect("leftover", transcript.leftover, expect.leftover)
        expect("reuse", Self.label(transcript.reuse), expect.reuse)
        expect("timeout", transcript.keepAlive?.timeout, expect.keepAlive?[0])
        expect("max", transcript.keepAlive?.max, expect.keepAlive?[1])
        expect("otherCodings", transcript.otherCodings, expect.otherCodings)
    }

    private func expect<Value: Equatable>(_ what: String, _ got: Value?, _ wanted: Value?) {
        guard let wanted, got != wanted else { return }
        Issue.record("\(name): \(what) is \(got.map { "\($0)" } ?? "absent"), not \(wanted)")
    }

    private static func pairs(_ headers: Headers) -> [[String]] {
        headers.map { [$0.name, $0.value] }
    }

    private static func label(_ framing: ResponseFraming) -> String {
        switch framing {
        case .none: "none"
        case .length(let length): "length \(length)"
        case .chunked: "chunked"
        case .untilClose: "untilClose"
        case .tunnel: "tunnel"
        }
    }

    private static func label(_ verdict: ReuseVerdict) -> String {
        switch verdict {
        case .reusable: "reusable"
        case .close(let reason): reason.rawValue
        }
    }

    private static var limits: [String: WritableKeyPath<HTTP1Limits, Int>] {
        [
            "headBytes": \.headBytes, "lineBytes": \.lineBytes, "fieldCount": \.fieldCount,
            "interimCount": \.interimCount, "chunkExtensionBytes": \.chunkExtensionBytes,
            "trailerBytes": \.trailerBytes, "trailerCount": \.trailerCount,
        ]
    }
}
