import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("The dialled address", .idleLimit)
struct DialledAddressTests {
    private let time = HeldTime()

    @Test("A name with a final dot is looked up with it, so that no search list applies")
    func finalDot() async throws {
        let server = try FixtureServer.start { .text($0.host ?? "") }
        let (asked, address) = (Locked<[String]>([]), server.endpoint.address)
        let lookups = SystemLookups { name in
            asked.withLock { $0.append(name) }
            return .success([address])
        }
        for host in ["intranet.", "intranet"] {
            let client = HTTPClient(HTTPClient.untimed().configuration, network: Network(lookups))
            let response = try await client.get("http://\(host):\(server.port)/")
            // The dot is not part of the name that the server hears.
            #expect(response.text == "intranet:\(server.port)")
        }
        #expect(asked.withLock { $0 } == ["intranet.", "intranet"])
    }

    @Test("Local hosts are this machine, and names of Tor have no address, whatever DNS says")
    func specialNames() async throws {
        let server = try FixtureServer.start { .text($0.host ?? "") }
        let asked = Locked<[String]>([])
        let lookups = SystemLookups { name in
            asked.withLock { $0.append(name) }
            return .success(["192.0.2.1"].compactMap { IPAddress($0) })
        }
        let client = HTTPClient(HTTPClient.untimed().configuration, network: Network(lookups))
        for host in ["localhost", "LOCALHOST.", "a.localhost", "b.a.localhost."] {
            let response = try await client.get("http://\(host):\(server.port)/")
            let name = host.lowercased().split(separator: ".").joined(separator: ".")
            #expect(response.text == "\(name):\(server.port)")
            #expect(response.transaction?.endpoint?.address == server.endpoint.address)
        }
        for host in ["expyuzz4wqqyqhjn.onion", "a.expyuzz4wqqyqhjn.onion."] {
            let error = try await httpError { try await client.get("http://\(host)/") }
            guard error.phase == .resolve, case .lookup(let fault) = error.reason, fault.saysNone else {
                throw error
            }
        }
        #expect(asked.withLock { $0 } == [])
    }

    @Test(
        "The addresses of one family are dialled when those of the other are late, and these when they come"
    )
    func lateFamily() async throws {
        let server = try FixtureServer.start(on: "::1") { _ in .text("over IPv6") }
        let (gate, never) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        defer { never.signal() }
        let lookups = SystemLookups(byFamily: { _, family in
            switch family {
            case nil: never.wait()
            case .v4: break
            case .v6: gate.wait()
            }
            return .success([IPAddress(family == .v4 ? "127.66.0.1" : "::1")].compactMap(\.self))
        })
        let settings = time.client { $0.timeouts.resolve = .seconds(10) }.configuration
        let client = HTTPClient(settings, network: Network(lookups))
        let call = Task { try await client.get("http://a.test:\(server.port)/") }
        try await time.pass(.milliseconds(250))
        // IPv4 has been answered for, and waits for IPv6.
        try await time.pass(.milliseconds(50))
        // The race has begun, and waits for the rest.
        try await time.waitBegins(for: .milliseconds(9700))
        gate.signal()
        let response = try await call.value
        #expect(response.text == "over IPv6")
        // Nothing listens at that port of the IPv4 address.
        #expect(response.transaction?.failedAttempts.map { "\($0.endpoint.address)" } == ["127.66.0.1"])
    }

    @Test("A call that is cancelled while the other family's addresses are awaited ends as cancelled")
    func cancelledLateFamily() async throws {
        let never = DispatchSemaphore(value: 0)
        defer { for _ in 0..<2 { never.signal() } }
        let lookups = SystemLookups(byFamily: { _, family in
            if family != .v4 { never.wait() }
            return .success([IPAddress("127.66.0.1")].compactMap(\.self))
        })
        let settings = time.client { $0.timeouts.resolve = .seconds(10) }.configuration
        let client = HTTPClient(settings, network: Network(lookups))
        let dead = try FixtureServer.refusing()
        let call = Task { try await client.get("http://a.test:\(dead.port)/") }
        try await time.pass(.milliseconds(250))
        try await time.pass(.milliseconds(50))
        try await time.waitBegins(for: .milliseconds(9700))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test("A connection attempt that meets itself has found no server", arguments: ["127.0.0.1", "0.0.0.0"])
    func selfConnection(host: String) async throws {
        let server = try FixtureServer.start { _ in .text("wrong") }
        let loop = EventLoop.still
        // A socket whose own port is the one that is dialled, as the system may choose it.
        let socket = try Socket.connecting(to: server.endpoint.address, port: server.port, on: loop)
        let own = try #require(socket.localEndpoint)
        var network = Network()
        network.connect = { _, _, _, _ throws(Socket.StartFailure) in socket }
        let client = HTTPClient(HTTPClient.untimed().configuration, network: network)
        let error = try await httpError { try await client.get("http://\(host):\(own.port ?? 0)/") }
        #expect(error.phase == .connect && error.systemError?.meansRefused == true)
        #expect(server.requests.isEmpty)
    }

    @Test("An address that the request's binding does not reach is not reported to its resolver")
    func boundToOtherFamily() async throws {
        let server = try FixtureServer.start { _ in .text("ok") }
        let resolver = ScriptedResolver("scripted", [try Endpoint("[::1]:\(server.port)"), server.endpoint])
        let client = time.client { $0.resolver = resolver }
        var request = Request(.get, "http://a.test/")
        request.localBinding = .address(server.endpoint.address)
        let response = try await client.fetch(request)
        #expect(response.transaction?.failedAttempts.map(\.phase) == [HTTPError.Phase.connect])
        #expect(resolver.reported == ["\(server.authority) a.test"])
    }

    @Test("A connection is not used after its idle time, also if the time passes while a resolver is asked")
    func idleTime() async throws {
        // Sooner than the pool itself looks for connections whose time is over.
        let server = try FixtureServer.start { _ in .text("ok", ["Keep-Alive": "timeout=2"]) }
        let (barrier, count, endpoint) = (Barrier(), Locked(0), server.endpoint)
        let resolver = ScriptedResolver { _, _ in
            let isSecond = count.withLock { count in
                count += 1
                return count == 2
            }
            if isSecond { await barrier.pass() }
            return Resolution([endpoint], source: .resolver("scripted"))
        }
        let client = time.client {
            $0.resolver = resolver
            $0.idleTimeout = .seconds(100)
            $0.timeouts.resolve = .seconds(600)
        }
        _ = try await client.get("http://a.test/")
        let call = Task { try await client.get("http://a.test/") }
        await barrier.arrivals(1)
        time.advance(by: .milliseconds(1500))
        barrier.open()
        #expect(try await !call.value.isReused)
    }

    @Test("A server that does not answer an offered session of TLS 1.2 gets a full handshake the next time")
    func timedOutHandshake() async throws {
        let answer: FixtureBehaviour = .http { _ in .text("ok", ["Connection": "close"]) }
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            behaviour: .sequence([answer, .bytes(.silent), answer])
        )
        let client = time.client {
            $0.tls.maximumVersion = .tls12
            $0.timeouts = Timeouts(tls: .seconds(5))
        }
        let request = server.request(server.https("a.test"))
        _ = try await client.fetch(request)
        let (result, _) = await time.passing(.seconds(5)) { try await client.fetch(request) }
        #expect(throws: HTTPError.self) { try result.get() }
        _ = try await client.fetch(request)
        #expect(server.records.map { $0.isResumed }.last == false)
    }
}
