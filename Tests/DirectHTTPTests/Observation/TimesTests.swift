import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

/// All by a clock that is moved between the steps of a call, so that each time has a value of its own.
@Suite("The times of a call", .idleLimit)
struct TimesTests {
    private static let ok: ByteScript.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let clock = HeldClock()

    private func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        HTTPClient.trusting {
            $0.loop = EventLoop(clock: clock)
            $0.timeouts.response = .seconds(100)
            configure(&$0)
        }
    }

    /// Returns once a request has been sent at the present time. A server may have it before the client notes
    /// the time.
    private func sendingEnds() async throws {
        try await clock.waitBegins(until: clock.now.advanced(byNanoseconds: 100_000_000_000))
    }

    /// Takes two seconds by the test's clock.
    private func resolver(_ server: FixtureServer) -> ScriptedResolver {
        let clock = clock
        let endpoint = server.endpoint
        return ScriptedResolver { _, _ in
            clock.advance(by: .seconds(2))
            return Resolution([endpoint], source: .resolver("scripted"))
        }
    }

    @Test("The times are those between the steps: look-up, request, head and body")
    func steps() async throws {
        let (mayAnswer, mayEnd) = (Gate(), Gate())
        let server = try FixtureServer.start { request in
            try request.wait(for: mayAnswer)
            return .written { writer in
                try writer.write([1])
                try writer.wait(for: mayEnd)
            }
        }
        let log = EventList()
        let client = client {
            $0.resolver = resolver(server)
            $0.observer = log.observer
        }
        async let answer = client.send(Request(.post, "http://a.test/", body: .text("x")))
        try await server.waitUntil { $0.first?.requests.count == 1 }
        try await sendingEnds()
        clock.advance(by: .seconds(3))
        mayAnswer.open()
        let response = try await answer
        let transaction = try #require(response.transaction)
        #expect(transaction.resolveTime == .seconds(2) && transaction.connectTime == .zero)
        #expect(transaction.tlsTime == nil)
        #expect(transaction.requestTime == .seconds(2) && transaction.responseTime == .seconds(5))
        #expect(transaction.queueTime == .zero && transaction.bodyTime == nil && transaction.totalTime == nil)
        clock.advance(by: .seconds(7))
        mayEnd.open()
        _ = try await response.body.collect(upTo: 10)
        #expect(transaction.bodyTime == .seconds(7) && transaction.totalTime == .seconds(12))
        let report = try #require(log.reports.first)
        #expect(report.method == .post && report.duration == .seconds(12))
        let exchange = try #require(report.exchanges.first)
        #expect(exchange.method == .post && exchange.start == .zero && exchange.duration == .seconds(12))
        let times = log.all.map(\.time)
        #expect(times.first == .zero && times.last == .seconds(12) && times.contains(.seconds(5)))
    }

    @Test("The time in the queue is a time of its own, and a body that comes with its head takes none")
    func queue() async throws {
        let (mayAnswer, log) = (Gate(), EventList())
        let server = try FixtureServer.start { request in
            if request.path == "/first" { try request.wait(for: mayAnswer) }
            return .text("ok")
        }
        let client = client {
            $0.maximumConnectionsPerOrigin = 1
            $0.observer = log.observer
        }
        async let first = client.get(server.http("/first"))
        try await server.waitUntil { $0.first?.requests.count == 1 }
        try await sendingEnds()
        async let second = client.get(server.http("/second"))
        try await waitUntil { client.connections.first?.waiting == 1 }
        clock.advance(by: .seconds(4))
        mayAnswer.open()
        let transactions = [try await first.transaction, try await second.transaction]
        #expect(transactions.map { $0?.queueTime } == [.zero, .seconds(4)])
        #expect(transactions.map { $0?.requestTime } == [.zero, .seconds(4)])
        #expect(transactions.map { $0?.bodyTime } == [.zero, .zero])
        #expect(transactions.map { $0?.totalTime } == [.seconds(4), .seconds(4)])
        #expect(log.reports.map { $0.exchanges.first?.transaction?.bodyTime } == [.zero, .zero])
    }

    @Test(
        "The body of an abandoned response has no time"
    )
    func abandoned() async throws {
        let never = Gate()
        defer { never.open() }
        let server = try FixtureServer.start { _ in
            .written(length: 1_000_000, framing: .length) { writer in
                try writer.write([1])
                try writer.wait(for: never)
            }
        }
        let client = client()
        var response: Response? = try await client.send(Request(.get, server.http()))
        let transaction = try #require(response?.transaction)
        response = nil
        try await waitUntil { client.connections.isEmpty }
        #expect(transaction.bodyTime == nil && transaction.totalTime == nil)
    }

    @Test(
        "The time in the queue is that of the request, also if the connection it waited for was dead and is replaced"
    )
    func queueForDeadConnection() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, .wait(mayAnswer), Self.ok, .awaitHead, .cut]),
                .http { _ in .text("again") },
            ])
        )
        let client = client { $0.maximumConnectionsPerOrigin = 1 }
        async let first = client.get(server.http("/first"))
        try await server.waitUntil { ($0.first?.receivedCount ?? 0) > 0 }
        async let second = client.get(server.http("/second"))
        try await waitUntil { client.connections.first?.waiting == 1 }
        clock.advance(by: .seconds(4))
        mayAnswer.open()
        #expect(try await first.text == "ok")
        let response = try await second
        #expect(response.text == "again" && !response.isReused)
        #expect(response.transaction?.queueTime == .seconds(4))
    }

    @Test("A reused connection has no times for look-up, connect and TLS")
    func reused() async throws {
        let server = try FixtureServer.secure("a.test")
        let client = client { $0.resolver = resolver(server) }
        let url = "https://a.test:\(server.port)/"
        let first = try #require(try await client.get(url).transaction)
        #expect(!first.isReused && first.resolveTime == .seconds(2))
        #expect(first.connectTime == .zero && first.tlsTime == .zero)
        let second = try #require(try await client.get(url).transaction)
        #expect(second.isReused && second.resolveTime == nil)
        #expect(second.connectTime == nil && second.tlsTime == nil)
        #expect(second.requestTime == .seconds(2))
    }

    @Test("The times of a second exchange count from the beginning of the call")
    func secondExchange() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/next" ? .text("there") : .redirect(to: "/next")
        }
        let log = EventList()
        let client = client {
            $0.resolver = resolver(server)
            $0.observer = log.observer
        }
        _ = try await client.get("http://a.test/")
        let report = try #require(log.reports.first)
        #expect(report.exchanges.map(\.start) == [.zero, .seconds(2)])
        #expect(report.exchanges.map(\.duration) == [.seconds(2), .seconds(2)])
        #expect(report.duration == .seconds(4))
    }

    @Test("The TLS handshake has its own time, which includes reading the roots")
    func handshake() async throws {
        let server = try FixtureServer.secure("a.test")
        let pipe = try NamedPipe()
        let client = client { $0.tls.roots = .only([.pemFile(pipe.path)]) }
        async let answer = client.fetch(server.request("https://a.test/"))
        try await pipe.open()
        clock.advance(by: .seconds(3))
        pipe.close(writing: testAuthority.rootPEM)
        let transaction = try #require(try await answer.transaction)
        #expect(transaction.connectTime == .zero && transaction.tlsTime == .seconds(3))
        #expect(transaction.resolveTime == nil && transaction.requestTime == .seconds(3))
    }

    @Test("Connecting has its own time")
    func connecting() async throws {
        let server = try FixtureServer.secure("a.test")
        let facts = try await dial("https://a.test/", to: server)
        #expect(facts.times.connect == .seconds(2) && facts.times.tls == .zero)
    }

    @Test("The time for connecting includes the exchange with a proxy, whichever side resolves the name")
    func conversation() async throws {
        let socks: ByteScript = [
            .awaitBytes(3), .bytes([5, 0]), .awaitBytes(10), .bytes([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
        ]
        let connect: ByteScript = [.awaitHead, .send("HTTP/1.1 200 OK\r\n\r\n")]
        for (scheme, script, address) in [("http", connect, "127.0.0.9"), ("socks5h", socks, nil)] {
            let mayLead = Gate()
            var steps = script.steps
            steps.insert(.wait(mayLead), at: steps.count - 1)
            let server = try FixtureServer.scripted(
                ByteScript(steps + [.awaitHead, Self.ok, .awaitClose]),
                on: "127.0.0.3"
            )
            var proxy = try Proxy("\(scheme)://\(server.authority)")
            proxy.lookup = address == nil ? .byProxy : .byClient
            let client = client { [proxy] in $0.proxy = ProxySettings(proxy) }
            var request = Request(.get, "http://a.test/")
            request.addresses = address.map { [Endpoint(stringLiteral: $0)] }
            async let answer = client.fetch(request)
            let count = address == nil ? 3 + 13 : 20
            try await server.waitUntil { $0.first?.receivedCount ?? 0 >= count }
            clock.advance(by: .seconds(3))
            mayLead.open()
            let transaction = try #require(try await answer.transaction)
            #expect(transaction.connectTime == .seconds(3) && transaction.tlsTime == nil, "\(scheme)")
        }
    }

    @Test("The time for connecting includes the way to a proxy, and the TLS to it")
    func wayToProxy() async throws {
        let origin = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "proxy.test")),
            on: "127.0.0.3",
            behaviour: .proxy(
                FixtureProxy(["a.test:443": origin.authority, "127.0.0.9:443": origin.authority])
            )
        )
        for lookup in [Proxy.Lookup.byProxy, .byClient] {
            let pipe = try NamedPipe()
            var proxy = try Proxy("https://proxy.test:\(server.port)")
            proxy.addresses = [server.endpoint]
            proxy.lookup = lookup
            var tls = TLSSettings()
            tls.roots = .only([.pemFile(pipe.path)])
            proxy.tls = tls
            async let dialled = dial("https://a.test/", to: server, over: proxy)
            try await pipe.open()
            clock.advance(by: .seconds(5))
            pipe.close(writing: testAuthority.rootPEM)
            let facts = try await dialled
            #expect(facts.times.connect == .seconds(7) && facts.times.tls == .zero, "\(lookup)")
        }
    }

    @Test("The time for the look-up is present if the system was asked, for a proxy, too")
    func system() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = client()
        let direct = try await client.get("http://localhost:\(server.port)/")
        #expect(direct.transaction?.resolveTime == .zero)
        let literal = try await client.get(server.http())
        #expect(literal.transaction?.resolveTime == nil && literal.transaction?.connectTime == .zero)
        let proxy = try Proxy("http://localhost:\(server.port)")
        let proxied = self.client { $0.proxy = ProxySettings(proxy) }
        #expect(try await proxied.get("http://a.test/").transaction?.resolveTime == .zero)
    }

    @Test("The time for the look-up is that of the answer that was used")
    func fallback() async throws {
        let dead = try FixtureServer.refusing()
        let server = try FixtureServer.start { _ in .text("hello") }
        let clock = clock
        let (wrong, right) = (dead.endpoint, server.endpoint)
        let resolver = ScriptedResolver { _, _ in
            clock.advance(by: .seconds(2))
            var answer = Resolution([wrong], source: .resolver("scripted"))
            answer.fallback = { _ in
                clock.advance(by: .seconds(4))
                return Resolution([right], source: .resolver("other"))
            }
            return answer
        }
        let response = try await client { $0.resolver = resolver }.get("http://a.test/")
        #expect(response.transaction?.resolveTime == .seconds(4))
        #expect(response.transaction?.failedAttempts.map(\.endpoint) == [wrong])
    }

    @Test("Failed attempts are listed with their times, also on the way to a proxy")
    func attempts() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let clock = clock
        let vetting = AddressVetting { address, _, _ in
            guard address == IPAddress("127.0.0.9") else { return nil }
            clock.advance(by: .seconds(6))
            return AddressRefusal(address, "slowly refused")
        }
        var request = Request(.get, "http://a.test/")
        request.addresses = ["127.0.0.9:1", server.endpoint]
        let client = client {
            $0.vetting = vetting
            $0.dialling.keepsOrder = true
        }
        let response = try await client.fetch(request)
        #expect(response.transaction?.failedAttempts.map(\.elapsed) == [.seconds(6)])
        let dead = try FixtureServer.refusing()
        var proxy = try Proxy("http://proxy.test:1")
        proxy.addresses = [dead.endpoint, server.endpoint]
        let proxied = self.client { [proxy] in $0.proxy = ProxySettings(proxy) }
        let transaction = try await proxied.get("http://a.test/").transaction
        #expect(transaction?.failedAttempts.map(\.endpoint) == [dead.endpoint])
    }

    /// Dials on a network where connecting takes two seconds by the test's clock.
    private func dial(_ text: String, to server: FixtureServer, over proxy: Proxy? = nil) async throws
        -> ConnectionFacts
    {
        let settings = client().configuration
        let clock = clock
        var network = Network()
        network.connect = { address, port, options, loop throws(Socket.StartFailure) in
            clock.advance(by: .seconds(2))
            return try Socket.connecting(to: address, port: port, on: loop)
        }
        let dialler = Dialler(settings.dialConfiguration, network: network)
        let isByProxy = proxy?.lookup == .byProxy
        let endpoint = proxy == nil ? server.endpoint : "127.0.0.9"
        let target = ConnectionTarget(
            try HTTPURL(text),
            route: isByProxy ? .byProxy : .chosen([endpoint], port: 443, source: .request),
            proxy: proxy.map { ProxyEntry($0, tls: settings.tls) }
        )
        let connection = try await dialler.dial(target, within: .none)
        defer { connection.close() }
        return connection.facts
    }
}

/// The events that an observer has received.
private final class EventList: Sendable {
    private let events = Locked<[CallEvent]>([])

    var observer: @Sendable (CallEvent) -> Void { { [self] event in events.withLock { $0.append(event) } } }
    var all: [CallEvent] { events.withLock { $0 } }
    var reports: [CallReport] {
        all.compactMap { if case .ended(let report) = $0.kind { report } else { nil } }
    }
}
