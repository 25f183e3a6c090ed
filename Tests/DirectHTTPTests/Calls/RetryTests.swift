@testable import DirectCore
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Synchronization
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Retries", .idleLimit)
struct RetryTests {
    private let time = HeldTime()

    private static var quick: RetryPolicy {
        var policy = RetryPolicy()
        policy.delay = .zero
        return policy
    }

    @Test(
        "Responses that permit it are tried again, and the tries are reported",
        arguments: [408, 425, 429, 502, 503, 504] as [UInt16]
    )
    func statuses(_ code: UInt16) async throws {
        let script = Script(
            (HTTPStatus(code: Int(code)) ?? 200, [:]),
            (HTTPStatus(code: Int(code)) ?? 200, [:]),
            (200, [:])
        )
        let response = try await script.client { $0.retries = Self.quick }.get("http://a.test/")
        #expect(response.status == 200 && response.history.map(\.reason) == [.retry, .retry])
    }

    @Test("A request is tried as often as the limit permits, and the last response is delivered")
    func limit() async throws {
        let script = Script((503, [:]))
        let response = try await script.client { $0.retries = Self.quick }.get("http://a.test/")
        #expect(response.status == 503 && script.urls.count == 3 && response.history.count == 2)
    }

    @Test(
        "No request is tried again by default, nor after other responses",
        arguments: [500, 404, 501] as [UInt16]
    )
    func others(_ code: UInt16) async throws {
        let script = Script((HTTPStatus(code: Int(code)) ?? 200, [:]))
        _ = try await script.client { $0.retries = Self.quick }.get("http://a.test/")
        #expect(script.urls.count == 1)
        let busy = Script((503, [:]))
        _ = try await busy.client().get("http://a.test/")
        #expect(busy.urls.count == 1)
    }

    @Test("A POST is not tried again without the caller's permission, nor is a body that cannot be repeated")
    func methods() async throws {
        let post = Script((503, [:]))
        _ = try await post.client { $0.retries = Self.quick }.post("http://a.test/", .text("x"))
        #expect(post.urls.count == 1)
        let vouched = Script((503, [:]), (200, [:]))
        var request = Request(.post, "http://a.test/", body: .text("x"))
        var policy = Self.quick
        policy.repeatsAnyMethod = true
        request.retries = policy
        #expect(try await vouched.client().fetch(request).status == 200)
        request.body = .stream(AsyncStream<[UInt8]> { $0.finish() })
        #expect(try await Script((503, [:]), (200, [:])).client().fetch(request).status == 503)
    }

