@testable import DirectCore
import DirectHTTP1
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

/// Settings of a client that only what comes over the wire can tell.
@Suite("A client's settings", .idleLimit)
struct ClientSettingsTests {
    @Test("The client's `limits` bound the head that it reads")
    func limits() async throws {
        let server = try FixtureServer.start { _ in
            .text("hello").adding("X-Long", value: String(repeating: "x", count: 200))
        }
        let client = HTTPClient { $0.limits.headBytes = 100 }
        let error = try await httpError { try await client.get(server.http()) }
        #expect(error.protocolError == .headTooLarge(limit: 100))
        #expect(try await HTTPClient().get(server.http()).text == "hello")
    }

    @Test("The client's `leniency` accepts responses that a strict client refuses")
    func leniency() async throws {
        let text = "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"
        let server = try FixtureServer.start { _ in .raw(text, then: .close) }
        let client = HTTPClient { $0.leniency.acceptsBareLineFeeds = true }
        #expect(try await client.get(server.http()).text == "ok")
        let error = try await httpError { try await HTTPClient().get(server.http()) }
        #expect(error.protocolError == .bareLineFeed)
    }

    @Test("The client's `maximumConnectionAge` ends the use of a connection that is never idle for long")
    func maximumConnectionAge() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let clock = HeldClock()
        let client = HTTPClient {
            $0.loop = EventLoop(clock: clock)
            $0.idleTimeout = .seconds(1_000_000)
            $0.maximumConnectionAge = .seconds(1000)
        }
        #expect(try await !client.get(server.http()).isReused)
        clock.advance(by: .seconds(999))
        #expect(try await client.get(server.http()).isReused)
        clock.advance(by: .seconds(1))
        #expect(try await !client.get(server.http()).isReused)
    }

    @Test("The client's `idleTimeout` ends the use of a connection that was idle for as long, and not before")
    func idleTimeout() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let clock = HeldClock()
        let client = HTTPClient {
            $0.loop = EventLoop(clock: clock)
            $0.idleTimeout = .seconds(20)
        }
        #expect(try await !client.get(server.http()).isReused)
        clock.advance(by: .seconds(19))
        #expect(try await client.get(server.http()).isReused)
        clock.advance(by: .seconds(20))
        #expect(try await !client.get(server.http()).isReused)
    }

    @Test("The client's `loop` is its executor")
    func loop() {
        let loop = EventLoop()
        #expect(HTTPClient { $0.loop = loop }.executor === loop)
        #expect(HTTPClient().executor === EventLoop.shared)
    }

    @Test("The limits of a request apply while its connections are made in advance")
    func prewarming() async throws {
        let server = try FixtureServer.unresponsive()
        var request = Request(.get, server.http())
        request.timeouts.connect = .seconds(7)
        let time = HeldTime()
        let client = time.client()
        let (result, _) = await time.passing(.seconds(7)) { [request] in try await client.prewarm(request) }
        let error = try await httpError { try result.get() }
        guard case .timedOut(after: .seconds(7)) = error.reason else { throw error }
    }

    @Test("`prewarm` makes no more connections than each limit permits", arguments: 0..<3)
    func prewarmingLimits(which: Int) async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = HTTPClient {
            if which == 0 { $0.maximumConnectionsPerOrigin = 2 }
            if which == 1 { $0.maximumConnections = 2 }
            if which == 2 { $0.maximumIdleConnections = 2 }
        }
        try await client.prewarm(server.http(), connections: 5)
        #expect(client.connections.flatMap(\.connections).count == 2)
        try await server.waitUntil { $0.count == 2 }
    }

    @Test("The client's `minimumVersion` refuses a server with older versions only")
    func minimumVersion() async throws {
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")) { $0.maximumVersion = .tls12 }
        ) { _ in .text("hello") }
        let client = HTTPClient.trusting { $0.tls.minimumVersion = .tls13 }
        let request = server.request("https://a.test/")
        #expect(try await httpError { try await client.fetch(request) }.phase == .tls)
        #expect(try await HTTPClient.trusting().fetch(request).text == "hello")
    }

    @Test("The client's `maximumVersion` is the newest version that it offers")
    func maximumVersion() async throws {
        let server = try FixtureServer.secure("a.test")
        let client = HTTPClient.trusting { $0.tls.maximumVersion = .tls12 }
        let response = try await client.fetch(server.request("https://a.test/"))
        #expect(response.transaction?.tls?.version == .tls12)
    }

    @Test("The client's `certificateRules` refuse a certificate that another client accepts")
    func certificateRules() async throws {
        var profile = CertificateProfile(for: "a.test")
        profile.purposes = []
        let server = try FixtureServer.start(.tls(testAuthority.issue(profile))) { _ in .text("hello") }
        let client = HTTPClient.trusting { $0.tls.certificateRules = .webPKI }
        let request = server.request("https://a.test/")
        #expect(try await httpError { try await client.fetch(request) }.certificateFault != nil)
        #expect(try await HTTPClient.trusting().fetch(request).text == "hello")
    }

    @Test("A client without resumption makes a full handshake each time", arguments: [true, false])
    func resumption(resumes: Bool) async throws {
        let server = try FixtureServer.secure("a.test") { _ in .text("hello").then(.close) }
        let client = HTTPClient.trusting { $0.tls.resumesSessions = resumes }
        for _ in 0..<2 { _ = try await client.fetch(server.request("https://a.test/")) }
        #expect(server.records.map(\.isResumed) == [false, resumes])
    }

    @Test("The client's certificate is shown to a server that requests it")
    func clientIdentity() async throws {
        let own = testAuthority.certificate(for: "me.test")
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")) { $0.clientCertificates = .requested }
        ) { _ in .text("hello") }
        let client = HTTPClient.trusting {
            $0.tls.clientIdentity = ClientIdentity(
                certificateChain: Array(own.pem.utf8),
                privateKey: Array(own.keyPEM.utf8)
            )
        }
        #expect(try await client.fetch(server.request("https://a.test/")).text == "hello")
        #expect(server.records.first?.tls?.clientCertificate == own.der)
    }
}
