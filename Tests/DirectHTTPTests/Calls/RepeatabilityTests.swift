import DirectCore
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

/// An interceptor that makes another request of each.
private func changing(_ change: @escaping @Sendable (inout Request) -> Void) -> Interceptor {
    { request, forward in
        var request = request
        change(&request)
        return try await forward(request)
    }
}

@Suite("Requests that network interceptors change, and that are repeated", .idleLimit)
struct RepeatabilityTests {
    private let time = HeldTime()
    private static let delay = Duration.milliseconds(50)
    private static let ok: ByteScript.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    /// A body that can be read once.
    private static var once: RequestBody {
        .stream(
            AsyncStream<[UInt8]> { pieces in
                pieces.yield([65])
                pieces.finish()
            }
        )
    }

    /// Changes after which a request may be sent once only.
    private static let changes: [@Sendable (inout Request) -> Void] = [
        { $0.method = .post }, { $0.method = .patch },
        {
            $0.method = .put
            $0.body = once
        },
    ]

    private func retrying(_ configure: (inout HTTPClient.Configuration) -> Void) -> HTTPClient {
        .untimed {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
            configure(&$0)
        }
    }

    private func request(_ servers: [FixtureServer], _ method: DirectHTTP.HTTPMethod = .get) -> Request {
        var request = Request(method, "http://a.test:\(servers[0].port)/")
        request.addresses = ["127.0.0.1", "127.0.0.2"]
        return request
    }

    private func hedging(_ interceptor: @escaping Interceptor) -> HTTPClient {
        time.client {
            $0.dialling.keepsOrder = true
            $0.hedging = HedgingPolicy(after: Self.delay)
            $0.networkInterceptors = [interceptor]
        }
    }

    @Test("A request that may be sent once as it is sent gets no hedge", arguments: 0..<3)
    func notHedged(change: Int) async throws {
        let gate = Gate()
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { request in
            _ = try request.body
            try request.wait(for: gate)
            return .text(request.serverAddress)
        }
        let client = hedging(changing(Self.changes[change]))
        let call = Task { try await client.fetch(request(servers)) }
        while servers[0].requests.isEmpty { await Task.yield() }
        for _ in 0..<3 {
            time.advance(by: .seconds(1))
            await time.settle()
        }
        #expect(servers[1].records.isEmpty)
        gate.open()
        #expect(try await call.value.text == "127.0.0.1")
        #expect(servers[1].records.isEmpty)
    }

    @Test("A hedge that an interceptor makes another request of is not sent, and the first one is waited for")
    func changedHedge() async throws {
        let gate = Gate()
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { request in
            try request.wait(for: gate)
            return .text("\(request.serverAddress) \(request.method)")
        }
        let (count, refused) = (Locked(0), Heard<HTTPError>())
        let client = hedging { request, forward in
            var request = request
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number > 1 { request.method = .post }
            do { return try await forward(request) } catch let error as HTTPError {
                refused.add(error)
                throw error
            }
        }
        let call = Task { try await client.fetch(request(servers)) }
        try await time.pass(Self.delay)
        while refused.all.isEmpty { await Task.yield() }
        guard case .overtaken? = refused.all.first?.reason else { throw refused.all[0] }
        for _ in 0..<3 {
            time.advance(by: .seconds(1))
            await time.settle()
        }
        gate.open()
        #expect(try await call.value.text == "127.0.0.1 GET")
        #expect(servers[1].records.isEmpty && refused.all.count == 1)
    }

    @Test("What an interceptor makes idempotent stays a request that is sent once")
    func madeIdempotent() async throws {
        let gate = Gate()
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { request in
            try request.wait(for: gate)
            return .status(503)
        }
        let client = hedging(changing { $0.method = .get })
        var post = request(servers, .post)
        post.retries = RetryPolicy()
        let call = Task { [post] in try await client.fetch(post) }
        while servers[0].requests.isEmpty { await Task.yield() }
        time.advance(by: .seconds(1))
        await time.settle()
        gate.open()
        let response = try await call.value
        #expect(response.status == 503 && response.retryStop == .notRepeatable)
        #expect(servers[0].requests.map(\.method) == ["GET"] && servers[1].records.isEmpty)
    }

