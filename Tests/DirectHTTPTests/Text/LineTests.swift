import DirectTestCommands
import DirectTestData
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Lines of bodies", .idleLimit)
struct LineTests {
    private let client = HTTPClient.untimed()

    private static func body(_ steps: [HTTPClient.Response.BodyStep]) async throws -> ResponseBody {
        let client = HTTPClient.untimed {
            $0.transport = { try HTTPClient.Response(to: $0, 200, steps: steps) }
        }
        return try await client.send(HTTPClient.Request(.get, "http://a.test/")).body
    }

    private static func lines(_ body: ResponseBody, upTo limit: Int = 1 << 20) async throws -> [String] {
        var lines: [String] = []
        for try await line in body.lines(upTo: limit) { lines.append(line) }
        return lines
    }

    @Test(
        "LF, CR and CRLF end a line, wherever the pieces are cut",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("\n", [""]), ("a\n\nb", ["a", "", "b"]),
            ("a\r\nb\rc\nd", ["a", "b", "c", "d"]), ("\r\r\n\n\r", ["", "", "", ""]), ("a\r\n", ["a"]),
            ("\u{FEFF}é\r\n\u{FEFF}", ["é", "\u{FEFF}"]), ("\u{FEFF}", [""]),
            ("\u{85}a\u{2028}b\u{0B}", ["\u{85}a\u{2028}b\u{0B}"]),
        ] as [(String, [String])]
    )
    func ends(text: String, lines: [String]) async throws {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            let parts: [HTTPClient.Response.BodyStep] = [
                .bytes(Array(bytes[..<cut])), .bytes(Array(bytes[cut...])),
            ]
            #expect(try await Self.lines(Self.body(parts)) == lines)
        }
        #expect(try await Self.lines(Self.body(bytes.map { .bytes([$0]) })) == lines)
    }

    @Test("Characters of several bytes are whole wherever the pieces are cut, and invalid ones become U+FFFD")
    func characters() async throws {
        let bytes = Array("你好😀\n".utf8) + [0xFF, 0x0A]
        let body = try await Self.body(bytes.map { .bytes([$0]) })
        #expect(try await Self.lines(body) == ["你好😀", "\u{FFFD}"])
    }

    @Test("A line is there when its end is, and not when more arrives", arguments: ["\n", "\r", "\r\n"])
    func early(end: String) async throws {
        var lines = try await Self.body([.text("a\(end)"), .stall]).lines.makeAsyncIterator()
        #expect(try await lines.next() == "a")
    }

    @Test("A line may be as long as the limit, and one that is longer ends the body")
    func limit() async throws {
        #expect(
            try await Self.lines(Self.body([.text("abc"), .text("d\r\nabcd")]), upTo: 4) == ["abcd", "abcd"]
        )
        let endless = try FixtureServer.start { _ in .text(String(repeating: "a", count: 1 << 20)) }
        let error = try await httpError {
            let body = try await client.send(HTTPClient.Request(.get, endless.http("/x"))).body
            return try await Self.lines(body, upTo: 1000)
        }
        guard case .lineTooLong(limit: 1000) = error.reason else { throw error }
        #expect(error.phase == .body && error.url?.path == "/x")
        try await endless.waitUntil { $0.allSatisfy { $0.end != nil } }
        // After the error the sequence has ended, and what it has read of the line is not delivered.
        var ended = try await Self.body([.text("ab"), .text("cde\n")]).lines(upTo: 4).makeAsyncIterator()
        _ = try await httpError { try await ended.next(isolation: #isolation) }
        #expect(try await ended.next() == nil)
        for steps in [[HTTPClient.Response.BodyStep.text("abcde\n")], [.text("abcd"), .text("e\n")]] {
            let body = try await Self.body(steps)
            _ = try await httpError { try await Self.lines(body, upTo: 4) }
            let again = try await httpError { try await Self.lines(body, upTo: 4) }
            guard case .bodyAlreadyRead = again.reason else { throw again }
        }
    }

    @Test("The lines before a failure are delivered, and the part of a line is not")
    func failure() async throws {
        let body = try await Self.body([.text("a\nb\nc"), .failure(HTTPError(.body, .connectionClosed))])
        var lines = body.lines.makeAsyncIterator()
        #expect(try await lines.next() == "a")
        #expect(try await lines.next() == "b")
        _ = try await httpError { try await lines.next(isolation: #isolation) }
        #expect(try await lines.next() == nil)
    }

    @Test("Compressed content is decoded into lines")
    func coded() async throws {
        let text = (0..<10_000).map { "line \($0)\r\n" }.joined()
        let coded = deflated(Array(text.utf8), windowBits: 31)
        let server = try FixtureServer.start { _ in .bytes(coded, ["Content-Encoding": "gzip"]) }
        let lines = try await Self.lines(client.send(HTTPClient.Request(.get, server.http())).body)
        #expect(lines == (0..<10_000).map { "line \($0)" })
    }

    @Test("A body that is whole when its lines are read is split like any other")
    func buffered() async throws {
        let server = try FixtureServer.start { _ in .text("a\nb") }
        #expect(
            try await Self.lines(client.send(HTTPClient.Request(.get, server.http())).body) == ["a", "b"]
        )
    }
}
