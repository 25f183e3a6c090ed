import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Probes through a proxy", .idleLimit)
struct TunnelTests {
    private let root = TestAuthority()

    private func server() throws -> FixtureServer {
        try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("hello") }
    }

    private static let head = "CONNECT 203.0.113.7:8443 HTTP/1.1\r\nHost: 203.0.113.7:8443\r\n"

    private func probe(_ relay: DialogueRelay, _ target: String, _ options: String...) async throws -> Outcome
    {
        let words = [target, "--proxy", "http://127.0.0.1:\(relay.port)/", "--skip-default"]
        return try await SNIProbeTests.probe(words + options, trusting: root.rootPEM)
    }

    @Test("The proxy gets the IP and never the name, and the handshake and the request go through")
    func tunnel() async throws {
        let server = try server()
        let relay = try DialogueRelay(
            [.expect(Self.head + "\r\n"), .send("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n")],
            to: server.port,
            connections: 2
        )
        let bare = try await probe(relay, "a.test:8443@203.0.113.7")
        #expect(bare.code == 0)
        let text = LongForm(record: try #require(bare.record), style: Style(), verbose: false).text
        #expect(text.hasPrefix("ok    a.test @ 203.0.113.7:8443\n"))
        let page = try await probe(relay, "https://a.test:8443/@203.0.113.7")
        #expect(page.record?.observation.exchange?.bodyCount == 5)
    }

    @Test("STARTTLS and the PROXY header come after the tunnel")
    func order() async throws {
        let server = try server()
        let relay = try DialogueRelay(
            [
                .expect(Self.head + "\r\n"), .send("HTTP/1.0 200\r\n\r\n"), .skipTo("\r\n"),
                .send("220 mail\r\n"), .expect("EHLO sni-probe\r\n"), .send("250 STARTTLS\r\n"),
                .expect("STARTTLS\r\n"), .send("220 go\r\n"),
            ],
            to: server.port
        )
        let outcome = try await probe(
            relay,
            "a.test:8443@203.0.113.7",
            "--starttls",
            "smtp",
            "--proxy-protocol",
            "1"
        )
        #expect(outcome.code == 0)
    }

    @Test(
        "A refusal is that of the proxy, with its words, and says nothing of the server",
        arguments: [
            (
                "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
                "'HTTP/1.1 407 Proxy Authentication Required'"
            ),
            ("HTTP/1.1 503\r\n\r\n", "'HTTP/1.1 503'"), ("SSH-2.0-x\r\n\r\n", "'SSH-2.0-x'"),
            ("SSH-2.0-x\r\n", "'SSH-2.0-x'"), ("", "closed"),
        ]
    )
    func refusals(_ answer: String, _ words: String) async throws {
        let relay = try DialogueRelay([.expect(Self.head + "\r\n"), .send(answer)], to: 0)
        let outcome = try await probe(relay, "a.test:8443@203.0.113.7")
        #expect(outcome.faults == ["unreachable"])
        #expect(outcome.record?.faults.first?.text == "the proxy gives no connection: \(words)")
        #expect(outcome.code == 7)
        #expect(outcome.record?.hint?.text.contains("ask who runs the proxy") == true)
    }

    @Test("A connection that ends in the tunnel expects no header of a load balancer")
    func endsInTunnel() async throws {
        let relay = try DialogueRelay(
            [.expect(Self.head + "\r\n"), .send("HTTP/1.1 200\r\n\r\n")],
            to: 0,
            connections: 20
        )
        let words = ["a.test:8443@203.0.113.7", "--proxy", "http://127.0.0.1:\(relay.port)/"]
        let hint = try await SNIProbeTests.probe(words, trusting: root.rootPEM).record?.hint?.text ?? ""
        #expect(hint.hasPrefix("the proxy has given the tunnel"), "\(hint)")
    }

    @Test("A proxy that cannot be reached is named, and not the server")
    func deadProxy() async throws {
        let dead = try FixtureServer.refusing()
        let words = ["a.test@203.0.113.7", "--proxy", dead.authority, "--skip-default"]
        let outcome = try await SNIProbeTests.probe(words, trusting: root.rootPEM)
        #expect(
            outcome.record?.faults.first?.text
                == "the proxy gives no connection: \(dead.authority): connection refused"
        )
    }

    @Test("The credentials are those of the environment, in the field that a proxy expects")
    func credentials() throws {
        let endpoint = try Options(["a.test", "--proxy", "192.0.2.8:3128"]).settings.proxy?.endpoint
        #expect(endpoint.map { "\($0)" } == "192.0.2.8:3128")
        let proxy = TunnelProxy(try #require(endpoint), user: "Aladdin:open sesame")
        #expect(proxy.authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        for bad in ["proxy.test:3128", "192.0.2.8", "https://192.0.2.8:3128", ""] {
            #expect(throws: UsageError.self) { try Options(["a.test", "--proxy", bad]) }
        }
    }

    @Test(
        "An answer of the proxy without an end is no tunnel, and a target that it does not reach is said so"
    )
    func otherRefusals() async throws {
        let field = "X: " + String(repeating: "x", count: 1000) + "\r\n"
        let long = "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 70)
        let relay = try DialogueRelay([.expect(Self.head + "\r\n"), .send(long)], to: 0)
        let endless = try await probe(relay, "a.test:8443@203.0.113.7")
        #expect(endless.faults == ["unreachable"])
        #expect(endless.record?.faults.first?.text.hasSuffix("its answer has no end") == true)
        let gateway = try DialogueRelay(
            [.expect(Self.head + "\r\n"), .send("HTTP/1.1 502 Bad Gateway\r\n\r\n")],
            to: 0
        )
        let dead = try await probe(gateway, "a.test:8443@203.0.113.7")
        #expect(dead.record?.hint?.text.contains("the proxy does not reach 203.0.113.7") == true)
    }
}
