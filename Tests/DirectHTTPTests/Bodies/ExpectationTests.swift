@testable import DirectCore
import DirectHTTP
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Expect: 100-continue", .idleLimit)
struct ExpectationTests {
    private let time = HeldTime()

    private func request(_ server: FixtureServer, _ body: RequestBody) -> Request {
        var request = Request(.post, server.http(), body: body)
        request.expectsContinue = true
        return request
    }

    @Test("The body is sent when the server asks for it, and the connection is reused")
    func leave() async throws {
        let server = try FixtureServer.start {
            .text("\($0.headers["expect"] ?? "none") \(try $0.discardBody())")
        }
        let client = HTTPClient.untimed()
        for body in [
            RequestBody.bytes([1, 2, 3]), .bytes(pattern(at: 0, count: 100_000)),
            .stream(PatternPieces(sizes: [10, 20])), .stream(PatternPieces(sizes: [10, 20]), length: 30),
        ] {
            let answer = try await client.fetch(request(server, body))
            #expect(
                ["3", "100000", "30"].contains { answer.text == "100-continue \($0)" },
                "\(answer.text ?? "")"
            )
        }
        #expect(server.records.count == 1)
    }

    @Test("A request without a body expects no 100 (Continue)")
    func noBody() async throws {
        let server = try FixtureServer.start { .text($0.headers["expect"] ?? "none") }
        for body in [RequestBody.none, .bytes([]), .stream(PatternPieces(sizes: []), length: 0)] {
            #expect(try await HTTPClient.untimed().fetch(request(server, body)).text == "none")
        }
    }

    @Test("A refusal is delivered without the body, whose source is never opened, and closes the connection")
    func refusal() async throws {
        let server = try FixtureServer.start { request in
            if request.method == "GET" { return .text("fine") }
            return .text("not you", status: 403)
        }
        let client = HTTPClient.untimed()
        let pieces = PatternPieces(sizes: [10])
        let response = try await client.fetch(request(server, .stream(pieces, length: 10)))
        #expect(response.status == 403 && response.text == "not you")
        #expect(pieces.given == 0)
        #expect(try await server.nextRecord().receivedText.hasSuffix("\r\n\r\n"))
        #expect(try await !client.get(server.http()).isReused)
    }

    @Test("After a refusal the connection is closed, even if the server would keep it")
    func refusalThatKeepsAlive() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"), .awaitClose,
        ])
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(request(server, .text("secret"))).status == .unauthorized)
        #expect(try await !server.nextRecord().receivedText.contains("secret"))
    }

    @Test("The body is sent after a while to a server that does not respond")
    func silence() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .awaitBytes(4), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .awaitClose,
        ])
        let request = request(server, .text("body"))
        let (result, elapsed) = await time.passing(.seconds(1)) { try await time.client().fetch(request) }
        #expect(try result.get().text == "ok" && elapsed == .seconds(1))
    }

    @Test(
        "A refusal after the body was sent unasked closes the connection: the server may take it for a request"
    )
    func lateRefusal() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .awaitBytes(4), .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"),
            .awaitClose,
        ])
        let (request, client) = (request(server, .text("body")), time.client())
        let (result, _) = await time.passing(.seconds(1)) { try await client.fetch(request) }
        #expect(try result.get().status == .forbidden && client.connections.isEmpty)
    }

    @Test("A server that does not respond does not extend the call beyond its total limit")
    func silenceAndTotal() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .awaitClose])
        var request = request(server, .text("body"))
        request.timeouts = RequestTimeouts(continue: .unlimited, total: .seconds(7))
        async let failure = httpError { [request] in try await time.client().fetch(request) }
        // The request is there, so this is no limit for connecting any more.
        try await server.waitUntil { $0.first?.receivedCount ?? 0 > 0 }
        try await time.pass(.seconds(7))
        let error = try await failure
        #expect(error.phase == .write && error.isTimeout)
    }

    @Test("Interim responses are passed on before and after 100 (Continue), which itself is not")
    func hints() async throws {
        let server = try FixtureServer.start { request in
            try request.sendInterim(103, headers: ["Link": "</a>"])
            let body = try request.text
            try request.sendInterim(100)
            try request.sendInterim(103, headers: ["Link": "</b>"])
            try request.sendInterim(199)
            return .text(body)
        }
        let heard = Heard<String>()
        var request = request(server, .text("body"))
        request.onInterim = { heard.add("\($0.status.code) \($0.headers["Link"] ?? "")") }
        #expect(try await HTTPClient.untimed().fetch(request).text == "body")
        #expect(heard.all == ["103 </a>", "103 </b>", "199 "])
    }

    @Test("After 417 the request is tried again without the expectation")
    func failedExpectation() async throws {
        let server = try FixtureServer.start { request in
            request.headers["expect"] == nil ? .text(try request.text) : .status(417)
        }
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(request(server, .text("body"))).text == "body")
        #expect(server.requests.map { $0.headers["expect"] } == ["100-continue", nil])
    }

    /// A server that refuses the first request, before its body, and takes the second.
    private func refusingOnce(_ reply: FixtureReply) throws -> FixtureServer {
        let count = Locked(0)
        return try FixtureServer.start { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? reply : .text("\(try request.discardBody())")
        }
    }

    @Test(
        "A body that can be sent once is sent after a refusal that came before any piece of it",
        arguments: [
            FixtureReply.status(417), .status(421), .status(503), .redirect(to: "/next", status: 307),
            .text("", status: 401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""]),
        ]
    )
    func refusedBeforeTheBody(_ reply: FixtureReply) async throws {
        let server = try refusingOnce(reply)
        let pieces = PatternPieces(sizes: [3, 4])
        var request = Request(.put, server.http(), body: .stream(pieces, length: 7))
        request.expectsContinue = true
        request.authenticator = .digest(user: "u", password: "p")
        let client = HTTPClient.untimed {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
            // What was really sent is judged by the same rule.
            $0.networkInterceptors = [{ try await $1($0) }]
        }
        #expect(try await client.fetch(request).text == "7")
        #expect(server.requests.count == 2)
    }

    @Test(
        "A body that can be sent once is sent after a refusal of the proxy that came before any piece of it"
    )
    func refusedByProxy() async throws {
        let proxy = try refusingOnce(
            .text("", status: 407, ["Proxy-Authenticate": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
        )
        let url = try HTTPURL("http://\(proxy.authority)")
        let client = try HTTPClient.untimed {
            $0.proxy = ProxySettings(try Proxy(url.text))
            $0.proxyAuthenticators[url.origin] = .digest(user: "u", password: "p")
        }
        var request = Request(.put, "http://a.test/", body: .stream(PatternPieces(sizes: [7]), length: 7))
        request.expectsContinue = true
        #expect(try await client.fetch(request).text == "7")
    }

    @Test("A body that can be sent once is not sent again after a piece of it was taken")
    func refusedAfterAPiece() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .redirect(to: "/next", status: 307)
        }
        var request = Request(.put, server.http(), body: .stream(PatternPieces(sizes: [7]), length: 7))
        for expects in [true, false] {
            request.expectsContinue = expects
            if !expects { request.body = .stream(PatternPieces(sizes: [7]), length: 7) }
            let error = try await httpError { [request] in try await HTTPClient.untimed().fetch(request) }
            guard case .redirect(.bodyNotReplayable) = error.reason else { throw error }
        }
        #expect(server.requests.count == 2)
    }

    @Test(
        "A kept connection that was dead is replaced while a body that can be sent once waits for permission"
    )
    func deadConnection() async throws {
        let ok = ByteScript.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, ok, .awaitHead, .cut]), .http { .text("\(try $0.discardBody())") },
            ])
        )
        let client = HTTPClient.untimed()
        _ = try await client.get(server.http())
        var request = Request(.put, server.http(), body: .stream(PatternPieces(sizes: [7]), length: 7))
        request.expectsContinue = true
        #expect(try await client.fetch(request).text == "7")
    }
}

/// The values that callbacks have received, in order.
final class Heard<Item: Sendable>: Sendable {
    private let items = Locked<[Item]>([])

    func add(_ item: Item) { items.withLock { $0.append(item) } }

    var all: [Item] { items.withLock { $0 } }
}
