import DirectTestResolvers
@testable import DirectCore
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

/// Stops the proxy when it has refused, so that no second connection to it is possible.
private struct StoppingAuthenticator: Authenticator {
    let stop: @Sendable () -> Void

    func authorization(for request: AuthenticationRequest) async throws -> String? { "Basic eDp5" }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        stop()
        return "Basic YTpi"
    }
}

@Suite("Failures of proxies", .idleLimit)
struct ProxyFailureTests {
    private let time = HeldTime()

    private func client(
        _ server: FixtureServer,
        _ scheme: String = "http",
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) throws -> HTTPClient {
        var proxy = try Proxy("\(scheme)://proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        proxy.lookup = .byClient
        return time.client { [proxy] in
            $0.proxy = ProxySettings(proxy)
            configure(&$0)
        }
    }

    @Test("After a SOCKS reply about an address the next address is tried", arguments: [1, 3, 4, 5, 6, 8])
    func replies(code: UInt8) async throws {
        let reply: [UInt8] = [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
        let server = try FixtureServer.scripted([
            .awaitBytes(3), .bytes([5, 0]), .awaitBytes(10), .bytes(reply), .awaitClose,
        ])
        var request = Request(.get, "https://a.test/")
        request.addresses = ["127.0.0.8", "127.0.0.9"]
        let error = try await httpError { [request] in try await client(server, "socks5").fetch(request) }
        #expect(error.attempts.map(\.endpoint) == ["127.0.0.8:443", "127.0.0.9:443"])
    }

    @Test("After a SOCKS reply that all addresses would get no other is tried", arguments: [2, 7])
    func finalReplies(code: UInt8) async throws {
        let server = try FixtureServer.scripted([
            .awaitBytes(3), .bytes([5, 0]), .awaitBytes(10), .bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]),
            .awaitClose,
        ])
        var request = Request(.get, "https://a.test/")
        request.addresses = ["127.0.0.8", "127.0.0.9"]
        let error = try await httpError { [request] in try await client(server, "socks5").fetch(request) }
        #expect(error.attempts.map(\.endpoint) == ["127.0.0.8:443"])
    }

    @Test("A proxy that cannot be reached is reported with its own address, and to no resolver")
    func unreachable() async throws {
        let dead = try FixtureServer.refusing()
        let resolver = ScriptedResolver("scripted", ["127.0.0.8:443", "127.0.0.9:443"])
        let client = try client(dead) { $0.resolver = resolver }
        let error = try await httpError { try await client.get("https://a.test/") }
        #expect(error.phase == .proxy && error.endpoint == dead.endpoint && error.name == "a.test")
        #expect(error.attempts.map(\.endpoint) == [dead.endpoint])
        #expect(resolver.reported.isEmpty)
    }

    @Test("A proxy that refuses its credentials says nothing about the server's address")
    func credentials() async throws {
        let server = try FixtureServer.start(behaviour: .proxy(FixtureProxy([:], credentials: "me:pw")))
        let resolver = ScriptedResolver("scripted", ["127.0.0.8:443", "127.0.0.9:443"])
        let client = try client(server) { $0.resolver = resolver }
        let error = try await httpError { try await client.get("https://a.test/") }
        #expect(error.phase == .proxy && resolver.reported.isEmpty)
    }

    @Test(
        "What ends instead of an answer was perhaps a proxy, and says nothing about the server's address",
        arguments: [("http", "HTTP/1.1 200"), ("http", ""), ("socks5", "\u{5}"), ("socks5", "")]
    )
    func noAnswer(scheme: String, text: String) async throws {
        let first = scheme == "http" ? ByteScript.Step.awaitHead : .awaitBytes(3)
        let server = try FixtureServer.scripted([first, .send(text), .halfClose, .awaitClose])
        let resolver = ScriptedResolver("scripted", ["127.0.0.8:443", "127.0.0.9:443"])
        let client = try client(server, scheme) { $0.resolver = resolver }
        let error = try await httpError { try await client.get("https://a.test/") }
        guard case .connectionClosed = error.reason else { throw error }
        #expect(error.phase == .proxy && error.isWorthRetrying && resolver.reported.isEmpty)
    }

    @Test(
        "What is no proxy is told as that, and says nothing about the server's address",
        arguments: [
            "SSH-2.0-x\r\n", "<html>No</html>", "HTTP/2 200\r\n\r\n", "\0\0\u{6}\u{4}\0\0\0\0\0",
        ],
        ["http", "socks5"]
    )
    func notAProxy(text: String, scheme: String) async throws {
        let first = scheme == "http" ? ByteScript.Step.awaitHead : .awaitBytes(3)
        let server = try FixtureServer.scripted([first, .send(text), .halfClose, .awaitClose])
        let resolver = ScriptedResolver("scripted", ["127.0.0.8:443", "127.0.0.9:443"])
        let client = try client(server, scheme) { $0.resolver = resolver }
        let error = try await httpError { try await client.get("https://a.test/") }
        guard case .proxy(.notAProxy) = error.reason else { throw error }
        #expect(error.phase == .proxy && resolver.reported.isEmpty)
    }

    @Test("A proxy that cannot be reached again after its 407 is reported with its own address")
    func reconnecting() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead,
            .send("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"),
            .awaitClose,
        ])
        let resolver = ScriptedResolver("scripted", ["127.0.0.8:443", "127.0.0.9:443"])
        let origin = try HTTPURL("http://proxy.test:\(server.port)").origin
        let endpoint = server.endpoint
        let client = try client(server) {
            $0.resolver = resolver
            $0.proxyAuthenticators[origin] = StoppingAuthenticator { server.stop() }
        }
        let error = try await httpError { try await client.get("https://a.test/") }
        #expect(error.phase == .proxy && error.endpoint == endpoint)
        #expect(error.attempts.allSatisfy { $0.endpoint == endpoint } && resolver.reported.isEmpty)
    }

    @Test("The body of a refusal is not waited for until the time to connect is over")
    func slowBody() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .bytes(Array("HTTP/1.1 407 No\r\nContent-Length: 100\r\n\r\nabc".utf8)), .awaitClose,
        ])
        let client = try client(server) { $0.timeouts = Timeouts(connect: .seconds(30)) }
        var request = Request(.get, "https://a.test/")
        request.addresses = ["127.0.0.9"]
        let (result, elapsed) = await time.passing(.seconds(1)) { [request] in
            try await httpError { try await client.fetch(request) }
        }
        guard case .proxy(.refused(let refusal)) = try result.get().reason else { throw try result.get() }
        #expect(refusal.status == 407 && refusal.body == Array("abc".utf8) && elapsed == .seconds(1))
    }
}
