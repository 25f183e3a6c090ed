import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Requests that errors name", .idleLimit)
struct ErrorRequestTests {
    private static let target = "/path?key=secret&flag&other=#fragment"
    private static let shown = "/path?key=***&***&***"
    private let client = HTTPClient.untimed()

    /// The error has to name this method and this path and query, and its texts no secret.
    private func expect(
        _ error: HTTPError,
        names method: HTTPMethod,
        _ target: String = shown,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(error.method == method, "\(error)", sourceLocation: location)
        #expect(error.url?.text.hasSuffix(target) == true, "\(error)", sourceLocation: location)
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", dumped, String(reflecting: error)] {
            #expect(!text.contains("secret"), "\(text)", sourceLocation: location)
        }
    }

    @Test("The URL in an error shows path and names of the query, and no value, user, password or fragment")
    func redaction() throws {
        let cases = [
            ("https://joe:secret@a.test:8443/p/q", "https://a.test:8443/p/q"),
            ("http://a.test?secret", "http://a.test/?***"), ("http://a.test/?", "http://a.test/?"),
            ("http://a.test/?a=secret=secret&&b=#secret", "http://a.test/?a=***&&***"),
            ("http://joe@[::1]/#secret", "http://[::1]/"),
        ]
        for (text, shown) in cases { #expect(try HTTPURL(text).redacted.text == shown) }
        let error = HTTPError(.body, .connectionClosed, method: .put, url: try HTTPURL(cases[0].0))
        #expect("\(error)".hasPrefix("PUT https://a.test:8443/p/q: body: ") && error.name == "a.test")
    }

    @Test("An error before, in and after the head of a response names the request")
    func phases() async throws {
        let refused = try FixtureServer.scripted([.awaitHead, .cut])
        let nonsense = try FixtureServer.scripted([.awaitHead, .bytes(Array("nonsense\r\n\r\n".utf8))])
        for server in [refused, nonsense] {
            let url = server.http(Self.target)
            expect(try await httpError { try await client.delete(url) }, names: .delete)
        }
        let invalid = try await httpError { try await client.delete("nowhere") }
        #expect(invalid.method == .delete && invalid.url == nil)
        let field = try await httpError {
            try await client.get(refused.http(Self.target), headers: ["A": "\n"])
        }
        expect(field, names: .get)
        var pinned = HTTPClient.Request(.put, "http://a.test\(Self.target)")
        pinned.addresses = []
        expect(try await httpError { [pinned] in try await client.fetch(pinned) }, names: .put)
    }

    @Test("An error of a body names the request, however the body is read")
    func bodies() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
        let server = try FixtureServer.start { _ in .raw(head, then: .cut) }
        let (url, folder) = (server.http(Self.target), try TemporaryFolder())
        expect(try await httpError { try await client.get(url) }, names: .get)
        expect(
            try await httpError {
                try await client.send(HTTPClient.Request(.post, url)).body.collect(upTo: 9)
            },
            names: .post
        )
        expect(
            try await httpError {
                for try await _ in try await client.send(HTTPClient.Request(.post, url)).body {}
            },
            names: .post
        )
        expect(
            try await httpError {
                try await client.send(HTTPClient.Request(.get, url)).body.write(to: folder.path + "/f")
            },
            names: .get
        )
    }

    @Test("An error of a body that is too large, or read twice, names the request")
    func misuse() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let url = server.http(Self.target)
        let small = HTTPClient.untimed { $0.maximumBufferedBody = 4 }
        expect(try await httpError { try await small.get(url) }, names: .get)
        let response = try await client.send(HTTPClient.Request(.put, url))
        _ = try await response.body.collect(upTo: 5)
        expect(try await httpError { try await response.body.collect(upTo: 5) }, names: .put)
    }

    @Test("An error of content that cannot be decoded names the request")
    func coding() async throws {
        let server = try FixtureServer.start { _ in .text("not gzip", ["Content-Encoding": "gzip"]) }
        expect(try await httpError { try await client.get(server.http(Self.target)) }, names: .get)
        let head = try await client.send(HTTPClient.Request(.post, server.http(Self.target)))
        expect(try await httpError { try await head.body.collect(upTo: 9) }, names: .post)
    }

    @Test("After a redirect the error names the request that failed, in its method")
    func redirects() async throws {
        let server = try FixtureServer.start { request in
            switch request.target {
            case "/head": .raw("HTTP/1.1 200", then: .cut)
            case "/body": .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", then: .cut)
            case "/none": .redirect(to: "ftp://a.test/")
            case "/404": .status(404)
            default: .redirect(to: String(request.target.dropFirst(5)), status: 303)
            }
        }
        for target in ["/head", "/body", "/none", "/404"] {
            let error = try await httpError {
                try await client.post(server.http("/from\(target)")).requiringSuccess()
            }
            expect(error, names: .get, target)
            // The error of a body has no history: the response that the caller holds has it.
            if target != "/body" { #expect(error.history.map(\.method) == [.post]) }
        }
    }

    @Test(
        "An error of an interceptor or a mock transport gets the request's method and URL, unless it has its own"
    )
    func interceptors() async throws {
        let own = HTTPError(
            .connect,
            .connectionClosed,
            method: .patch,
            url: try HTTPURL("http://b.test/own")
        )
        let errors = [HTTPError(.connect, .connectionClosed), own]
        for (error, path) in zip(errors, [Self.shown, "/own"]) {
            let transport = HTTPClient.untimed { $0.transport = { _ in throw error } }
            let network = HTTPClient.untimed { $0.networkInterceptors = [{ _, _ in throw error }] }
            for client in [transport, network] {
                let caught = try await httpError { try await client.get("http://a.test\(Self.target)") }
                expect(caught, names: error.method ?? .get, path)
            }
        }
    }

    @Test("A refused status keeps fields and body of the response, up to the limit")
    func refused() async throws {
        let server = try FixtureServer.start { _ in
            .text(String(repeating: "secret ", count: 20_000), status: 422, ["X-Reason": "secret"])
        }
        let url = server.http(Self.target)
        let errors = [
            try await httpError { try await client.get(url).requiringSuccess() },
            try await httpError { try await client.send(HTTPClient.Request(.get, url)).requiringSuccess() },
            try await httpError { try await client.get(url).requiringSuccess(keeping: 6) },
            try await httpError {
                try await client.send(HTTPClient.Request(.get, url)).requiringSuccess(keeping: 6)
            },
            try await httpError { try await client.get(url).requiringSuccess(keeping: -1) },
            try await httpError {
                try await client.send(HTTPClient.Request(.get, url)).requiringSuccess(keeping: -1)
            },
        ]
        for error in errors {
            expect(error, names: .get)
            #expect(error.response?.status == 422 && error.response?.headers["x-reason"] == "secret")
        }
        #expect(errors.map { $0.response?.body.count } == [65_536, 65_536, 6, 6, 0, 0])
    }

    @Test(
        "The body that came with an error is text in its charset, as that of a response, also after a redirect"
    )
    func text() async throws {
        let client = HTTPClient.untimed { configuration in
            configuration.transport = { request in
                let path = try request.url.path
                if path == "/from" {
                    return try HTTPClient.Response(to: request, 307, headers: ["Location": "/latin1"])
                }
                let type = path == "/odd" ? "text/plain; charset=ebcdic" : "text/plain; charset=latin1"
                let headers: HTTPHeaders = path == "/bare" ? [:] : ["Content-Type": type]
                let body: [UInt8] = path == "/marked" ? [0xEF, 0xBB, 0xBF, 0x78] : [0xE9]
                return try HTTPClient.Response(to: request, 422, headers: headers, body: body)
            }
        }
        func response(_ path: String) async throws -> ReceivedResponse {
            try #require(
                await httpError { try await client.get("http://a.test" + path).requiringSuccess() }.response
            )
        }
        #expect(try await response("/from").text == "é")
        #expect(try await response("/marked").text == "x")
        #expect(try await response("/bare").text == "\u{FFFD}")
        #expect(try await response("/bare").decodedText(fallback: .windows1252) == "é")
        let odd = try await response("/odd")
        #expect(odd.text == nil)
        let error = try await httpError { try odd.decodedText() }
        #expect("\(error.reason)" == "the charset \"ebcdic\" is not supported")
    }

    @Test("A refused status whose body fails keeps what has come of it")
    func broken() async throws {
        let head = "HTTP/1.1 500 Oh\r\nContent-Length: 9\r\n\r\nhalf"
        let server = try FixtureServer.start { _ in .raw(head, then: .cut) }
        let response = try await client.send(HTTPClient.Request(.get, server.http("/p")))
        let error = try await httpError { try await response.requiringSuccess() }
        #expect(error.response?.body == Array("half".utf8))
        guard case .status(500) = error.reason else { throw error }
    }

    @Test("A refused status whose body is cancelled is a cancellation")
    func cancelled() async throws {
        let client = HTTPClient.untimed {
            $0.transport = { try HTTPClient.Response(to: $0, 500, steps: [.text("a"), .stall]) }
        }
        let response = try await client.send(HTTPClient.Request(.get, "http://a.test/"))
        let task = Task { try await response.requiringSuccess() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