    @Test("A 401 to a body that is spent is delivered, says so, and lets the next request have a new token")
    func challenged() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            let isNew = request.headers["authorization"] == "Bearer 2"
            return isNew ? .text("ok") : .status(401).adding("WWW-Authenticate", value: "Bearer")
        }
        let (count, reports) = (Locked(0), Locked<[CallReport]>([]))
        let origin = try HTTPURL(server.http()).origin
        for interceptors: [Interceptor] in [[], [changing { _ in }]] {
            count.withLock { $0 = 0 }
            let client = HTTPClient.untimed {
                $0.networkInterceptors = interceptors
                $0.authenticators[origin] = .bearer {
                    count.withLock { count in
                        count += 1
                        return "\(count)"
                    }
                }
                $0.observer = { event in
                    if case .ended(let report) = event.kind { reports.withLock { $0.append(report) } }
                }
            }
            let refused = try await client.post(server.http(), Self.once)
            #expect(refused.status == 401 && refused.retryStop == .notRepeatable && refused.history.isEmpty)
            #expect(try await client.post(server.http(), Self.once).status == 200)
            #expect(count.withLock { $0 } == 2)
        }
        let stops = reports.withLock { $0.map(\.retryStop) }
        #expect(stops == [.notRepeatable, nil, .notRepeatable, nil] && server.requests.count == 4)
        // Without an answer nothing was stopped.
        var plain = Request(.post, server.http(), body: Self.once)
        plain.authenticator = .bearer("fixed")
        #expect(try await HTTPClient.untimed().fetch(plain).retryStop == nil)
    }

    @Test("The retry policy looks at what was sent", arguments: 0..<3)
    func notRetried(change: Int) async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .status(503)
        }
        let client = retrying { $0.networkInterceptors = [changing(Self.changes[change])] }
        let response = try await client.get(server.http())
        #expect(response.retryStop == .notRepeatable && server.requests.count == 1)
        // A broken connection is judged as a status is.
        let broken = try FixtureServer.start { _ in .raw("", then: .cut) }
        let error = try await httpError { try await client.get(broken.http()) }
        #expect(error.retryStop == .notRepeatable && broken.requests.count == 1)
    }

    @Test("A policy for any method repeats a changed method, but no body that can be read once")
    func anyMethod() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .status(503)
        }
        for (change, count) in zip(Self.changes, [3, 3, 1]) {
            let client = retrying {
                $0.retries?.repeatsAnyMethod = true
                $0.networkInterceptors = [changing(change)]
            }
            let before = server.requests.count
            _ = try await client.get(server.http())
            #expect(server.requests.count - before == count)
        }
    }

    @Test("A kept connection that dies is replaced for what may be sent again, and for nothing else")
    func deadConnection() async throws {
        for changed in [false, true] {
            let server = try FixtureServer.start(
                behaviour: .sequence([
                    .bytes([.awaitHead, Self.ok, .awaitHead, .cut]), .http { _ in .text("again") },
                ])
            )
            let client = HTTPClient.untimed {
                $0.networkInterceptors = [changing { if changed { $0.method = .post } }]
            }
            #expect(try await client.get(server.http("/0")).text == "ok")
            if changed {
                let error = try await httpError { try await client.get(server.http("/1")) }
                #expect(error.protocolError == .closedBeforeResponse && server.records.count == 1)
            } else {
                #expect(try await client.get(server.http("/1")).text == "again")
            }
        }
    }

    @Test("A refusal by 421 is delivered if the body that an interceptor has added cannot be sent again")
    func misdirected() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .status(421)
        }
        let client = HTTPClient.untimed { $0.networkInterceptors = [changing(Self.changes[2])] }
        #expect(try await client.get(server.http()).status == 421 && server.requests.count == 1)
        let method = HTTPClient.untimed { $0.networkInterceptors = [changing(Self.changes[0])] }
        #expect(try await method.get(server.http()).status == 421 && server.requests.count == 3)
    }

    @Test("A 401 is delivered if the body that an interceptor has added cannot be sent again")
    func unauthorized() async throws {
        for (change, count) in zip(Self.changes, [2, 2, 1]) {
            let server = try FixtureServer.start { request in
                _ = try request.body
                return request.headers["authorization"] == nil ? Self.challenge : .text("in")
            }
            var request = server.request(server.http())
            request.authenticator = .digest(user: "u", password: "p")
            let client = HTTPClient.untimed { $0.networkInterceptors = [changing(change)] }
            let response = try await client.fetch(request)
            #expect(response.status == (count == 1 ? 401 : 200) && server.requests.count == count)
        }
    }

    @Test("A redirect begins anew: what was sent before it does not count")
    func afterRedirect() async throws {
        let count = Locked(0)
        let server = try FixtureServer.start { request in
            if request.path == "/" { return .text("", status: 303, ["Location": "/next"]) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .status(503) : .text("there")
        }
        let client = retrying {
            $0.networkInterceptors = [
                changing { if (try? $0.url.path) == "/" { $0.method = .post } }
            ]
        }
        #expect(try await client.get(server.http()).text == "there")
        #expect(server.requests.map(\.method) == ["POST", "GET", "GET"])
    }

    @Test("Downloads and event streams do not repeat what an interceptor has made of their GET")
    func longCalls() async throws {
        let folder = try TemporaryFolder()
        let resource = Resource(count: 300_000, faults: [.cut(after: 100_000)])
        let server = try resource.server()
        let client = HTTPClient.downloading { $0.networkInterceptors = [changing(Self.changes[0])] }
        let error = try await httpError { try await client.download(server.http(), to: folder.path + "/f") }
        #expect(error.retryStop == .notRepeatable && resource.asked.count == 1)
        let stream = try FixtureServer.start { _ in
            .text("data: a\n\n", ["Content-Type": "text/event-stream"])
        }
        var events: [String] = []
        for try await event in client.events(from: stream.http()) { events.append(event.data) }
        #expect(events == ["a"] && stream.requests.count == 1)
    }

    /// The nonce counts that a server was sent.
    private func counts(_ server: FixtureServer) -> [String] {
        server.requests.compactMap { $0.headers["authorization"] }
            .compactMap { Challenge.all(of: $0).first?.parameters["nc"] }
    }

    private static let challenge = FixtureReply.text(
        "",
        status: 401,
        ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""]
    )

    @Test("Each retry and each request after 421 has a nonce count of its own")
    func countsOfRetries() async throws {
        let count = Locked(0)
        let server = try FixtureServer.start { request in
            guard request.headers["authorization"] != nil else { return Self.challenge }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return [.status(503), .status(421), .status(503)][safe: number - 1] ?? .text("in")
        }
        let client = retrying { $0.retries?.attempts = 4 }
        var request = server.request(server.http())
        request.authenticator = .digest(user: "u", password: "p")
        #expect(try await client.fetch(request).text == "in")
        #expect(counts(server) == ["00000001", "00000002", "00000003", "00000004"])
    }

    @Test("A hedge has a nonce count of its own")
    func countsOfHedges() async throws {
        let gate = Gate()
        defer { gate.open() }
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { request in
            guard request.headers["authorization"] != nil else { return Self.challenge }
            if request.serverAddress == "127.0.0.1" { try request.wait(for: gate) }
            return .text("in")
        }
        let client = time.client {
            $0.dialling.keepsOrder = true
            $0.hedging = HedgingPolicy(after: Self.delay)
        }
        var secret = request(servers)
        secret.authenticator = .digest(user: "u", password: "p")
        let call = Task { [secret] in try await client.fetch(secret) }
        while counts(servers[0]).isEmpty { await Task.yield() }
        try await time.pass(Self.delay)
        #expect(try await call.value.text == "in")
        #expect(counts(servers[0]) == ["00000001"] && counts(servers[1]) == ["00000002"])
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
