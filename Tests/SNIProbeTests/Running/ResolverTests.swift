import DirectTestPeers
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Several resolvers")
struct ResolverTests {
    private let root = TestAuthority()

    /// A good server and one that does not know the host, at the same port of two addresses.
    private struct Pool {
        let port: UInt16
        let servers: [FixtureServer]

        init(_ root: TestAuthority) throws {
            let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3"])
            servers = try zip(["127.0.0.2", "127.0.0.3"], ["a.test", "b.test"]).map { address, name in
                try FixtureServer.start(.tls(root.certificate(for: name)), on: address, port: port.number) {
                    _ in
                    .text("")
                }
            }
            self.port = UInt16(port.number)
        }
    }

    private static func peer(_ last: UInt8...) throws -> DNSPeer {
        try DNSPeer { [last] question in [DNSPeer.reply(to: question, last.map { [127, 0, 0, $0] })] }
    }

    private static func word(_ peer: DNSPeer) -> String { "dns://127.0.0.1:\(peer.port)" }

    @Test("All are asked, each address is probed once, and the bad server is laid to those that give it")
    func difference() async throws {
        let pool = try Pool(root)
        let (good, bad) = (try Self.peer(2), try Self.peer(2, 3))
        defer { for peer in [good, bad] { peer.stop() } }
        let outcome = try await probe(
            ["a.test:\(pool.port)", "--resolver", Self.word(good), "--resolver", Self.word(bad)],
            trusting: root.rootPEM
        )
        #expect(outcome.code == 60)
        #expect(outcome.records.map { "\($0.observation.probe.address)" } == ["127.0.0.2", "127.0.0.3"])
        #expect(outcome.records.map(\.passed) == [true, false])
        let failed = try #require(outcome.records.last)
        #expect(failed.hint?.text.hasSuffix("Only users of \(Self.word(bad)) get 127.0.0.3") == true)
        var digest = Digest()
        for record in outcome.records { digest.add(record) }
        let text = Summary(digest: digest, style: Style(width: 200), interrupted: false, hints: false).text
        #expect(text.contains("a.test: the resolvers differ\n  \(Self.word(good))"))
        #expect(text.contains("127.0.0.2, 127.0.0.3  (TTL 60 s, "))
        #expect(text.contains("127.0.0.3 is given by \(Self.word(bad)) only, and fails: wrong: b.test\n"))
        let line = String(decoding: JSONRecord(failed).line, as: UTF8.self)
        #expect(line.contains("\"source\":\"resolver\""))
        #expect(
            line.contains(
                "{\"resolver\":\"\(Self.word(good))\",\"gives_ip\":false,\"addresses\":[\"127.0.0.2\"],"
            )
        )
        #expect(line.contains("{\"resolver\":\"\(Self.word(bad))\",\"gives_ip\":true,"))
    }

    @Test("A resolver that gives no address is a failure beside the probes of the others")
    func silence() async throws {
        let pool = try Pool(root)
        let good = try Self.peer(2)
        let nameless = try DNSPeer { [DNSPeer.reply(to: $0, [], code: 3)] }
        defer { for peer in [good, nameless] { peer.stop() } }
        let outcome = try await probe(
            ["a.test:\(pool.port)", "--resolver", Self.word(nameless), "--resolver", Self.word(good)],
            trusting: root.rootPEM
        )
        #expect(outcome.code == 6)
        #expect(outcome.records.map(\.passed) == [true, false])
        #expect(
            outcome.records.last?.faults.first?.text
                == "name not resolved by \(Self.word(nameless)): the name does not exist"
        )
        let none = try await probe(
            ["a.test", "--resolver", Self.word(nameless)],
            trusting: root.rootPEM
        )
        #expect(none.faults == ["dns"])
    }

    @Test("The same answer of all resolvers blames none of them")
    func unanimity() async throws {
        let pool = try Pool(root)
        let (one, two) = (try Self.peer(2, 3), try Self.peer(3, 2))
        defer { for peer in [one, two] { peer.stop() } }
        let outcome = try await probe(
            ["a.test:\(pool.port)", "--resolver", Self.word(one), "--resolver", Self.word(two)],
            trusting: root.rootPEM
        )
        #expect(outcome.records.last?.hint?.text.contains("only users") == false)
        var digest = Digest()
        for record in outcome.records { digest.add(record) }
        #expect(digest.resolverLines.isEmpty)
        let text = Summary(digest: digest, style: Style(), interrupted: false, hints: false).text
        #expect(text.contains("a.test: all 2 resolvers give the same"))
        // Two that give nothing do so for the same reason or not.
        for (other, isOther) in [("the name does not exist", false), ("connection refused", true)] {
            let replies = ["the name does not exist", other].map { error in
                ReportEntry.Reply(resolver: "x", givesIP: false, addresses: [], timeToLive: nil, error: error)
            }
            #expect(Digest.Lookup(host: "a.test", replies: replies).differ == isOther)
        }
    }

    @Test("DNS over HTTPS and a hosts file are resolvers as well")
    func otherKinds() async throws {
        let pool = try Pool(root)
        let service = try FixtureServer.start(.tls(root.certificate(for: "dns.test"))) { request in
            let question = DNSPeer.Question(message: try request.body)
            let reply = DNSPeer.reply(to: question, [[127, 0, 0, 3]])
            return .bytes(reply, ["Content-Type": "application/dns-message"])
        }
        let hosts = NSTemporaryDirectory() + "hosts-\(UUID().uuidString)"
        try "127.0.0.2 a.test\n".write(toFile: hosts, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: hosts) }
        let outcome = try await probe(
            [
                "a.test:\(pool.port)", "--resolver", "hosts:\(hosts)", "--resolver",
                "https://dns.test/dns-query@\(service.authority)",
            ],
            trusting: root.rootPEM
        )
        #expect(outcome.records.map(\.passed) == [true, false])
        #expect(
            outcome.records.last?.replies?.givers(of: outcome.records[1].observation.probe.address) == [
                "https://dns.test/dns-query"
            ]
        )
    }

    @Test("The system's resolver is one of them, and a name that it does not know has its words")
    func system() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "localhost"))) { _ in .text("") }
        let outcome = try await probe(
            ["localhost:\(server.port)", "-4", "--resolver", "system"],
            trusting: root.rootPEM
        )
        #expect(outcome.code == 0)
        #expect(outcome.record?.replies?.replies.map(\.resolver) == ["system"])
        #expect(outcome.record?.observation.probe.source == .resolvers(["system"]))
        // Longer than any name of DNS, for which it asks nobody.
        let long = String(repeating: "a.", count: 120) + "invalid"
        let unknown = try await probe([long, "--resolver", "system"], trusting: root.rootPEM)
        #expect(unknown.faults == ["dns"])
        #expect(unknown.record?.replies?.replies.first?.failure != nil)
    }

    @Test(
        "Specifications have their names, without accounts and secrets",
        arguments: [
            ("system", "system"), ("dns://192.0.2.53", "dns://192.0.2.53"),
            ("dns://[2001:db8::53]:5353", "dns://[2001:db8::53]:5353"),
            ("dns://192.0.2.53?subnet=203.0.113.0/24", "dns://192.0.2.53?subnet=203.0.113.0/24"),
            ("https://dns.test/@192.0.2.1", "https://dns.test/dns-query"),
            ("https://192.0.2.1/x", "https://192.0.2.1:443/x"),
            ("alibaba://139450@203.107.1.1,203.107.1.2", "alibaba@203.107.1.1"),
            ("dnspod://119.29.29.99", "dnspod@119.29.29.99"),
            ("dnspod://12@119.29.29.99", "dnspod@119.29.29.99"),
        ]
    )
    func specifications(_ text: String, _ name: String) throws {
        #expect(try ResolverSpec(text).name == name)
    }

    @Test(
        "What is no resolver is refused with words",
        arguments: [
            ("https://dns.test/dns-query", "the IP of dns.test is missing"), ("192.0.2.53", "does not take"),
            ("dns://dns.test", "is not an IP address"),
            ("dns://192.0.2.53?subnet=x", "subnet=NETWORK/LENGTH"),
            ("alibaba://203.107.1.1", "needs an account"),
            ("alibaba://1:secret@203.107.1.1", "takes no secret"),
            ("dnspod://1:secret@119.29.29.99", "takes no secret"), ("dns://192.0.2.0/24", "not networks"),
            ("hosts:", "does not take"),
        ]
    )
    func refusals(_ text: String, _ words: String) {
        #expect {
            _ = try ResolverSpec(text)
        } throws: { error in
            (error as? UsageError)?.what.contains(words) == true && !"\(error)".contains("secret@")
        }
    }

    @Test(
        "The secret of an account comes from the environment or a file, and the message about a missing file says so"
    )
    func secrets() async throws {
        let result = try await Program.run(
            ["a.test", "--resolver", "alibaba://1@127.0.0.1:1"],
            environment: ["SNI_PROBE_ALIBABA_SECRET_FILE": "/nowhere"]
        )
        #expect(result.code == 66)
        #expect(result.errors.hasPrefix("sni-probe: cannot read '/nowhere'"))
    }

    @Test("Option --resolver is refused if every target has its IPs")
    func noEffect() {
        for words in [["a.test@127.0.0.1"], ["a.test", "@127.0.0.1"]] {
            #expect(throws: UsageError.self) { _ = try Options(words + ["--resolver", "system"]) }
        }
    }
}
