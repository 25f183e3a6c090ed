import DirectTestResolvers
@testable import DirectCore
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Faulty requests refused before any work", .idleLimit)
struct RefusedEarlyTests {
    /// A request to a server that no connection was ever made to.
    private func refusal(
        _ sourceLocation: SourceLocation = #_sourceLocation,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in },
        _ change: (inout Request) -> Void
    ) async throws -> HTTPError {
        let server = try FixtureServer.start { _ in .text("hello") }
        let resolver = ScriptedResolver("scripted", [server.endpoint])
        let client = HTTPClient {
            $0.resolver = resolver
            configure(&$0)
        }
        var request = Request(.post, "http://a.test/", body: .text("body"))
        change(&request)
        let error = try await httpError(sourceLocation) { [request] in try await client.fetch(request) }
        #expect(error.phase == .request, "\(error)", sourceLocation: sourceLocation)
        #expect(resolver.asked.isEmpty && server.records.isEmpty, sourceLocation: sourceLocation)
        request.addresses = [server.endpoint]
        let pinned = try await httpError(sourceLocation) { [request] in try await client.fetch(request) }
        #expect("\(pinned)" == "\(error)" && server.records.isEmpty, sourceLocation: sourceLocation)
        return error
    }

    @Test("A field value that may not be sent is an early error, from the request and from the client")
    func fields() async throws {
        let own = try await refusal { $0.headers["X"] = "a\r\nb" }
        #expect(own.protocolError == .invalidRequestFieldValue(name: "X"))
        let ofClient = try await refusal(#_sourceLocation, { $0.headers["Y"] = "a\nb" }) { _ in }
        #expect(ofClient.protocolError == .invalidRequestFieldValue(name: "Y"))
    }

    @Test("A reserved field, an invalid method, a protocol or a content type is an early error")
    func heads() async throws {
        #expect(
            try await refusal { $0.headers["Content-Length"] = "5" }.protocolError
                == .fieldOwnedByLibrary(name: "Content-Length")
        )
        #expect(
            try await refusal { $0.headers["TE"] = "trailers, Chunked;q=1" }.protocolError
                == .fieldOwnedByLibrary(name: "TE")
        )
        #expect(try await refusal { $0.method = "G T" }.protocolError == .invalidMethod)
        #expect(
            try await refusal { $0.upgrade = ["a\nb"] }.protocolError
                == .invalidRequestFieldValue(name: "Upgrade")
        )
        #expect(
            try await refusal { $0.body = .bytes([1], contentType: "a\0") }.protocolError
                == .invalidRequestFieldValue(name: "Content-Type")
        )
    }

    @Test("A name in Host for an address in the URL is an early error that says what to do")
    func nameInHost() async throws {
        let server = try FixtureServer.secure("a.test")
        let error = try await httpError {
            try await HTTPClient.trusting().get("https://\(server.authority)/", headers: ["Host": "a.test"])
        }
        #expect(error.protocolError == .fieldOwnedByLibrary(name: "Host"))
        #expect("\(error)".contains("to connect elsewhere, set addresses") && server.records.isEmpty)
    }

    @Test("A body that cannot be read, or is malformed, is an early error")
    func bodies() async throws {
        let missing = try await refusal { $0.body = .file("/nowhere/at/all") }
        #expect(missing.systemError != nil)
        let malformed = try await refusal { $0.body = .multipart([.field("", "1")]) }
        guard case .requestBody(.invalidPartName(part: 0)) = malformed.reason else { throw malformed }
    }

    @Test("A faulty request is refused before a proxy is contacted", arguments: ["http", "socks5h"])
    func proxies(_ scheme: String) async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        var proxy = try Proxy("\(scheme)://proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        let client = HTTPClient { [proxy] in $0.proxy = ProxySettings(proxy) }
        for url in ["http://a.test/", "https://a.test/"] {
            let error = try await httpError { try await client.get(url, headers: ["X": "a\nb"]) }
            #expect(error.phase == .request && server.records.isEmpty)
        }
    }

    @Test("A Host equal to the URL's is accepted, and a CONNECT names its port")
    func harmlessHost() async throws {
        let server = try FixtureServer.start { _ in .status(403) }
        var request = server.request("http://a.test/")
        request.headers["Host"] = "a.test"
        #expect(try await HTTPClient().fetch(request).status == 403)
        request.method = .connect
        request.headers["Host"] = "a.test:80"
        request.headers["Proxy-Authorization"] = "for whoever gets it"
        #expect(try await HTTPClient().fetch(request).status == 403)
        #expect(server.requests.last?.headers["proxy-authorization"] == "for whoever gets it")
    }

    @Test("A field that the client writes itself is accepted only as it writes it", arguments: Repeated.all)
    func repeated(_ example: Repeated) async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .text("ok")
        }
        var request = Request(.post, server.http(), body: .text("body"))
        request.headers[example.name] = example.value
        example.change(&request)
        guard example.isAccepted else {
            let error = try await httpError { [request] in try await HTTPClient().fetch(request) }
            #expect(error.protocolError == .fieldOwnedByLibrary(name: example.name), "\(error)")
            #expect(error.phase == .request && server.requests.isEmpty)
            return
        }
        #expect(try await HTTPClient().fetch(request).status == 200)
        let sent = try #require(server.requests.first).headers.fields
        #expect(sent.filter { $0.name.lowercased() == example.name.lowercased() }.count == 1)
    }

    /// A field of the client's in the request, of a body of four bytes unless that is changed.
    struct Repeated: Sendable, CustomTestStringConvertible {
        let (name, value): (String, String)
        let isAccepted: Bool
        let change: @Sendable (inout Request) -> Void

        var testDescription: String { "\(name): \(value)" }

        init(
            _ name: String,
            _ value: String,
            _ isAccepted: Bool = true,
            change: @escaping @Sendable (inout Request) -> Void = { _ in }
        ) {
            (self.name, self.value, self.isAccepted, self.change) = (name, value, isAccepted, change)
        }

        private static let pieces: @Sendable (inout Request) -> Void = {
            $0.body = .stream(
                AsyncStream { pieces in
                    pieces.yield([1, 2])
                    pieces.finish()
                }
            )
        }
        private static let switching: @Sendable (inout Request) -> Void = {
            $0.upgrade = ["chat", "talk"]
            $0.headers["TE"] = "trailers"
        }

        static let all = [
            Repeated("Content-Length", "4"), Repeated("content-length", "4"),
            Repeated("Content-Length", "0") { $0.body = .none },
            Repeated("Content-Length", "0", false) { ($0.method, $0.body) = (.get, .none) },
            Repeated("Content-Length", "3", false), Repeated("Content-Length", "04", false),
            Repeated("Content-Length", "4, 4", false), Repeated("Content-Length", "2", false, change: pieces),
            Repeated("Content-Length", "4") { $0.headers.add("Content-Length", "4") },
            Repeated("Content-Length", "4", false) { $0.headers.add("Content-Length", "5") },
            Repeated("Transfer-Encoding", "chunked", change: pieces),
            Repeated("Transfer-Encoding", "Chunked", change: pieces),
            Repeated("Transfer-Encoding", "chunked", false),
            Repeated("Transfer-Encoding", "gzip, chunked", false, change: pieces),
            Repeated("Transfer-Encoding", "identity", false, change: pieces),
            Repeated("Transfer-Encoding", "chunked", false) {
                pieces(&$0)
                $0.headers.add("Transfer-Encoding", "identity")
            },
            Repeated("Expect", "100-continue") { $0.expectsContinue = true },
            Repeated("Expect", "100-continue", false),
            Repeated("Expect", "100-continue", false) { ($0.expectsContinue, $0.body) = (true, .none) },
            Repeated("Upgrade", "chat, talk", change: switching), Repeated("Upgrade", "chat", false),
            Repeated("Upgrade", "chat", false, change: switching),
            Repeated("Connection", "TE, upgrade", change: switching),
            Repeated("Connection", "TE") { $0.headers["TE"] = "trailers" },
            Repeated("Connection", "TE", false), Repeated("Connection", "close", false),
            Repeated("Connection", "TE, X-Own", false) { $0.headers["TE"] = "trailers" },
            Repeated("Connection", "keep-alive", false),
        ]
    }

    @Test("An expectation that was refused is not sent again, whoever has written the field")
    func refusedExpectation() async throws {
        let server = try FixtureServer.start { request in
            if request.headers["Expect"] != nil { return .status(417) }
            return .bytes(try request.body)
        }
        var request = Request(.post, server.http(), body: .text("body"))
        request.expectsContinue = true
        request.headers["Expect"] = "100-continue"
        #expect(try await HTTPClient().fetch(request).text == "body")
    }

    @Test("An expired deadline is an early error", arguments: [Duration.zero, .seconds(-1)])
    func deadline(_ total: Duration) async throws {
        let error = try await refusal(#_sourceLocation, { $0.timeouts.total = total }) { _ in }
        #expect(error.isTimeout && error.name == "a.test")
        // Nor is it sent on a connection that is there.
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = HTTPClient { $0.retries = RetryPolicy() }
        _ = try await client.get(server.http())
        var request = Request(.get, server.http())
        request.timeouts.total = .after(total)
        let late = try await httpError { [request] in try await client.fetch(request) }
        #expect(late.isTimeout && late.phase == .request && late.history.isEmpty)
        #expect(try await client.get(server.http()).isReused && server.requests.count == 2)
        let script = Script((200, [:]))
        _ = try await httpError { [request] in try await script.client().fetch(request) }
        #expect(script.urls.isEmpty)
    }
}
