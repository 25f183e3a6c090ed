import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

/// A value that could be read as more than one is refused before any byte is sent, and never repeated in the
/// error. Multipart heads and trailers are tested with their bodies.
@Suite("Injection into requests", .idleLimit)
struct InjectionTests {
    private static let controls = [
        "\r\nX-Evil: 1", "\rX-Evil: 1", "\nX-Evil: 1", "\0", "\u{1}", "\u{1f}", "\u{7f}",
    ]

    private func expectRefusal(
        _ sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout Request) -> Void
    ) async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = HTTPClient.untimed()
        _ = try await client.get(server.http())
        var request = Request(.post, server.http(), body: .text("body"))
        change(&request)
        let error = try await httpError(sourceLocation) { [request] in try await client.fetch(request) }
        #expect(
            error.phase == .request && error.protocolError != nil,
            "\(error)",
            sourceLocation: sourceLocation
        )
        #expect(!error.description.contains("Evil: 1"), sourceLocation: sourceLocation)
        #expect(!error.description.contains("secret"), sourceLocation: sourceLocation)
        // Nothing of it was sent, so the connection is as good as before.
        #expect(try await client.get(server.http()).isReused, sourceLocation: sourceLocation)
        #expect(server.requests.count == 2, sourceLocation: sourceLocation)
    }

    @Test("CR, LF, NUL and other control characters in a header value are refused", arguments: controls)
    func headerValue(control: String) async throws {
        try await expectRefusal { $0.headers.add("X-A", "secret" + control) }
    }

    @Test(
        "A header name that is empty or has control characters, spaces or separators is refused",
        arguments: controls + [" ", ":", "(", "é", ""]
    )
    func headerName(control: String) async throws {
        try await expectRefusal { $0.headers.add(control.isEmpty ? "" : "X-A" + control, "1") }
    }

    @Test("A method that is no token is refused", arguments: controls + [" / HTTP/1.1", "", "(", "é"])
    func method(control: String) async throws {
        try await expectRefusal {
            $0.method = HTTPMethod(stringLiteral: control.isEmpty ? "" : "GET" + control)
        }
    }

    @Test("Control characters in a protocol to upgrade to are refused", arguments: controls)
    func upgrade(control: String) async throws {
        try await expectRefusal { $0.upgrade = ["echo" + control] }
    }

    @Test(
        "An Upgrade field of the caller's with other protocols than the request's, and one of no name, are refused"
    )
    func secondUpgrade() async throws {
        for name in ["Upgrade", "upgrade"] {
            try await expectRefusal {
                $0.upgrade = ["echo"]
                $0.headers.add(name, "chat")
            }
        }
        try await expectRefusal { $0.upgrade = [""] }
    }

    @Test("Control characters in the content type of a body are refused", arguments: controls)
    func contentType(control: String) async throws {
        try await expectRefusal { $0.body = .bytes([1], contentType: "text/plain" + control) }
    }

    @Test("A Host field for another name than the URL's is refused")
    func host() async throws {
        try await expectRefusal { $0.headers.add("Host", "evil.test") }
        try await expectRefusal { $0.headers.add("hOST", "127.0.0.1\r\nX-Evil: 1") }
    }

    @Test("TRACE with content is refused (RFC 9110, section 9.3.8), and no connection is made for it")
    func trace() async throws {
        let server = try FixtureServer.start { .text($0.method) }
        let client = HTTPClient.untimed()
        let stream = RequestBody.replayable { AsyncStream<[UInt8]> { $0.finish() } }
        for body in [RequestBody.text("body"), stream] {
            try await expectRefusal {
                $0.method = .trace
                $0.body = body
            }
            _ = try await httpError { try await client.fetch(Request(.trace, server.http(), body: body)) }
        }
        #expect(server.records.isEmpty)
        for body in [RequestBody.none, .bytes([])] {
            #expect(try await client.fetch(Request(.trace, server.http(), body: body)).text == "TRACE")
        }
    }

    @Test("A wrong length of the caller, a coding, and both, also with a right length, are refused")
    func framing() async throws {
        try await expectRefusal { $0.headers.add("Content-Length", "5") }
        try await expectRefusal { $0.headers.add("Transfer-Encoding", "chunked") }
        try await expectRefusal {
            $0.headers.add("Content-Length", "4")
            $0.headers.add("Transfer-Encoding", "chunked")
        }
        for name in ["Connection", "Expect", "Upgrade"] {
            try await expectRefusal { $0.headers.add(name, "close") }
        }
    }

    @Test("Invalid characters in a target are escaped or refused when the URL is read")
    func target() async throws {
        let server = try FixtureServer.start { .text($0.target) }
        let client = HTTPClient.untimed()
        #expect(try await client.get(server.http("/a b?c d\u{e9}")).text == "/a%20b?c%20d%C3%A9")
        for control in ["\r\nX-Evil: 1", "\n", "\t"] {
            let error = try await httpError { try await client.get(server.http("/a\(control)b")) }
            guard case .url(.tabOrLineBreak) = error.reason else { throw error }
        }
        let answer = try await client.get(server.http("/a\0b\u{7f}"))
        #expect(answer.text == "/a%00b%7F")
        #expect(server.requests.allSatisfy { !$0.head.contains(0) })
    }

    @Test("Values beyond ASCII are sent as bytes, and an empty value is sent")
    func allowed() async throws {
        let server = try FixtureServer.start {
            .text("\($0.headers["x-a"] ?? "none")|\($0.headers["x-b"] ?? "none")")
        }
        let answer = try await HTTPClient.untimed().get(
            server.http(),
            headers: ["X-A": "", "X-B": "caf\u{e9}\u{1f600}"]
        )
        #expect(answer.text == "|caf\u{e9}\u{1f600}")
    }
}
