import DirectTestResolvers
import DirectCore
import DirectHTTPRecords
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Tokens that are renewed ahead of their expiry", .idleLimit)
struct TokenRenewalTests {
    private let time = HeldTime()
    private let fetched = Locked(0)
    private let gate = Barrier()

    /// Tokens named by their number, each valid for so long. From the second one on the source waits for the
    /// gate.
    private func authenticator(
        ahead: Duration = .seconds(60),
        lifetime: Duration? = .seconds(600),
        fails: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) -> BearerAuthenticator {
        BearerAuthenticator(ahead: ahead, on: time.loop) { [fetched, gate] in
            let number = fetched.withLock {
                $0 += 1
                return $0
            }
            if number > 1 { await gate.pass() }
            if fails(number) { throw HTTPError(.response, .connectionClosed) }
            return BearerToken("\(number)", lifetime: lifetime)
        }
    }

    private func request(_ url: String, _ authenticator: any Authenticator) -> Request {
        var request = Request(.get, url)
        request.authenticator = authenticator
        return request
    }

    /// Waits until the renewal has ended, which shows in the next token.
    private func waitForToken(_ token: String, _ authenticator: BearerAuthenticator) async throws {
        let subject = AuthenticationRequest(method: .get, url: try HTTPURL("http://a.test/"), body: nil)
        while try await authenticator.authorization(for: subject) != "Bearer \(token)" { await Task.yield() }
    }

    @Test("Requests use the old token while one renewal is under way, and the new one afterwards")
    func renewedAhead() async throws {
        let script = Script((200, [:]))
        let (client, authenticator) = (script.client(), authenticator())
        let request = request("http://a.test/", authenticator)
        _ = try await client.fetch(request)
        time.advance(by: .seconds(540) - .nanoseconds(1))
        _ = try await client.fetch(request)
        #expect(fetched.withLock { $0 } == 1)
        time.advance(by: .nanoseconds(1))
        for _ in 0..<3 { _ = try await client.fetch(request) }
        await gate.arrivals(1)
        #expect(fetched.withLock { $0 } == 2)
        gate.open()
        try await waitForToken("2", authenticator)
        _ = try await client.fetch(request)
        let sent = script.requests.map { $0.headers["Authorization"] }
        #expect(sent == Array(repeating: "Bearer 1", count: 5) + ["Bearer 2"])
        #expect(fetched.withLock { $0 } == 2)
    }

    /// What makes another body of each response.
    enum Wrapping: CaseIterable {
        case none, archive, stream

        var interceptors: [Interceptor] {
            switch self {
            case .none: []
            case .archive: [HARRecorder().interceptor]
            case .stream:
                [
                    { request, forward in
                        let response = try await forward(request)
                        return response.replacing(stream: response.body)
                    }
                ]
            }
        }
    }

    @Test(
        "A refused response, and a redirect, lend their place to what the program asks for meanwhile",
        arguments: [(20, false), (200, false), (20, true)],
        Wrapping.allCases
    )
    func connections(_ body: (count: UInt8, isLate: Bool), wrapping: Wrapping) async throws {
        let (count, isLate) = body
        let pieces = (0..<count).map { [UInt8](repeating: $0, count: 1000) }
        let asked = DiskGate()
        defer { asked.open() }
        let write: @Sendable (BodyWriter) throws -> Void = { writer in
            try writer.write(pieces[0])
            // The rest comes when the program has asked.
            if isLate { asked.wait() }
            for piece in pieces.dropFirst() { try writer.write(piece) }
        }
        let server = try FixtureServer.start { request in
            if request.target == "/token" {
                asked.open()
                return .text("good")
            }
            guard request.headers["authorization"] == "Bearer good" else {
                // Its body does not come with its head.
                return .written(status: 401, ["WWW-Authenticate": "Bearer"], write)
            }
            return request.target == "/" ? .text("in") : .written(status: 302, ["Location": "/"], write)
        }
        let origin = try HTTPURL(server.http()).origin
        let place = Locked<HTTPClient?>(nil)
        let ask: @Sendable () async throws -> String = {
            var request = Request(.get, server.http("/token"))
            request.redirects = .deliver
            return try await place.withLock { $0 }?.fetch(request).text ?? ""
        }
        let client = HTTPClient.untimed {
            $0.maximumConnectionsPerOrigin = 1
            $0.maximumConnections = 1
            $0.networkInterceptors = wrapping.interceptors
            $0.authenticators[origin] = .bearer(refreshing: ask)
            $0.redirects.decide = { redirect in
                _ = try await ask()
                return redirect.next
            }
        }
        place.withLock { $0 = client }
        #expect(try await client.get(server.http("/moved")).text == "in")
        place.withLock { $0 = nil }
        // What is delivered after all has its body.
        let refused = HTTPClient.untimed {
            $0.authenticators[origin] = CredentiallessAuthenticator()
        }
        #expect(try await refused.get(server.http("/")).body == pieces.flatMap { $0 })
    }

