import DirectCore
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

private struct JobNumber: Equatable {
    let value: Int
}

@Suite("Tags of requests", .idleLimit)
struct RequestTagTests {
    @Test("There is one value of each type, and an unset one is nil")
    func values() {
        var request = Request(.get, "http://a.test/")
        #expect(request.tags.isEmpty && !request.hasOptions)
        request.tags = RequestTags()
        #expect(!request.hasOptions)
        request.tags[JobNumber.self] = JobNumber(value: 1)
        request.tags[String.self] = "one"
        request.tags[JobNumber.self] = JobNumber(value: 2)
        #expect(request.tags[JobNumber.self] == JobNumber(value: 2) && request.tags[String.self] == "one")
        #expect(request.tags[Int.self] == nil)
        request.tags[JobNumber.self] = nil
        #expect(request.tags[JobNumber.self] == nil && !request.tags.isEmpty)
        request.tags[String.self] = nil
        #expect(request.tags.isEmpty)
    }

    @Test("They travel to interceptors, observers, retries and redirects, and no byte of them is sent")
    func travelling() async throws {
        let other = try FixtureServer.start { request in
            .text(request.headers.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"))
        }
        let count = Locked(0)
        let server = try FixtureServer.start { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return isFirst ? .status(503) : .redirect(to: other.http())
        }
        let (seen, told) = (Heard<Int?>(), Heard<Int?>())
        let noting: Interceptor = { request, forward in
            seen.add(request.tags[JobNumber.self]?.value)
            // Another request that the program makes of it.
            var next = Request(request.method, try request.url, headers: request.headers)
            next.tags[String.self] = "own"
            return try await forward(next)
        }
        let client = HTTPClient.untimed {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
            $0.interceptors = [noting]
            $0.networkInterceptors = [noting]
            $0.observer = { told.add($0.tags[JobNumber.self]?.value) }
        }
        var request = Request(.get, server.http())
        request.tags[JobNumber.self] = JobNumber(value: 727_272)
        let response = try await client.fetch(request)
        #expect(response.history.map(\.reason) == [.retry, .redirect])
        #expect(seen.all == Array(repeating: 727_272, count: 4))
        #expect(!told.all.isEmpty && told.all.allSatisfy { $0 == 727_272 })
        #expect(response.text?.contains("727272") == false)
        #expect(!server.records.map(\.receivedText).joined().contains("727272"))
    }
}

@Suite("Tags that interceptors set", .idleLimit)
struct InterceptedTagTests {
    private func setting(_ tag: @escaping @Sendable () -> String) -> Interceptor {
        { request, forward in
            var request = request
            request.tags[String.self] = tag()
            return try await forward(request)
        }
    }

    @Test("Observers receive a tag of an interceptor with each event from the next one on")
    func ofCalls() async throws {
        let server = try FixtureServer.start { $0.path == "/" ? .redirect(to: "/next") : .text("there") }
        let told = Heard<String>()
        let client = HTTPClient.untimed {
            $0.interceptors = [setting { "id" }]
            $0.observer = { told.add(($0.tags[String.self] ?? "none") + "\($0.tags[Int.self] ?? 0)") }
        }
        var request = Request(.get, server.http())
        request.tags[Int.self] = 7
        _ = try await client.fetch(request)
        #expect(told.all.first == "none7" && told.all.count > 8)
        #expect(told.all.dropFirst().allSatisfy { $0 == "id7" })
    }

    @Test("The events of each request on the network have its own tags, and the report has the last")
    func ofRequests() async throws {
        let server = try FixtureServer.start { $0.path == "/" ? .redirect(to: "/next") : .text("there") }
        let (told, count) = (Heard<String>(), Locked(0))
        let client = HTTPClient.untimed {
            $0.networkInterceptors = [
                setting {
                    count.withLock { count in
                        count += 1
                        return "\(count)"
                    }
                }
            ]
            $0.observer = { event in
                let tag = event.tags[String.self] ?? "none"
                switch event.kind {
                case .began: told.add("began \(tag)")
                case .sending: told.add("sending \(tag)")
                case .bodyEnded: told.add("bodyEnded \(tag)")
                case .ended: told.add("ended \(tag)")
                default: break
                }
            }
        }
        _ = try await client.get(server.http())
        #expect(
            told.all == ["began none", "sending 1", "bodyEnded 1", "sending 2", "bodyEnded 2", "ended 2"]
        )
    }

