import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Protocols that change to TLS")
struct StartTLSTests {
    private let root = TestAuthority()

    private func server() throws -> FixtureServer {
        try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
    }

    private func probe(_ relay: DialogueRelay, _ options: String...) async throws -> Outcome {
        try await SNIProbeTests.probe(
            ["a.test@127.0.0.1:\(relay.port)", "--skip-default"] + options,
            trusting: root.rootPEM
        )
    }

    /// The greeting of MySQL with these capabilities in the second byte.
    private static func greeting(_ capabilities: UInt8) -> [UInt8] {
        var body: [UInt8] = [10]
        body += Array("8.0.36\0".utf8)
        body += [7, 0, 0, 0]
        body += Array("12345678".utf8)
        body += [0, 0xFF, capabilities, 33, 2, 0, 0xFF, 0xC1, 21]
        body += [UInt8](repeating: 0, count: 10)
        body += Array("123456789012\0".utf8)
        return [UInt8(body.count), 0, 0, 0] + body
    }

    private static let ldapRequest: [UInt8] =
        [0x30, 29, 0x02, 0x01, 0x01, 0x77, 24, 0x80, 22] + Array("1.3.6.1.4.1.1466.20037".utf8)

    private static let consents: [(StartTLS, [DialogueRelay.Step])] = [
        (
            .smtp,
            [
                .send("220-mail.test ESMTP\r\n220 ready\r\n"), .expect("EHLO sni-probe\r\n"),
                .send("250-mail.test\r\n250-SIZE 1\r\n250 STARTTLS\r\n"), .expect("STARTTLS\r\n"),
                .send("220 go ahead\r\n"),
            ]
        ),
        (
            .imap,
            [.send("* OK ready\r\n"), .expect("a STARTTLS\r\n"), .send("* CAPABILITY\r\na OK begin\r\n")]
        ),
        (.pop3, [.send("+OK ready\r\n"), .expect("STLS\r\n"), .send("+OK begin\r\n")]),
        (
            .ldap,
            [
                .expectBytes(ldapRequest),
                .sendBytes([
                    0x30, 0x0C, 0x02, 0x01, 0x01, 0x78, 0x07, 0x0A, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00,
                ]),
            ]
        ),
        (.postgres, [.expectBytes([0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F]), .send("S")]),
        (.mysql, [.sendBytes(greeting(0xFF)), .expectBytes([32, 0, 0, 1, 0, 0x8A]), .skip(30)]),
        (
            .xmpp,
            [
                .skipTo("streams'>"),
                .send("<stream:stream from='a.test'><stream:features><starttls "),
                .send("xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>"),
                .expect("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
                .send("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
            ]
        ),
        (
            .xmppServer,
            [
                .skipTo("jabber:server'"), .skipTo("streams'>"),
                .send("<stream:stream from='a.test'><stream:features>"),
                .send("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>"),
                .expect("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
                .send("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
            ]
        ),
        (
            .lmtp,
            [
                .send("220 mail.test LMTP\r\n"), .expect("LHLO sni-probe\r\n"),
                .send("250-mail.test\r\n250 STARTTLS\r\n"), .expect("STARTTLS\r\n"),
                .send("220 go ahead\r\n"),
            ]
        ),
        (
            .ftp,
            [
                .send("220-Welcome\r\n to this server\r\n220 ready\r\n"), .expect("AUTH TLS\r\n"),
                .send("234 Proceed with negotiation.\r\n"),
            ]
        ),
        (.nntp, [.send("201 news.test\r\n"), .expect("STARTTLS\r\n"), .send("382 continue\r\n")]),
        (
            .sieve,
            [
                .send("\"IMPLEMENTATION\" \"Dovecot\"\r\n\"STARTTLS\"\r\nOK \"ready\"\r\n"),
                .expect("STARTTLS\r\n"), .send("OK \"Begin TLS negotiation now.\"\r\n"),
            ]
        ),
        (
            .irc,
            [
                .send(":irc.test NOTICE * :*** Looking up your hostname\r\n"), .expect("STARTTLS\r\n"),
                .send(":irc.test 670 * :STARTTLS successful, proceed with TLS handshake\r\n"),
            ]
        ),
    ]

    @Test("Each protocol leads to the handshake", arguments: StartTLS.allCases)
    func consent(_ upgrade: StartTLS) async throws {
        let server = try server()
        let steps = try #require(Self.consents.first { $0.0 == upgrade }?.1)
        let relay = try DialogueRelay(steps, to: server.port)
        let outcome = try await probe(relay, "--starttls", upgrade.rawValue)
        #expect(outcome.code == 0, "\(outcome.record?.faults.first?.text ?? "")")
        #expect(server.records.map(\.serverName) == ["a.test"])
    }

    private static let refusals: [(StartTLS, [DialogueRelay.Step])] = [
        (
            .smtp,
            [
                .send("220 a\r\n"), .skipTo("\r\n"), .send("250 a\r\n"), .skipTo("\r\n"),
                .send("454 no TLS\r\n"),
            ]
        ),
        (.imap, [.send("* OK\r\n"), .skipTo("\r\n"), .send("a BAD unknown\r\n")]),
        (.pop3, [.send("+OK\r\n"), .skipTo("\r\n"), .send("-ERR unknown\r\n")]),
        (
            .ldap,
            [.skip(31), .sendBytes([0x30, 0x0C, 2, 1, 1, 0x78, 7, 0x0A, 1, 2, 4, 0, 4, 0])]
        ),
        (.postgres, [.skip(8), .send("N")]),
        (.mysql, [.sendBytes(greeting(0xF7))]),
        (.xmpp, [.skipTo("streams'>"), .send("<stream:stream><stream:features></stream:features>")]),
        (.xmppServer, [.skipTo("streams'>"), .send("<stream:stream><stream:features></stream:features>")]),
        (.lmtp, [.send("220 a\r\n"), .skipTo("\r\n"), .send("500 what?\r\n")]),
        (.ftp, [.send("220 a\r\n"), .skipTo("\r\n"), .send("530 Please login with USER and PASS.\r\n")]),
        (.nntp, [.send("200 a\r\n"), .skipTo("\r\n"), .send("580 Can not initiate TLS\r\n")]),
        (.sieve, [.send("\"SIEVE\" \"fileinto\"\r\nOK\r\n"), .skipTo("\r\n"), .send("NO \"no TLS\"\r\n")]),
        (.irc, [.skipTo("\r\n"), .send(":irc.test 691 * :STARTTLS failed\r\n")]),
    ]

    @Test("A server that does not change to TLS is a fault with its words", arguments: StartTLS.allCases)
    func refusal(_ upgrade: StartTLS) async throws {
        let steps = try #require(Self.refusals.first { $0.0 == upgrade }?.1)
        // The last step keeps the connection open.
        let relay = try DialogueRelay(steps + [.skip(1)], to: 0)
        let outcome = try await probe(relay, "--starttls", upgrade.rawValue)
        #expect(outcome.code == 35)
        #expect(outcome.faults == ["not_tls"])
        #expect(outcome.record?.faults.first?.text.hasPrefix("the server does not change to TLS: ") == true)
        if upgrade == .smtp { #expect(outcome.record?.faults.first?.text.hasSuffix("'454 no TLS'") == true) }
    }

    @Test("An error in place of MySQL's greeting is told by its number and its words")
    func mysqlError() async throws {
        let text = Array("Host 'a' is blocked".utf8)
        let packet = [UInt8(3 + text.count), 0, 0, 0, 0xFF, 0x69, 4] + text
        let relay = try DialogueRelay([.sendBytes(packet), .skip(1)], to: 0)
        let record = try #require(try await probe(relay, "--starttls", "mysql").record)
        let words = "the server does not change to TLS: 'ERROR 1129: Host 'a' is blocked'"
        #expect(record.faults.map(\.text) == [words])
        #expect(record.hint?.text.contains("turns this client away") == true)
    }

    @Test("What a binary protocol refuses with is told in words, without what is around them")
    func wordsOfRefusals() async throws {
        let fields = Array("SFATAL\0C53300\0Msorry, too many clients already\0\0".utf8)
        let error = "<stream:error><host-unknown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
        let cases: [(StartTLS, [DialogueRelay.Step], String)] = [
            (
                .postgres, [.skip(8), .sendBytes([0x45, 0, 0, 0, UInt8(fields.count + 4)] + fields)],
                "'ERROR: sorry, too many clients already'"
            ),
            (.mysql, [.sendBytes(Self.greeting(0xF7))], "'MySQL 8.0.36 without TLS'"),
            (
                .ldap, [.skip(31), .sendBytes([0x30, 0x0C, 2, 1, 1, 0x78, 7, 0x0A, 1, 52, 4, 0, 4, 0])],
                "'result code 52'"
            ),
            (
                .xmpp,
                [
                    .skipTo("streams'>"),
                    .send("<?xml version='1.0'?><stream:stream>\(error)</stream:stream>"),
                ],
                "'<stream:error><host-unknown"
            ),
        ]
        for (upgrade, steps, words) in cases {
            let relay = try DialogueRelay(steps + [.skip(1)], to: 0)
            let record = try await probe(relay, "--starttls", upgrade.rawValue).record
            let text = record?.faults.first?.text ?? ""
            #expect(text.contains(" change to TLS: \(words)"), "\(text)")
            #expect(record?.hint?.text.contains("turns this client away") == (upgrade == .postgres))
        }
    }

    @Test("A server that agrees to change to TLS and goes on without it is said to")
    func plainAfterAgreement() async throws {
        let steps: [DialogueRelay.Step] = [
            .send("+OK\r\n"), .skipTo("\r\n"), .send("+OK begin\r\n-ERR what?\r\n"), .skip(1),
        ]
        let record = try await probe(try DialogueRelay(steps, to: 0), "--starttls", "pop3").record
        #expect(record?.faults.map(\.id) == [.notTLS])
        #expect(record?.hint?.text.hasPrefix("the server has agreed to change to TLS") == true)
    }

    @Test("The hint says at which part of the dialogue the server refuses")
    func parts() async throws {
        let cases: [(StartTLS, [DialogueRelay.Step], String)] = [
            (.smtp, [.send("554 no\r\n")], "turns this client away"),
            (.imap, [.send("* BYE no\r\n")], "turns this client away"),
            (.pop3, [.send("-ERR no\r\n")], "turns this client away"),
            (
                .smtp, [.send("220 a\r\n"), .skipTo("\r\n"), .send("550 no\r\n")],
                "how this client introduces"
            ),
            (.smtp, try #require(Self.refusals.first { $0.0 == .smtp }).1, "does not work for now"),
            (.lmtp, try #require(Self.refusals.first { $0.0 == .lmtp }).1, "how this client introduces"),
            (.ftp, try #require(Self.refusals.first { $0.0 == .ftp }).1, "TLS is not set up"),
            (.pop3, try #require(Self.refusals.first { $0.0 == .pop3 }).1, "TLS is not set up"),
        ]
        for (upgrade, steps, words) in cases {
            let relay = try DialogueRelay(steps + [.skip(1)], to: 0)
            let outcome = try await probe(relay, "--starttls", upgrade.rawValue)
            #expect(outcome.record?.hint?.text.contains(words) == true, "\(upgrade) \(words)")
        }
    }

    @Test("A server that says nothing is silent, and one that leaves has closed")
    func silence() async throws {
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        let outcome = try await SNIProbeTests.probe(
            ["a.test@\(silent.authority)", "--starttls", "smtp", "--skip-default"],
            trusting: root.rootPEM,
            at: silent
        ) { $0.count == 1 }
        #expect(outcome.faults == ["timeout_tls"])
        #expect(outcome.record?.faults.first?.text == "no change to TLS in 300 ms")
        let leaving = try await probe(try DialogueRelay([], to: 0), "--starttls", "smtp")
        #expect(leaving.faults == ["reset"])
        #expect(leaving.record?.faults.first?.text.hasSuffix(" before TLS") == true)
        for record in [outcome.record, leaving.record] {
            #expect(record?.hint?.text.contains("may begin with TLS, then leave out --starttls") == true)
        }
    }

    @Test("The port is that of the protocol unless another is given, and URLs are refused")
    func ports() throws {
        func port(_ words: String...) throws -> UInt16? {
            let feed = try ProbeFeed(try Options(words + ["--starttls", "imap"]))
            guard case .probe(let probe) = feed.step() else { return nil }
            return probe.port
        }
        #expect(try port("a.test@127.0.0.1") == 143)
        #expect(try port("a.test:1143@127.0.0.1") == 1143)
        #expect(try port("a.test:443@127.0.0.1") == 443)
        #expect(throws: UsageError.self) { _ = try port("https://a.test/@127.0.0.1") }
        #expect(throws: UsageError.self) { _ = try Options(["a.test", "--starttls", "telnet"]) }
    }

    @Test("A PROXY header of either version precedes the handshake")
    func proxyHeader() async throws {
        let server = try server()
        let text = try DialogueRelay(
            [.expect("PROXY TCP4 127.0.0.1 127.0.0.1 "), .skipTo("\r\n")],
            to: server.port
        )
        #expect(try await probe(text, "--proxy-protocol", "1").code == 0)
        let binary = try DialogueRelay(
            [
                .expectBytes([
                    0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12,
                ]),
                .expectBytes([127, 0, 0, 1, 127, 0, 0, 1]), .skip(4),
            ],
            to: server.port
        )
        #expect(try await probe(binary, "--proxy-protocol", "2").code == 0)
    }

    @Test("A connection that ends after the server has agreed to TLS expects no header of a load balancer")
    func endsAfterAgreement() async throws {
        let relay = try DialogueRelay(
            [
                .send("220 mail\r\n"), .expect("EHLO sni-probe\r\n"), .send("250 STARTTLS\r\n"),
                .expect("STARTTLS\r\n"), .send("220 go\r\n"),
            ],
            to: 0,
            connections: 20
        )
        let words = ["a.test@127.0.0.1:\(relay.port)", "--starttls", "smtp"]
        let hint = try await SNIProbeTests.probe(words, trusting: root.rootPEM).record?.hint?.text ?? ""
        #expect(hint.contains("has agreed to change to TLS") && !hint.contains("PROXY"), "\(hint)")
    }
}