    @Test(
        "An interceptor that holds a refused response has a place for its own request, and for the next one"
    )
    func interceptor() async throws {
        let asked = DiskGate()
        defer { asked.open() }
        let server = try FixtureServer.start { request in
            if request.target == "/token" { return .text("good") }
            if request.headers["authorization"] == "Bearer good" {
                asked.open()
                return .text("in")
            }
            return .written(status: 401, [:]) { writer in
                try writer.write([0])
                asked.wait()
            }
        }
        let place = Locked<HTTPClient?>(nil)
        let client = HTTPClient.untimed {
            $0.loop = time.loop
            $0.maximumConnectionsPerOrigin = 1
            $0.interceptors = [
                { request, forward in
                    let refused = try await forward(request)
                    guard refused.status == .unauthorized else { return refused }
                    var request = request
                    let token = try await place.withLock { $0 }?.get(server.http("/token")).text ?? ""
                    request.headers["Authorization"] = "Bearer \(token)"
                    let response = try await forward(request)
                    await refused.body.drain()
                    return response
                }
            ]
        }
        place.withLock { $0 = client }
        async let text = client.get(server.http("/")).text
        try await endReadingAhead()
        #expect(try await text == "in")
        place.withLock { $0 = nil }
    }

    /// Waits until a refused response whose body is late is waited for, and lets that time pass.
    private func endReadingAhead() async throws {
        try await time.pass(.milliseconds(100))
    }

    @Test(
        "Refused responses that are delivered stay within the limit, and only what the program asks is beyond"
    )
    func limit() async throws {
        let isDelivered = DiskGate()
        defer { isDelivered.open() }
        let server = try FixtureServer.start { request in
            if request.target == "/nonce" { return .text("") }
            return .written(status: 401, ["WWW-Authenticate": "Own"]) { writer in
                try writer.write([0])
                isDelivered.wait()
            }
        }
        let origin = try HTTPURL(server.http()).origin
        let place = Locked<HTTPClient?>(nil)
        let most = Locked(0)
        let client = HTTPClient.untimed {
            $0.loop = time.loop
            $0.maximumConnectionsPerOrigin = 1
            $0.authenticators[origin] = AskingAuthenticator {
                // The fields of this request keep the authenticator away from it.
                let client = place.withLock { $0 }
                let fields: HTTPHeaders = ["Authorization": "none"]
                _ = try await client?.get(server.http("/nonce"), headers: fields)
                let open = client?.connections.reduce(0) { $0 + $1.connections.count + $1.dialling } ?? 0
                most.withLock { $0 = max($0, open) }
            }
        }
        place.withLock { $0 = client }
        async let held = client.send(Request(.get, server.http("/")))
        try await endReadingAhead()
        let first = try await held
        let second = Task { try await client.send(Request(.get, server.http("/"))).status }
        while client.connections.allSatisfy({ $0.waiting == 0 }) { await Task.yield() }
        #expect(client.connections.map(\.connections.count) == [1])
        isDelivered.open()
        #expect(try await first.body.collect(upTo: 10) == [0])
        #expect(try await second.value == 401)
        // The connection of the nonce is closed by then, or about to be.
        #expect(most.withLock { $0 } <= 2)
        place.withLock { $0 = nil }
    }