    @Test("A retry waits for Retry-After, in seconds or until a date, if that is not too long")
    func retryAfter() {
        let now = UnixTime(seconds: 784_111_777)
        #expect(RetryAfter.wait(["Retry-After": "120"], now: now) == .seconds(120))
        #expect(RetryAfter.wait(["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"], now: now) == .seconds(10))
        #expect(RetryAfter.wait(["Retry-After": "Sun, 06 Nov 1994 08:49:27 GMT"], now: now) == .zero)
        #expect(
            RetryAfter.wait(["Retry-After": "99999999999999999999"], now: now) ?? .zero
                > .seconds(1_000_000_000)
        )
        for nonsense in ["-1", "+1", "soon", "", "1.5"] {
            #expect(RetryAfter.wait(["Retry-After": nonsense], now: now) == nil)
        }
        let policy = RetryPolicy()
        func next(_ asked: Duration?) -> RetryPolicy.Next {
            policy.next(after: 1, .answer(503, retryAfter: asked), isRepeatable: true, random: 0.5)
        }
        #expect(next(.seconds(3)) == .wait(.seconds(3)))
        #expect(next(.seconds(61)) == .end(.retryAfter))
        #expect(next(nil) == .wait(.milliseconds(100)))
    }

    @Test("The wait doubles with each try, up to a limit, and is random below that")
    func backoff() {
        var policy = RetryPolicy()
        policy.attempts = 100
        func next(_ attempt: Int, _ random: Double) -> RetryPolicy.Next {
            policy.next(after: attempt, .failure(isWorthRetrying: true), isRepeatable: true, random: random)
        }
        #expect(next(1, 0) == .wait(.zero))
        #expect(next(1, 0.5) == .wait(.milliseconds(100)) && next(3, 0.5) == .wait(.milliseconds(400)))
        #expect(next(20, 0.5) == .wait(.seconds(30)) && next(99, 0.5) == .wait(.seconds(30)))
        #expect(next(100, 0.5) == .end(.attempts))
        policy.delay = .seconds(1e19)
        #expect(next(50, 0.5) == .wait(.seconds(30)))
    }

    @Test("No retry is made if the wait would end after the call's deadline")
    func deadline() async throws {
        let script = Script((503, ["Retry-After": "10"]))
        var request = Request(.get, "http://a.test/")
        request.timeouts.total = .seconds(5)
        #expect(try await script.client { $0.retries = Self.quick }.fetch(request).status == 503)
    }

    @Test("No retry is made with an empty budget, and successes refill it")
    func budget() async throws {
        let budget = RetryBudget(retries: 1, perSecond: 0)
        var policy = Self.quick
        policy.budget = budget
        let script = Script((503, [:]))
        let client = script.client { $0.retries = policy }
        _ = try await client.get("http://a.test/")
        #expect(script.urls.count == 2)
        _ = try await client.get("http://a.test/")
        #expect(script.urls.count == 3)
        for _ in 0..<10 {
            _ = try await Script((200, [:])).client { $0.retries = policy }.get("http://a.test/")
        }
        _ = try await client.get("http://a.test/")
        #expect(script.urls.count == 5)
    }

    @Test("Cancelling the task ends the wait for a retry")
    func cancelled() async throws {
        let script = Script((503, ["Retry-After": "30"]))
        let client = script.client {
            $0.retries = RetryPolicy()
            $0.loop = time.loop
        }
        let task = Task { try await client.get("http://a.test/") }
        try await time.waitBegins(for: .seconds(30))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(script.urls.count == 1)
    }

    @Test("A retry is made when Retry-After has passed, and not before")
    func afterWait() async throws {
        let script = Script((503, ["Retry-After": "30"]), (200, [:]))
        let client = script.client {
            $0.retries = RetryPolicy()
            $0.loop = time.loop
        }
        let (result, elapsed) = await time.passing(.seconds(30)) { try await client.get("http://a.test/") }
        #expect(try result.get().status == 200 && elapsed == .seconds(30))
    }

    @Test("The wait for a retry begins with the response, and not when the rest of that has been given up")
    func afterDrain() async throws {
        let never = Gate()
        let requests = SerialNumbers()
        let server = try FixtureServer.start { _ in
            guard requests.next() == 1 else { return .text("") }
            return .written(status: 503, ["Retry-After": "30"], length: 2, framing: .length) { writer in
                try writer.write([1])
                try writer.wait(for: never)
            }
        }
        let client = time.client { $0.retries = RetryPolicy() }
        async let response = client.get(server.http())
        try await time.pass(.milliseconds(100))
        try await time.pass(.milliseconds(29_900))
        #expect(try await response.status == 200)
        never.open()
    }

    @Test("A retry is made at the date in Retry-After, by the loop's calendar")
    func afterDate() async throws {
        // Far from the system's date, which does not count here.
        time.advance(by: .seconds(1_000_000))
        let date = HTTPDate.text(time.loop.date.advanced(bySeconds: 20))
        let script = Script((503, ["Retry-After": date]), (200, [:]))
        let client = script.client {
            $0.retries = RetryPolicy()
            $0.loop = time.loop
        }
        let (result, elapsed) = await time.passing(.seconds(20)) { try await client.get("http://a.test/") }
        #expect(try result.get().status == 200 && elapsed == .seconds(20))
    }

    @Test("A failure of the network is tried again, and a failure of the request is not")
    func failures() async throws {
        let server = try FixtureServer.refusing()
        let tries = Mutex(0)
        let client = HTTPClient.untimed {
            $0.retries = Self.quick
            $0.networkInterceptors = [
                { request, forward in
                    tries.withLock { $0 += 1 }
                    return try await forward(request)
                }
            ]
        }
        let error = try await httpError { try await client.get(server.http()) }
        #expect(error.phase == .connect && tries.withLock { $0 } == 3)
        _ = try await httpError { try await client.get("http://a b/") }
        #expect(tries.withLock { $0 } == 4)
    }

    @Test("A failed check of certificate, pin or vetting is not tried again")
    func refusals() async throws {
        let strange = "sha256/" + String(repeating: "A", count: 43) + "="
        let pins = try KeyPins(["a.test": [strange]])
        let right = try FixtureServer.secure("a.test"), wrong = try FixtureServer.secure("b.test")
        let tries = Mutex(0)
        func failure(_ server: FixtureServer, _ configure: (inout HTTPClient.Configuration) -> Void)
            async throws
            -> HTTPError
        {
            tries.withLock { $0 = 0 }
            let client = HTTPClient.trusting {
                $0.retries = Self.quick
                $0.networkInterceptors = [
                    { request, forward in
                        tries.withLock { $0 += 1 }
                        return try await forward(request)
                    }
                ]
                configure(&$0)
            }
            return try await httpError { try await client.fetch(server.request(server.https("a.test"))) }
        }
        let mismatch = try await failure(wrong) { _ in }
        #expect(!mismatch.isWorthRetrying && tries.withLock { $0 } == 1)
        let unpinned = try await failure(right) { $0.tls.pins = pins }
        #expect(!unpinned.isWorthRetrying && tries.withLock { $0 } == 1)
        let vetted = try await failure(right) { $0.vetting = .publicInternetOnly }
        #expect(!vetted.isWorthRetrying && tries.withLock { $0 } == 1)
        let dead = try FixtureServer.refusing()
        let refused = try await failure(dead) { _ in }
        #expect(refused.isWorthRetrying && tries.withLock { $0 } == 3)
    }

    @Test("Faulty settings are not tried again")
    func faultySettings() async throws {
        let server = try FixtureServer.secure("a.test")
        let tries = Mutex(0)
        let counting: Interceptor = { request, forward in
            tries.withLock { $0 += 1 }
            return try await forward(request)
        }
        let proxy = try Proxy("http://127.0.0.1:1")
        let request = server.request(server.https("b.test"))
        var unpinned = request
        unpinned.addresses = nil
        let cases: [(Request, (inout HTTPClient.Configuration) -> Void)] = [
            (request, { $0.tls.roots = .only([.pemFile("/no/such/file")]) }),
            (
                unpinned,
                {
                    $0.vetting = .publicInternetOnly
                    $0.proxy = ProxySettings(proxy)
                }
            ),
        ]
        for (request, change) in cases {
            let client = HTTPClient.trusting {
                $0.retries = Self.quick
                $0.networkInterceptors = [counting]
                change(&$0)
            }
            tries.withLock { $0 = 0 }
            let error = try await httpError { try await client.fetch(request) }
            #expect(tries.withLock { $0 } == 1, "\(error)")
        }
    }

    @Test("A misdirected request is tried again elsewhere, whatever its method")
    func misdirected() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { request in
            request.serverAddress == "127.0.0.1" ? .status(421) : .text(try request.text)
        }
        var request = Request(.post, "http://a.test:\(servers[0].port)/", body: .text("x"))
        request.addresses = ["127.0.0.1", "127.0.0.2"]
        // No race: on a busy machine the right one would be tried beside the wrong one.
        let client = HTTPClient.untimed { $0.dialling.keepsOrder = true }
        let response = try await client.fetch(request)
        #expect(response.text == "x" && response.history.map(\.reason) == [.misdirected])
        #expect(response.transaction?.endpoint?.address == IPAddress("127.0.0.2"))
    }

    @Test("A misdirected request gets one new connection to the only address")
    func misdirectedTwice() async throws {
        let server = try FixtureServer.start { _ in .status(421) }
        let client = HTTPClient.untimed()
        let response = try await client.get(server.http())
        #expect(response.status == 421 && response.history.count == 1)
        #expect(server.records.count == 2)
        // Neither of them serves the name again.
        _ = try await client.get(server.http())
        #expect(server.records.count == 4)
        let once = Request(.post, server.http(), body: .stream(AsyncStream<[UInt8]> { $0.finish() }))
        #expect(try await client.fetch(once).history.isEmpty)
    }
}

