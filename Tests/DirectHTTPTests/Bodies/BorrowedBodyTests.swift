import DirectCore
import DirectTestCommands
import DirectTestData
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Responses that another client has brought", .idleLimit)
struct BorrowedBodyTests {
    private let time = HeldTime()

    /// A client that gets its responses by another one: as its transport, or in a network interceptor.
    private func client(
        through second: HTTPClient,
        asTransport isTransport: Bool,
        _ configure: (inout HTTPClient.Configuration) -> Void
    ) -> HTTPClient {
        time.client { settings in
            if isTransport {
                settings.transport = { try await second.send($0) }
            } else {
                settings.networkInterceptors = [{ request, _ in try await second.send(request) }]
            }
            configure(&settings)
        }
    }

    @Test("The limits of the call hold for a body that stalls", arguments: [true, false])
    func limits(isTransport: Bool) async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none"), .awaitClose,
        ])
        let second = time.client { $0.timeouts.read = nil }
        for limit in [Duration.seconds(7), .seconds(3)] {
            let client = client(through: second, asTransport: isTransport) {
                $0.timeouts.read = .seconds(7)
                $0.timeouts.total = limit
            }
            let response = try await client.send(Request(.get, server.http()))
            #expect(response.body.bytesLeft == 100)
            let (result, elapsed) = await time.passing(limit) { try await response.body.collect(upTo: 100) }
            let error = try await httpError { try result.get() }
            #expect(error.isTimeout && error.phase == .body && elapsed == limit, "\(error)")
        }
    }

    @Test("The minimum speed of the call holds for a body that comes slowly", arguments: [true, false])
    func speed(isTransport: Bool) async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\none"), .awaitClose,
        ])
        let client = client(through: time.client { $0.timeouts.read = nil }, asTransport: isTransport) {
            $0.timeouts.read = nil
            $0.timeouts.minimumSpeed = .init(bytes: 100, in: .seconds(9))
        }
        let response = try await client.send(Request(.get, server.http()))
        let (result, elapsed) = await time.passing(.seconds(9)) {
            try await response.body.collect(upTo: 1000)
        }
        let error = try await httpError { try result.get() }
        guard case .tooSlow(.init(bytes: 100, in: .seconds(9))) = error.reason else { throw error }
        #expect(error.phase == .body && elapsed == .seconds(9))
    }

    @Test("The minimum speed holds for a sequence of the program's own, and counts what has come")
    func speedOfSequence() async throws {
        let (pieces, supply) = AsyncStream<[UInt8]>.makeStream()
        let client = time.client {
            $0.timeouts.read = nil
            $0.timeouts.minimumSpeed = .init(bytes: 100, in: .seconds(9))
            $0.transport = { try Response(to: $0, 200, headers: [:], stream: pieces) }
        }
        let call = Task { try await client.get("http://a.test/") }
        try await time.waitBegins(for: .seconds(9))
        time.advance(by: .seconds(5))
        // Enough for this interval, and nothing for the next.
        supply.yield([UInt8](repeating: 1, count: 100))
        try await time.waitBegins(for: .seconds(4 + 9))
        time.advance(by: .seconds(13))
        let error = try await httpError { try await call.value }
        guard case .tooSlow = error.reason else { throw error }
    }

    @Test("What an interceptor makes of a body, and when, is not measured in its place")
    func speedOfWrapped() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\none"), .awaitClose,
        ])
        let (pieces, supply) = AsyncStream<[UInt8]>.makeStream()
        let client = time.client {
            $0.timeouts.read = nil
            $0.timeouts.minimumSpeed = .init(bytes: 100, in: .seconds(9))
            $0.networkInterceptors = [
                { request, forward in try await forward(request).replacing(stream: pieces) }
            ]
        }
        let response = try await client.send(Request(.get, server.http()))
        time.advance(by: .seconds(60))
        await time.settle()
        supply.yield([1])
        supply.finish()
        #expect(try await response.body.collect(upTo: 10) == [1])
    }

    @Test("A redirect to another origin brings it none of the fields of the client that is the transport")
    func redirected() async throws {
        let elsewhere = try FixtureServer.start { _ in .text("b") }
        let home = try FixtureServer.start { request in
            request.path == "/end" ? .text("a") : .redirect(to: elsewhere.http())
        }
        let second = time.client {
            $0.headers = ["Authorization": "Bearer s", "X-Api-Key": "k", "Cookie": "c=d"]
        }
        let client = client(through: second, asTransport: true) { _ in }
        #expect(try await client.get(home.http()).text == "b")
        #expect(try await client.get(home.http("/end")).text == "a")
        for request in home.requests { #expect(request.headers["X-Api-Key"] == "k") }
        let fields = try #require(elsewhere.requests.first?.headers)
        #expect(["Authorization", "X-Api-Key", "Cookie"].allSatisfy { fields[$0] == nil })
    }

    @Test("A network interceptor may send a request that it has been shown elsewhere by another client")
    func mirror() async throws {
        let mirror = try FixtureServer.start { .text($0.host ?? "") }
        let second = time.client()
        let client = time.client {
            $0.networkInterceptors = [
                { request, _ in
                    var request = request
                    request.setURL(try HTTPURL(mirror.http()))
                    return try await second.send(request)
                }
            ]
        }
        #expect(try await client.get("http://a.test/").text == mirror.authority)
    }

    @Test("A body arrives whole with its trailers, and its connection is kept", arguments: [true, false])
    func whole(isTransport: Bool) async throws {
        let server = try FixtureServer.start { _ in
            var reply = FixtureReply.text(String(repeating: "x", count: 300_000))
            reply.framing = .chunked
            reply.trailers = ["X-End": "1"]
            return reply
        }
        let client = client(through: time.client(), asTransport: isTransport) { _ in }
        for _ in 0..<2 {
            let response = try await client.send(Request(.get, server.http()))
            #expect(try await response.body.collect(upTo: 1 << 20).count == 300_000)
            #expect(response.body.trailers["X-End"] == "1")
        }
        #expect(server.records.count == 1)
    }

    @Test("A client that is another's transport leaves the redirects to that, with its cookies")
    func redirects() async throws {
        let server = try FixtureServer.start { request in
            guard request.path == "/" else { return .text(request.headers["cookie"] ?? "none") }
            var reply = FixtureReply.redirect(to: "/next")
            reply.headers.append("Set-Cookie", "a=1")
            return reply
        }
        let client = client(through: time.client(), asTransport: true) { $0.cookies = CookieJar() }
        let response = try await client.get(server.http())
        #expect(response.text == "a=1" && response.history.count == 1)
    }

    @Test("Cookies that the other client has from its cache are not taken for new ones")
    func oldCookies() async throws {
        let server = try FixtureServer.start { request in
            if request.headers["If-None-Match"] != nil { return .status(304) }
            let isLasting = request.path == "/lasting"
            let control = isLasting ? "max-age=60" : "no-cache"
            return .text("page", ["Set-Cookie": "id=old", "Cache-Control": control, "ETag": "\"a\""])
        }
        for path in ["/lasting", "/validated"] {
            let jar = CookieJar()
            let second = time.client { $0.cache = .memory() }
            let client = client(through: second, asTransport: true) { $0.cookies = jar }
            _ = try await client.get(server.http(path))
            #expect(jar.cookies.map(\.value) == ["old"])
            jar.removeAll()
            _ = try await client.get(server.http(path))
            #expect(jar.cookies.isEmpty, "\(path)")
        }
    }

    @Test("A body that the other client has decoded is not decoded again", arguments: [true, false])
    func decoded(isTransport: Bool) async throws {
        let server = try FixtureServer.start { _ in
            .bytes(deflated(Array("hello".utf8)), ["Content-Encoding": "gzip"])
        }
        let client = client(through: time.client(), asTransport: isTransport) { $0.cache = .memory() }
        // Without Accept-Encoding of the first client, the second one decides.
        let request = Request(.get, server.http(), headers: ["Range": "bytes=0-"])
        let response = try await client.fetch(request)
        #expect(response.text == "hello" && !response.headers.contains("Content-Encoding"))
    }

    @Test("A transport does not get the policies by which the client sends a request again")
    func attempts() async throws {
        let server = try FixtureServer.start { _ in .text("", status: 503, ["Retry-After": "0"]) }
        let client = client(through: time.client(), asTransport: true) { _ in }
        var request = Request(.get, server.http())
        var retries = RetryPolicy()
        (retries.delay, retries.budget) = (.zero, nil)
        request.retries = retries
        #expect(try await client.fetch(request).status == 503)
        #expect(server.requests.count == 3)
    }

    @Test("A response from elsewhere is not stored as that of the request")
    func elsewhere() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/" ? .redirect(to: "/next") : .text("x", ["Cache-Control": "max-age=1000"])
        }
        let client = client(through: time.client(), asTransport: false) { $0.cache = .memory() }
        for _ in 0..<2 { #expect(try await client.get(server.http()).text == "x") }
        #expect(server.requests.map(\.target) == ["/", "/next", "/", "/next"])
    }
}