    @Test(
        "A token that the program began to fetch behind a call has a place when the call is refused",
        arguments: [false, true]
    )
    func begunBefore(isLate: Bool) async throws {
        let (queued, rest) = (DiskGate(), DiskGate())
        defer {
            queued.open()
            rest.open()
        }
        let server = try FixtureServer.start { request in
            if request.target == "/token" {
                rest.open()
                return .text("good")
            }
            guard request.headers["authorization"] == "Bearer good" else {
                queued.wait()
                return .written(status: 401, ["WWW-Authenticate": "Bearer"]) { writer in
                    try writer.write([0])
                    rest.wait()
                    try writer.write([1])
                }
            }
            return .text("in")
        }
        let origin = try HTTPURL(server.http()).origin
        let fetch = Locked<Task<String, any Error>?>(nil)
        let client = HTTPClient.untimed {
            $0.loop = time.loop
            $0.maximumConnectionsPerOrigin = 1
            $0.maximumConnections = 1
            $0.authenticators[origin] = AnsweringAuthenticator {
                "Bearer \(try await fetch.withLock { $0 }?.value ?? "")"
            }
        }
        async let call = client.get(server.http("/")).text
        while client.connections.allSatisfy({ $0.connections.isEmpty }) { await Task.yield() }
        fetch.withLock { task in
            task = Task {
                // The fields of this request keep the authenticator away from it.
                try await client.get(server.http("/token"), headers: ["Authorization": "none"]).text ?? ""
            }
        }
        while client.connections.allSatisfy({ $0.waiting == 0 }) { await Task.yield() }
        queued.open()
        if isLate {
            try await endReadingAhead()
        } else {
            try await time.waitBegins(for: .milliseconds(100))
            rest.open()
        }
        #expect(try await call == "in")
    }

    @Test("A fetch that hangs, and that nobody waits for any more, is given up after ten seconds")
    func hanging() async throws {
        let script = Script((200, [:]))
        let (client, count, hangs) = (script.client(), Locked(0), Barrier())
        let authenticator = BearerAuthenticator(ahead: .zero, on: time.loop) {
            let number = count.withLock {
                $0 += 1
                return $0
            }
            if number == 1 { await hangs.pass() }
            return BearerToken("\(number)")
        }
        let request = request("http://a.test/", authenticator)
        let first = Task { try await client.fetch(request) }
        await hangs.arrivals(1)
        first.cancel()
        _ = await first.result
        // A cancelled call ends before its wait for the token has.
        while authenticator.waiting != 0 { await Task.yield() }
        time.advance(by: .seconds(10))
        #expect(try await client.fetch(request).status == 200)
        // The late token of the first fetch does not take the place of the second one's.
        hangs.open()
        _ = try await client.fetch(request)
        #expect(script.requests.allSatisfy { $0.headers["Authorization"] == "Bearer 2" })
        #expect(count.withLock { $0 } == 2)
    }

    @Test("Two sources that need each other's origin end both, also where they begin at one time")
    func eachOther() async throws {
        let script = Script((200, [:]))
        let place = Locked<HTTPClient?>(nil)
        let both = Barrier()
        func source(asking url: String) -> any Authenticator {
            BearerAuthenticator(ahead: .zero, on: time.loop) {
                await both.pass()
                _ = try await place.withLock { $0 }?.get(url)
                return BearerToken("token")
            }
        }
        let (a, b) = (source(asking: "https://b.test/source"), source(asking: "https://a.test/source"))
        let origins = try ["https://a.test/", "https://b.test/"].map { try HTTPURL($0).origin }
        let client = script.client { $0.authenticators = [origins[0]: a, origins[1]: b] }
        place.withLock { $0 = client }
        async let first = client.get("https://a.test/")
        async let second = client.get("https://b.test/")
        await both.arrivals(2)
        both.open()
        #expect(try await [first.status, second.status] == [200, 200])
        place.withLock { $0 = nil }
        // One of the two went without a token, as a source's request does that would wait for itself.
        let sent = script.requests.filter { $0.url.hasSuffix("/source") }.map { $0.headers["Authorization"] }
        #expect(sent.count == 2 && sent.contains(nil))
    }