    @Test("A tag of a network interceptor is in the report of a call that a mock answers")
    func mocked() async throws {
        let told = Heard<String?>()
        let client = Script((200, [:])).client {
            $0.networkInterceptors = [setting { "id" }]
            $0.observer = { told.add($0.tags[String.self]) }
        }
        _ = try await client.get("http://a.test/")
        #expect(told.all == [nil, "id"])
    }
}

@Suite("The hedging of a request", .idleLimit)
struct RequestHedgingTests {
    private let time = HeldTime()
    private let gate = Gate()

    private func servers() throws -> [FixtureServer] {
        try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { [gate] request in
            if request.serverAddress == "127.0.0.1" { try request.wait(for: gate) }
            return .text(request.serverAddress, ["Set-Cookie": "a=\(request.serverAddress)"])
        }
    }

    private func request(_ servers: [FixtureServer], _ hedging: HedgingPolicy?) -> Request {
        var request = Request(.get, "http://a.test:\(servers[0].port)/")
        request.addresses = ["127.0.0.1", "127.0.0.2"]
        request.hedging = hedging
        return request
    }

    private func client(_ policy: HedgingPolicy?) -> HTTPClient {
        time.client {
            $0.dialling.keepsOrder = true
            $0.hedging = policy
            $0.cookies = CookieJar()
        }
    }

    @Test(
        "A request has hedging of its own in a client with none, and another delay in a client with some",
        arguments: [true, false]
    )
    func own(clientHedges: Bool) async throws {
        let servers = try servers()
        defer { gate.open() }
        let client = client(clientHedges ? HedgingPolicy(after: .seconds(100)) : nil)
        let request = request(servers, HedgingPolicy(after: .milliseconds(30)))
        let call = Task { try await client.fetch(request) }
        try await time.pass(.milliseconds(30))
        #expect(try await call.value.text == "127.0.0.2")
        // The client's own cookies are learned all the same.
        #expect(client.configuration.cookies?.cookies(for: try request.url).map(\.value) == ["127.0.0.2"])
    }

    @Test("An interceptor can set it as well, and a request without it follows the client")
    func intercepted() async throws {
        let servers = try servers()
        defer { gate.open() }
        let client = time.client {
            $0.dialling.keepsOrder = true
            $0.interceptors = [
                { request, forward in
                    var request = request
                    request.hedging = HedgingPolicy(after: .milliseconds(30))
                    return try await forward(request)
                }
            ]
        }
        let request = request(servers, nil)
        let call = Task { try await client.fetch(request) }
        try await time.pass(.milliseconds(30))
        #expect(try await call.value.text == "127.0.0.2")
    }

    @Test("A request can turn the client's hedging off")
    func off() async throws {
        let servers = try servers()
        let client = client(HedgingPolicy(after: .milliseconds(30)))
        try await expectNoHedge(of: request(servers, .off), by: client, servers)
    }

    @Test("An interceptor can take a request's hedging away")
    func removed() async throws {
        let servers = try servers()
        let client = time.client {
            $0.dialling.keepsOrder = true
            $0.interceptors = [
                { request, forward in
                    var request = request
                    request.hedging = nil
                    return try await forward(request)
                }
            ]
        }
        let request = request(servers, HedgingPolicy(after: .milliseconds(30)))
        try await expectNoHedge(of: request, by: client, servers)
    }

    private func expectNoHedge(of request: Request, by client: HTTPClient, _ servers: [FixtureServer])
        async throws
    {
        let call = Task { try await client.fetch(request) }
        while servers[0].requests.isEmpty { await Task.yield() }
        for _ in 0..<3 {
            time.advance(by: .seconds(1))
            await time.settle()
        }
        gate.open()
        #expect(try await call.value.text == "127.0.0.1" && servers[1].records.isEmpty)
    }
}
