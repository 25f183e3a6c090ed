import DirectHTTP
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Requests of a probe", .idleLimit)
struct HTTPTests {
    private let root = TestAuthority()

    private func server(_ handler: @escaping FixtureHandler) throws -> FixtureServer {
        try FixtureServer.start(.tls(root.certificate(for: "a.test")), handler: handler)
    }

    private func probe(_ server: FixtureServer, _ options: String..., host: String = "a.test") async throws
        -> Outcome
    {
        try await SNIProbeTests.probe(
            ["https://\(host):\(server.port)/x?y@\(server.address)"] + options,
            trusting: root.rootPEM
        )
    }

    @Test("A URL sends one request over the connection that was judged")
    func aURLSendsARequestOverTheConnectionThatWasJudged() async throws {
        let server = try server { _ in
            .bytes(Array("abc".utf8), ["Strict-Transport-Security": "max-age=31536000"])
        }
        let outcome = try await probe(server, "-H", "X-Test: 1")
        #expect(outcome.code == 0)
        let exchange = outcome.record?.observation.exchange
        #expect(exchange?.head?.status.code == 200)
        #expect(exchange?.bodyCount == 3)
        #expect(exchange?.bodyHash?.prefix(2) == [0xba, 0x78])
        let request = try await server.nextRequest()
        #expect(request.target == "/x?y")
        #expect(server.requests.count == 1)
    }

    @Test(
        "A response without content is at its end with its head, though the server keeps the connection",
        arguments: ["HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]
    )
    func noContent(_ answer: String) async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitHead, .send(answer), .awaitClose]))
        let outcome = try await SNIProbeTests.probe(
            ["http://a.test:\(server.port)/@\(server.address)", "-t", "5s"],
            trusting: root.rootPEM,
            on: .still
        )
        #expect(outcome.code == 0 && outcome.record?.observation.exchange?.bodyCount == 0)
    }

    @Test("No request is sent to a server with a wrong certificate, except with -k")
    func nothingIsSentToAServerThatDoesNotProveWhoItIsUnlessInsecure() async throws {
        let server = try server { _ in .text("hello") }
        let refused = try await probe(server, host: "b.test")
        #expect(refused.code == 60)
        #expect(refused.record?.observation.exchange == nil)
        #expect(server.requests.isEmpty)
        let insecure = try await probe(server, "-k", host: "b.test")
        #expect(insecure.code == 60)
        #expect(insecure.record?.observation.exchange?.head?.status.code == 200)
    }

    @Test("A status outside the permitted ones is a fault")
    func statusesOutsideTheListFail() async throws {
        let server = try server { _ in .status(503) }
        #expect(try await probe(server).code == 22)
        #expect(try await probe(server, "--status", "200,500-599").code == 0)
    }

    @Test("A redirect is reported and not followed")
    func redirectsAreShownNotFollowed() async throws {
        let server = try server { _ in .redirect(to: "/elsewhere") }
        let outcome = try await probe(server)
        #expect(outcome.code == 0)
        #expect(outcome.record?.observation.exchange?.head?.headers["Location"] == "/elsewhere")
        #expect(server.requests.count == 1)
    }

    @Test("A response that is truncated, malformed or missing is a fault of HTTP")
    func anAnswerThatBreaksOffOrNeverComesIsNoFaultOfTLS() async throws {
        let cut = try server { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", then: .cut) }
        #expect(try await probe(cut).code == 56)
        let nonsense = try server { _ in .raw("nonsense\r\n\r\n", then: .close) }
        #expect(try await probe(nonsense).code == 56)
        let silent = try server { _ in .script([.stall]) }
        let late = try await SNIProbeTests.probe(
            ["https://a.test:\(silent.port)/@\(silent.address)"],
            trusting: root.rootPEM,
            at: silent
        ) { $0.contains { !$0.requests.isEmpty } && $0.contains { $0.requests.isEmpty && $0.end != nil } }
        #expect(late.faults == ["timeout_http"])
    }

    @Test("A request without TLS passes without a certificate")
    func aRequestWithoutTLSChecksNoCertificate() async throws {
        let plain = try FixtureServer.start { _ in .text("hello") }
        let outcome = try await SNIProbeTests.probe(["http://a.test:\(plain.port)/@127.0.0.1"])
        #expect(outcome.code == 0)
        #expect(outcome.record?.observation.exchange?.bodyCount == 5)
    }

    @Test("A response that comes before the request is sent counts, though the connection is lost then")
    func earlyResponse() async throws {
        let answer = "HTTP/1.1 431 Too Large\r\nContent-Length: 2\r\n\r\nno"
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .send(answer), .reset]))
        // More than the buffers of both systems hold.
        let field = "X-Large: " + String(repeating: "a", count: 32 << 20)
        let outcome = try await SNIProbeTests.probe(
            ["http://a.test:\(server.port)/", "@127.0.0.1", "-H", field]
        )
        #expect(outcome.faults == ["http_status"])
        #expect(outcome.record?.observation.exchange?.head?.status == 431)
        #expect(outcome.record?.observation.exchange?.bodyCount == 2)
    }
}