    @Test("After the expiry all requests wait for one renewal, and no request carries the expired token")
    func expired() async throws {
        let script = Script((200, [:]))
        let (client, authenticator) = (script.client(), authenticator())
        let request = request("http://a.test/", authenticator)
        _ = try await client.fetch(request)
        time.advance(by: .seconds(600))
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<10 { group.addTask { try await client.fetch(request).status } }
            await gate.arrivals(1)
            gate.open()
            for try await status in group { #expect(status == 200) }
        }
        #expect(fetched.withLock { $0 } == 2)
        #expect(Set(script.requests.dropFirst().map { $0.headers["Authorization"] }) == ["Bearer 2"])
    }

    @Test(
        "A renewal that fails fails no request, is tried again later, and after the expiry its error is the request's"
    )
    func failingRenewal() async throws {
        let script = Script((200, [:]))
        let (client, authenticator) = (script.client(), authenticator(fails: { $0 > 1 }))
        let request = request("http://a.test/", authenticator)
        gate.open()
        _ = try await client.fetch(request)
        // Half of the time that is left: 60 s before the expiry, 30, 15.
        for (pause, number) in [(Duration.seconds(540), 2), (.seconds(30), 3), (.seconds(15), 4)] {
            time.advance(by: pause - .nanoseconds(1))
            _ = try await client.fetch(request)
            #expect(fetched.withLock { $0 } == number - 1)
            time.advance(by: .nanoseconds(1))
            _ = try await client.fetch(request)
            while authenticator.waiting != nil { await Task.yield() }
            #expect(fetched.withLock { $0 } == number)
        }
        #expect(Set(script.requests.map { $0.headers["Authorization"] }) == ["Bearer 1"])
        time.advance(by: .seconds(15))
        _ = try await httpError { try await client.fetch(request) }
    }

    @Test(
        "A token of a short life is renewed in its second half, and one without a lifetime only when it is refused"
    )
    func lifetimes() async throws {
        let script = Script((200, [:]))
        let client = script.client()
        gate.open()
        let short = authenticator(lifetime: .seconds(20))
        _ = try await client.fetch(request("http://a.test/", short))
        time.advance(by: .seconds(10) - .nanoseconds(1))
        _ = try await client.fetch(request("http://a.test/", short))
        #expect(fetched.withLock { $0 } == 1)
        time.advance(by: .nanoseconds(1))
        _ = try await client.fetch(request("http://a.test/", short))
        try await waitForToken("2", short)
        fetched.withLock { $0 = 0 }
        let endless = authenticator(lifetime: nil)
        for _ in 0..<2 {
            _ = try await client.fetch(request("http://a.test/", endless))
            time.advance(by: .seconds(86_400))
        }
        #expect(fetched.withLock { $0 } == 1)
    }

    @Test("A token that the server refuses before its expiry is replaced at once, and the call goes on")
    func refused() async throws {
        let server = try FixtureServer.start { request in
            request.headers["authorization"] == "Bearer 2"
                ? .text("in") : .status(401, ["WWW-Authenticate": "Bearer"])
        }
        gate.open()
        let client = HTTPClient.untimed()
        let response = try await client.fetch(request(server.http(), authenticator()))
        #expect(response.text == "in" && response.history.map(\.reason) == [.authentication])
        #expect(fetched.withLock { $0 } == 2)
    }

    @Test("A token and its authenticator show no secret when they are printed or dumped")
    func hidden() {
        let token = BearerToken("hush", lifetime: .seconds(1))
        var text = "\(token) \(StandardAuthenticator.bearer(renewedAhead: .seconds(60)) { token })"
        dump(token, to: &text)
        #expect(!text.contains("hush"))
    }
}

/// Has an answer for a refusal alone.
private struct AnsweringAuthenticator: Authenticator {
    let answer: @Sendable () async throws -> String

    func authorization(for request: AuthenticationRequest) async throws -> String? { nil }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? { try await answer() }
}

/// Has no answer, and asks first.
private struct AskingAuthenticator: Authenticator {
    let ask: @Sendable () async throws -> Void

    func authorization(for request: AuthenticationRequest) async throws -> String? { nil }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        try await ask()
        return nil
    }
}

/// Has no answer.
struct CredentiallessAuthenticator: Authenticator {
    func authorization(for request: AuthenticationRequest) async throws -> String? { nil }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? { nil }
}