@Suite("Interceptors", .idleLimit)
struct InterceptorTests {
    @Test("Interceptors see the request in their order and the response in the opposite one")
    func order() async throws {
        let seen = Mutex<[String]>([])
        func named(_ name: String) -> Interceptor {
            { request, forward in
                seen.withLock { $0.append("\(name) \(try! request.url.path)") }
                let response = try await forward(request)
                seen.withLock { $0.append("\(name) \(response.status)") }
                return response
            }
        }
        let script = Script.redirecting(302, "/next")
        let client = script.client {
            $0.interceptors = [named("call 1"), named("call 2")]
            $0.networkInterceptors = [named("network")]
        }
        _ = try await client.get("http://a.test/")
        #expect(
            seen.withLock { $0 } == [
                "call 1 /", "call 2 /", "network /", "network 302", "network /next", "network 200",
                "call 2 200", "call 1 200",
            ]
        )
    }

    @Test("Network interceptors see the final fields")
    func finalFields() async throws {
        let script = Script((200, [:]))
        _ = try await script.client { $0.headers = ["User-Agent": "me"] }.get(
            "http://u:p@a.test/",
            headers: ["X": "1"]
        )
        #expect(
            Set(script.requests[0].headers.map(\.name)).isSuperset(of: ["X", "Authorization", "User-Agent"])
        )
    }

    @Test("Interceptors may respond themselves, change the request and fail")
    func powers() async throws {
        struct No: Error {}
        let script = Script((200, [:]))
        let client = script.client {
            $0.interceptors = [
                { request, forward in
                    switch try request.url.path {
                    case "/own": return try Response(to: request, 299, headers: ["X": "own"], body: [1])
                    case "/no": throw No()
                    default:
                        var request = request
                        request.headers["X"] = "changed"
                        return try await forward(request)
                    }
                }
            ]
        }
        let own = try await client.get("http://a.test/own")
        #expect(own.status == 299 && own.body == [1] && own.headers["x"] == "own" && own.transaction == nil)
        await #expect(throws: No.self) { try await client.get("http://a.test/no") }
        _ = try await client.get("http://a.test/")
        #expect(script.requests.map { $0.headers["X"] } == ["changed"])
    }
}
