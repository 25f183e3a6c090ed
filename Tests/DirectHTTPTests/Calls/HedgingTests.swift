import DirectCore
import DirectTestCommands
import DirectTestTime
import Synchronization
import TLSFixtures
import Testing

@testable import DirectHTTP

extension HTTPClient {
    fileprivate var openCount: Int { connections.reduce(0) { $0 + $1.connections.count } }
}

@Suite("Hedging", .idleLimit)
struct HedgingTests {
    private let time = HeldTime()
    /// Keeps the slow server from answering.
    private let gate = Gate()
    private static let delay = Duration.milliseconds(50)

    /// Two servers on one port: the first one waits for the gate, the second answers.
    private func servers(
        _ answer: @escaping @Sendable (FixtureRequest) throws -> FixtureReply = {
            .text("\($0.serverAddress)")
        }
    ) throws -> [FixtureServer] {
        try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { [gate] request in
            _ = try request.body
            if request.serverAddress == "127.0.0.1" { try request.wait(for: gate) }
            return try answer(request)
        }
    }

    private func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        time.client {
            $0.dialling.keepsOrder = true
            $0.hedging = HedgingPolicy(after: Self.delay)
            configure(&$0)
        }
    }

    private func request(
        _ servers: [FixtureServer],
        _ method: DirectHTTP.HTTPMethod = .get,
        _ path: String = "/",
        body: RequestBody = .none
    ) -> Request {
        var request = Request(method, "http://a.test:\(servers[0].port)\(path)", body: body)
        request.addresses = ["127.0.0.1", "127.0.0.2"]
        return request
    }

    /// Fetches, and lets the delay pass once the first request is sent.
    private func fetchHedged(_ client: HTTPClient, _ request: Request) async throws -> BufferedResponse {
        let call = Task { try await client.fetch(request) }
        try await time.pass(Self.delay)
        return try await call.value
    }

    @Test("A late response is overtaken by a second address, and the first request's connection is closed")
    func overtaken() async throws {
        let servers = try servers()
        let client = client()
        let response = try await fetchHedged(client, request(servers))
        #expect(response.text == "127.0.0.2" && response.history.isEmpty)
        #expect(response.transaction?.endpoint?.address.description == "127.0.0.2")
        try await waitUntil { client.openCount == 1 }
        gate.open()
        // The connection to the second address is kept and reused.
        let second = try await client.fetch(request(servers))
        #expect(second.text == "127.0.0.2" && second.isReused)
    }

    @Test("A response that waits for its rate is not late", arguments: [true, false])
    func limited(isOfClient: Bool) async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { _ in
            .text(String(repeating: "x", count: 1_000))
        }
        let rate = RateLimit(bytesPerSecond: 1_000)
        let client = client { if isOfClient { $0.receivingRate = rate } }
        var request = request(servers)
        if !isOfClient { request.receivingRate = rate }
        let call = Task { [request] in try await client.fetch(request) }
        try await time.pass(.seconds(1))
        #expect(try await call.value.text?.count == 1_000)
        #expect(servers.flatMap(\.requests).count == 1)
    }

    @Test("A response in time is not hedged, and one that comes late but first wins, and ends the hedge")
    func inTime() async throws {
        let hold = Gate()
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { [gate] request in
            if request.path == "/late" {
                try request.wait(for: request.serverAddress == "127.0.0.1" ? gate : hold)
            }
            return .text(request.serverAddress)
        }
        defer { hold.open() }
        let client = client()
        #expect(try await client.fetch(request(servers)).text == "127.0.0.1")
        #expect(servers[1].requests.isEmpty)
        // The wait for the first response ended at the same time as that for the second would.
        time.advance(by: .seconds(1))
        let call = Task { try await client.fetch(request(servers, .get, "/late")) }
        try await time.pass(Self.delay)
        while servers[1].requests.isEmpty { await Task.yield() }
        gate.open()
        #expect(try await call.value.text == "127.0.0.1")
        try await waitUntil { client.openCount == 1 }
    }

    @Test("Only requests that may be sent twice are hedged")
    func repeatable() async throws {
        let servers = try servers { .text("\($0.serverAddress) \(try $0.text)") }
        let stream = RequestBody.stream(AsyncStream<[UInt8]> { pieces in pieces.finish() })
        let replayable = RequestBody.replayable(length: 3) {
            AsyncThrowingStream<[UInt8], any Error> { pieces in
                pieces.yield([65, 66, 67])
                pieces.finish()
            }
        }
        let cases: [(Request, Bool)] = [
            (request(servers, .post, body: .text("x")), false), (request(servers, .patch), false),
            (request(servers, .put, body: stream), false), (request(servers, .put, body: .text("x")), true),
            (request(servers, .put, body: replayable), true), (request(servers, .delete), true),
        ]
        for (request, isHedged) in cases {
            let client = client()
            if isHedged {
                #expect(try await fetchHedged(client, request).text?.hasPrefix("127.0.0.2") == true)
                continue
            }
            let count = servers[0].requests.count
            let call = Task { try await client.fetch(request) }
            while servers[0].requests.count == count { await Task.yield() }
            time.advance(by: .seconds(1))
            await time.settle()
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(servers[1].requests.map(\.method) == ["PUT", "PUT", "DELETE"])
        #expect(servers[1].requests.map(\.bodyText) == ["x", "ABC", ""])
    }

    @Test("A hedge takes a token of the retry policy's budget, or of its own, and is not sent without one")
    func budget() async throws {
        let servers = try servers()
        var policy = HedgingPolicy(after: Self.delay)
        policy.budget = RetryBudget(retries: 1, perSecond: 0)
        for retries in [nil, RetryPolicy()] as [RetryPolicy?] {
            var retries = retries
            retries?.budget = RetryBudget(retries: 1, perSecond: 0)
            let client = client {
                $0.hedging = policy
                $0.retries = retries
                $0.maximumIdleConnections = 0
            }
            #expect(try await fetchHedged(client, request(servers)).text == "127.0.0.2")
            let count = servers[0].requests.count
            let call = Task { try await client.fetch(request(servers)) }
            while servers[0].requests.count == count { await Task.yield() }
            try await time.pass(Self.delay)
            await time.settle()
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(servers[1].requests.count == 2)
    }

    @Test("A hedge counts against the limit of its origin, does not queue, and goes to no refused address")
    func bounds() async throws {
        let servers = try servers()
        let limits: [(inout HTTPClient.Configuration) -> Void] = [
            { $0.maximumConnectionsPerOrigin = 1 }, { $0.maximumConnections = 1 },
            { settings in
                settings.vetting = AddressVetting { address, _, _ in
                    "\(address)" == "127.0.0.1" ? nil : AddressRefusal(address, "not this one")
                }
            },
        ]
        for limit in limits {
            let refused = Locked(false)
            let client = client {
                limit(&$0)
                $0.networkInterceptors = [
                    { request, forward in
                        do { return try await forward(request) } catch {
                            if !Task.isCancelled { refused.withLock { $0 = true } }
                            throw error
                        }
                    }
                ]
            }
            let call = Task { try await client.fetch(request(servers)) }
            try await time.pass(Self.delay)
            while !refused.withLock({ $0 }), servers[1].requests.isEmpty { await Task.yield() }
            #expect(client.connections.allSatisfy { $0.waiting == 0 })
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(servers[1].records.isEmpty)
    }

    @Test(
        "Without a second address the first response is waited for, and no other address is looked for soon"
    )
    func onlyAddress() async throws {
        let servers = try servers()
        let events = Locked<[String]>([])
        let client = client {
            $0.observer = { event in
                if case .hedging = event.kind { events.withLock { $0.append("hedging") } }
            }
        }
        var only = request(servers)
        only.addresses = ["127.0.0.1"]
        for _ in 0..<2 {
            let count = servers[0].requests.count
            let call = Task { [only] in try await client.fetch(only) }
            while servers[0].requests.count == count { await Task.yield() }
            if count == 0 {
                try await time.pass(Self.delay)
                let (origin, table) = (try only.url.origin, client.pipeline.roundTrip.hedges)
                let policy = HedgingPolicy(after: Self.delay)
                while table.delay(of: policy, for: origin, at: time.now) != nil { await Task.yield() }
            } else {
                time.advance(by: Self.delay)
                await time.letFaultsShow()
            }
            gate.open()
            #expect(try await call.value.text == "127.0.0.1")
        }
        #expect(events.withLock { $0 } == ["hedging"])
    }

    @Test("A retry that has no address left for its hedge does not end hedging for its origin")
    func retryWithoutSecondAddress() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { [gate] request in
            if request.serverAddress == "127.0.0.1" { return .status(503) }
            try request.wait(for: gate)
            return .text("second")
        }
        let lacksAddress = Locked(false)
        let client = client {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
            $0.networkInterceptors = [
                { request, forward in
                    do { return try await forward(request) } catch {
                        lacksAddress.withLock { $0 = true }
                        throw error
                    }
                }
            ]
        }
        let request = request(servers)
        let call = Task { try await client.fetch(request) }
        while servers[1].requests.isEmpty { await Task.yield() }
        try await time.pass(Self.delay)
        while !lacksAddress.withLock({ $0 }) { await Task.yield() }
        await time.letFaultsShow()
        gate.open()
        #expect(try await call.value.text == "second")
        let table = client.pipeline.roundTrip.hedges
        let delay = table.delay(
            of: HedgingPolicy(after: Self.delay),
            for: try request.url.origin,
            at: time.now
        )
        #expect(delay != nil)
    }

    @Test(
        "Retry-After ends hedging for its origin: the response is delivered, and the next request is not hedged"
    )
    func retryAfter() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { [gate] request in
            if request.serverAddress == "127.0.0.1" {
                try request.wait(for: gate)
                return .text("first")
            }
            return .text("busy", status: 503, ["Retry-After": "100"])
        }
        let client = client()
        #expect(try await fetchHedged(client, request(servers)).status == 503)
        // The request goes to the second address by itself, where its connection was kept, or to the first
        // one.
        var first = request(servers)
        first.addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
        try await waitUntil { client.openCount == 1 }
        client.forgetNetwork()
        let call = Task { [first] in try await client.fetch(first) }
        while servers[0].requests.count < 2 { await Task.yield() }
        time.advance(by: Self.delay)
        await time.letFaultsShow()
        #expect(servers[1].requests.count == 1)
        gate.open()
        #expect(try await call.value.text == "first")
    }

    @Test("A server error does not win while the other request runs; a failure of one leaves the other")
    func badResults() async throws {
        for isBroken in [false, true] {
            let gate = Gate()
            let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { request in
                if request.serverAddress == "127.0.0.1" {
                    try request.wait(for: gate)
                    return .text("good")
                }
                return isBroken ? .raw("", then: .cut) : .status(500)
            }
            let client = client()
            let call = Task { try await client.fetch(request(servers)) }
            try await time.pass(Self.delay)
            while servers[1].requests.isEmpty { await Task.yield() }
            await time.letFaultsShow()
            gate.open()
            let response = try await call.value
            #expect(response.text == "good" && response.history.isEmpty)
        }
    }

    @Test("If both fail the error is the first one's, and the retry policy goes on")
    func bothFail() async throws {
        let count = Locked(0)
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { [gate] request in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            if number == 1 { try request.wait(for: gate) }
            return number <= 2 ? .raw("", then: .cut) : .text("third")
        }
        let client = client {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
        }
        let call = Task { try await client.fetch(request(servers)) }
        try await time.pass(Self.delay)
        while servers[1].requests.isEmpty { await Task.yield() }
        gate.open()
        let response = try await call.value
        #expect(response.text == "third" && response.history.map(\.reason) == [.retry])
        #expect(response.history.first?.endpoint?.address.description == "127.0.0.1")
    }

    @Test("Cancellation and the deadline of the call end both requests, and no connection is left behind")
    func ended() async throws {
        let hold = Gate()
        defer { hold.open() }
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { request in
            try request.wait(for: hold)
            return .text("never")
        }
        let client = client { $0.timeouts.total = .seconds(5) }
        for cancels in [true, false] {
            let count = servers[1].requests.count
            let call = Task { try await client.fetch(request(servers)) }
            try await time.pass(Self.delay)
            while servers[1].requests.count == count { await Task.yield() }
            if cancels {
                call.cancel()
                await #expect(throws: CancellationError.self) { try await call.value }
            } else {
                try await time.waitBegins(for: .seconds(5) - Self.delay)
                time.advance(by: .seconds(5) - Self.delay)
                #expect(try await httpError { try await call.value }.isTimeout)
            }
            try await waitUntil { client.openCount == 0 }
        }
    }

    @Test("A quantile of the origin's own response times is the delay, once enough of them are known")
    func quantile() throws {
        let table = HedgeTable()
        let (a, b) = (try HTTPURL("http://a.test").origin, try HTTPURL("http://b.test").origin)
        var policy = HedgingPolicy()
        for number in 1...19 { table.note(.milliseconds(number), of: a) }
        #expect(table.delay(of: policy, for: a, at: time.now) == nil)
        table.note(.milliseconds(20), of: a)
        #expect(table.delay(of: policy, for: a, at: time.now) == 19_000_000)
        policy.delay = .quantile(0.1)
        #expect(table.delay(of: policy, for: a, at: time.now) == 10_000_000)
        policy.delay = .quantile(7)
        #expect(table.delay(of: policy, for: a, at: time.now) == 20_000_000)
        policy.delay = .quantile(-.infinity)
        #expect(table.delay(of: policy, for: a, at: time.now) == 10_000_000)
        policy.delay = .quantile(.nan)
        #expect(table.delay(of: policy, for: a, at: time.now) == 20_000_000)
        #expect(table.delay(of: policy, for: b, at: time.now) == nil)
        for _ in 0..<100 { table.note(.milliseconds(50), of: a) }
        #expect(table.delay(of: policy, for: a, at: time.now) == 50_000_000)
        table.pause(a, until: time.moment(after: .seconds(1)))
        #expect(table.delay(of: policy, for: a, at: time.now) == nil)
        #expect(table.delay(of: policy, for: a, at: time.moment(after: .seconds(1))) == 50_000_000)
    }

    @Test("Redirects, cookies and the cache work on the response that counts, and reports have both requests")
    func meetings() async throws {
        let servers = try servers { request in
            switch request.path {
            case "/from":
                .text("", status: 302, ["Location": "/to", "Set-Cookie": "by=\(request.serverAddress)"])
            default: .text(request.headers["cookie"] ?? "none", ["Cache-Control": "max-age=60"])
            }
        }
        let reports = Locked<[CallReport]>([])
        let client = client {
            $0.cookies = CookieJar()
            $0.cache = .memory()
            $0.observer = { event in
                if case .ended(let report) = event.kind { reports.withLock { $0.append(report) } }
            }
        }
        let call = Task { try await client.fetch(request(servers, .get, "/from")) }
        try await time.pass(Self.delay)
        // The second hop goes to the idle connection of the winner, or is hedged again.
        let response = try await call.value
        #expect(response.text == "by=127.0.0.2" && response.history.map(\.reason) == [.redirect])
        #expect(try await client.fetch(request(servers, .get, "/to")).cacheUse == .hit)
        let first = try #require(reports.withLock { $0.first })
        #expect(first.exchanges.count == 3 && first.exchanges[1].reason == .hedge)
    }

    @Test(
        "Network interceptors see each of the two requests, and one without a second address or with a mock is not sent twice"
    )
    func interceptors() async throws {
        let servers = try servers()
        let seen = Locked(0)
        let counting: Interceptor = { request, forward in
            seen.withLock { $0 += 1 }
            return try await forward(request)
        }
        let client = client { $0.networkInterceptors = [counting] }
        #expect(try await fetchHedged(client, request(servers)).text == "127.0.0.2")
        #expect(seen.withLock { $0 } == 2)
        let mocked = self.client {
            $0.networkInterceptors = [counting]
            $0.transport = { try Response(to: $0, 200) }
        }
        #expect(try await mocked.fetch(request(servers)).status == 200 && seen.withLock { $0 } == 3)
    }

    @Test("A hedge over a proxy goes to another address of the proxy that resolves the name")
    func proxied() async throws {
        let servers = try servers()
        let client = try HTTPClient.untimed {
            $0.loop = time.loop
            $0.dialling.keepsOrder = true
            $0.hedging = HedgingPolicy(after: Self.delay)
            var proxy = Proxy(.http, try HTTPHost("proxy.test"), port: servers[0].port)
            proxy.addresses = ["127.0.0.1", "127.0.0.2"]
            $0.proxy = ProxySettings(proxy)
        }
        let response = try await fetchHedged(client, Request(.get, "http://b.test/"))
        #expect(response.text == "127.0.0.2" && servers[1].requests.map(\.target) == ["http://b.test/"])
    }
}
