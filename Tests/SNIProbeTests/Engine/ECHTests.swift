import DirectHTTP
import DirectJSON
import DirectTestCommands
import DirectTestPeers
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("HTTPS records and Encrypted Client Hello", .idleLimit)
struct ECHTests {
    private let root = TestAuthority()
    private let secret = "secret.test"
    private let cover = "cover.test"

    /// The data of an HTTPS record for a target, with a hint and a configuration.
    private static func record(
        _ target: String,
        alpn: [String] = ["h2", "http/1.1"],
        hint: [UInt8]? = nil,
        config: [UInt8]? = nil
    ) -> [UInt8] {
        func parameter(_ key: UInt8, _ value: [UInt8]) -> [UInt8] {
            [0, key, UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
        }
        func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
        return [0, 1] + target.split(separator: ".").flatMap { text(String($0)) } + [0]
            + parameter(1, alpn.flatMap(text)) + (hint.map { parameter(4, $0) } ?? [])
            + (config.map { parameter(5, $0) } ?? [])
    }

    /// An ECHConfigList with a key that no server has (RFC 9849, section 4).
    private static func config(_ publicName: String) -> [UInt8] {
        let key = [UInt8](repeating: 7, count: 32)
        let name = Array(publicName.utf8)
        let contents = [1, 0, 0x20, 0, 32] + key + [0, 4, 0, 1, 0, 1, 0, UInt8(name.count)] + name + [0, 0]
        let config = [0xFE, 0x0D, 0, UInt8(contents.count)] + contents
        return [0, UInt8(config.count)] + config
    }

    /// A DNS server with this address, and these records for the origin.
    private static func peer(_ last: UInt8, _ records: [[UInt8]]) throws -> DNSPeer {
        try DNSPeer { question in
            let message = question.message
            let end = (message[12...].firstIndex(of: 0) ?? 12) + 5
            guard message[end - 3] == 65 else {
                return [DNSPeer.reply(to: question, [[127, 0, 0, last]])]
            }
            var reply = Array(message[0..<2]) + [0x81, 0x80, 0, 1, 0, UInt8(records.count), 0, 0, 0, 0]
            reply += message[12..<end]
            for record in records {
                let count = [UInt8(record.count >> 8), UInt8(record.count & 0xFF)]
                reply += [0xC0, 12, 0, 65, 0, 1, 0, 0, 0, 60] + count + record
            }
            return [reply]
        }
    }

    private func probed(_ server: FixtureServer, _ records: [[UInt8]], _ options: String...) async throws
        -> Outcome
    {
        let peer = try Self.peer(1, records)
        defer { peer.stop() }
        let words = [
            "\(secret):\(server.port)@\(server.address)", "--resolver", "dns://127.0.0.1:\(peer.port)",
        ]
        return try await probe(words + ["--ech"] + options, trusting: root.rootPEM)
    }

    private func server(_ names: [String], _ keys: FixtureECHKey?, namesKeys: Bool = true) throws
        -> FixtureServer
    {
        let certificates = names.map { root.certificate(for: $0) }
        let security = FixtureSecurity.tls(certificates: certificates, default: certificates.last) {
            guard let keys else { return }
            $0.encryptedClientHello = FixtureECH(keys)
            $0.encryptedClientHello?.namesKeys = namesKeys
        }
        return try FixtureServer.start(security) { _ in .text("") }
    }

    @Test("The records are shown, and the addresses that they name as hints are probed")
    func records() async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3"])
        let servers = try ["127.0.0.2", "127.0.0.3"].map { address in
            try FixtureServer.start(
                .tls(root.certificate(for: secret, cover)),
                on: address,
                port: port.number
            ) { _ in .text("") }
        }
        let peer = try Self.peer(
            2,
            [Self.record("svc.test", hint: [127, 0, 0, 3], config: Self.config(cover))]
        )
        defer { for server in servers { server.stop() } }
        let dns = "dns://127.0.0.1:\(peer.port)"
        let outcome = try await probe(
            ["\(secret):\(port.number)", "--resolver", dns, "--ech", "-4"],
            trusting: root.rootPEM
        )
        peer.stop()
        #expect(outcome.records.map { "\($0.observation.probe.source)" } == ["resolver", "hint"])
        #expect(outcome.records.map { $0.address?.description } == ["127.0.0.2", "127.0.0.3"])
        let record = try #require(outcome.record)
        let ech = try #require(record.observation.ech)
        #expect(ech.replies.map(\.resolver) == [dns])
        #expect(ech.replies[0].records.map(\.protocols) == [["h2", "http/1.1"]])
        #expect(ech.verdict == (FixtureECHKey.isSupported ? .refused : .notDone))
        let words = LongForm(record: record, style: Style(width: 200), verbose: false).text
        let text = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            text.contains("\(dns): alpn h2,http/1.1; target svc.test; hints 127.0.0.3; ECH under cover.test")
        )
        #expect(FixtureECHKey.isSupported || text.contains("not done: needs OpenSSL 4"))
        let json = JSONRecord(record).line
        let value = try JSONReader.read(json)
        let shown = value["ech"]?["resolvers"]?.elements?.first?["records"]?.elements?.first
        #expect(shown?["public_name"]?.text == cover && shown?["target"]?.text == "svc.test")
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/sni-probe.schema.json")
        let schema = try JSONReader.read(Array(try Data(contentsOf: file)))
        #expect(SchemaCheck(value, schema: schema).faults == [])
    }

    @Test("Each way not to have a record has its own word, for each resolver, and no answer is none")
    func withoutRecords() async throws {
        let server = try server([secret], nil)
        // What is answered to the question for records; addresses have their answer in any case.
        func peer(_ code: UInt8, _ records: [[UInt8]] = [], all: Bool = false) throws -> DNSPeer {
            try DNSPeer { question in
                let message = question.message
                let end = (message[12...].firstIndex(of: 0) ?? 12) + 5
                guard message[end - 3] == 65 || all else {
                    return [DNSPeer.reply(to: question, [[127, 0, 0, 1]])]
                }
                var reply = Array(message[0..<2]) + [0x81, 0x80 | code, 0, 1]
                reply += [0, UInt8(records.count), 0, 0, 0, 0] + message[12..<end]
                for record in records {
                    reply += [0xC0, 12, 0, 65, 0, 1, 0, 0, 0, 60, 0, UInt8(record.count)] + record
                }
                return [reply]
            }
        }
        let noHTTP1 = [0, 1, 0, 0, 1, 0, 3, 2] + Array("h3".utf8) + [0, 2, 0, 0] as [UInt8]
        let cases: [(peer: DNSPeer, words: String, verdict: String)] = [
            (try peer(0), "no HTTPS record", "not_offered"),
            (try peer(3, all: true), "the name does not exist", "not_offered"),
            (try peer(2), "the server refused: SERVFAIL", "unknown"),
            (try peer(5), "the server refused: REFUSED", "unknown"),
            (try peer(0, [[0, 1, 9]]), "an HTTPS record is malformed, so that none counts", "not_offered"),
            (try peer(0, [noHTTP1]), "its HTTPS records are for h3 only", "not_offered"),
        ]
        defer { for (peer, _, _) in cases { peer.stop() } }
        let target = "\(secret):\(server.port)@\(server.address)"
        func record(_ peers: [DNSPeer]) async throws -> ProbeRecord {
            let resolvers = peers.flatMap { ["--resolver", "dns://127.0.0.1:\($0.port)"] }
            let outcome = try await probe([target, "--ech"] + resolvers, trusting: root.rootPEM)
            return try #require(outcome.record)
        }
        func text(_ record: ProbeRecord) -> String {
            LongForm(record: record, style: Style(width: 200), verbose: false).text
        }
        for (peer, words, verdict) in cases {
            let record = try await record([peer])
            #expect(record.observation.ech?.verdict.rawValue == verdict, "\(words)")
            #expect(text(record).contains(words), "\(text(record))")
            let value = try JSONReader.read(JSONRecord(record).line)
            let error = value["ech"]?["resolvers"]?.elements?.first?["error"]
            #expect(error?.text == (words == "no HTTPS record" ? nil : words))
        }
        // Together each keeps its own.
        let all = text(try await record(cases.map(\.peer)))
        for (_, words, _) in cases { #expect(all.contains(words)) }
        var resolution = Resolution([Endpoint(.unspecified)], source: .resolver("x"))
        for (lacks, words) in [
            ([.records], "no answer within 5 s"), ([], "it knows nothing of HTTPS records"),
        ] as [(Resolution.Lack, String)] {
            resolution.lacks = lacks
            let answer = NamedResolver.Answer(resolver: "x", result: .success(resolution), time: .zero)
            let reply = RecordReply(answer, within: .seconds(5))
            #expect(!reply.isKnown && reply.failure == words)
            #expect(ECHFinding(replies: [reply]).verdict == .unknown)
        }
    }

    @Test("Without --ech no record is asked for")
    func notAsked() async throws {
        let server = try server([secret], nil)
        let peer = try Self.peer(1, [Self.record("svc.test", hint: [127, 0, 0, 3])])
        let outcome = try await probe(
            ["\(secret):\(server.port)", "--resolver", "dns://127.0.0.1:\(peer.port)"],
            trusting: root.rootPEM
        )
        #expect(outcome.records.count == 1 && outcome.record?.observation.ech == nil)
        #expect(!peer.questions.contains { $0.message.suffix(200).contains(65) && $0.message.contains(0x5F) })
        peer.stop()
    }

    @Test("A record without a configuration is shown, and a resolver that fails says why")
    func noConfiguration() async throws {
        let server = try server([secret], nil)
        let plain = try await probed(server, [Self.record(secret)])
        #expect(plain.record?.observation.ech?.verdict == .notOffered && plain.code == 0)
        let malformed = try await probed(server, [[0, 1, 0, 0, 1, 0, 9]])
        #expect(malformed.record?.observation.ech?.replies.map(\.records) == [[]])
        let silent = try await probe(
            ["\(secret)@\(server.authority)", "--resolver", "dns://127.0.0.1:9", "--ech"],
            trusting: root.rootPEM
        )
        #expect(silent.record?.observation.ech?.replies.first?.failure != nil && silent.code == 0)
        #expect(silent.record?.observation.ech?.verdict == .unknown)
    }

    @Test("The servers of resolv.conf are asked in place of the system's resolver, three at most")
    func systemServers() {
        let file = "# x\nsearch a.test\nnameserver 192.0.2.53\n nameserver\t2001:db8::1\nnameserver x\n"
        func servers(_ text: String) -> [String] {
            NamedResolver.servers(in: Array(text.utf8)).map { "\($0)" }
        }
        #expect(servers(file) == ["192.0.2.53", "2001:db8::1"])
        #expect(servers("") == ["127.0.0.1"])
        #expect(servers(String(repeating: "nameserver 192.0.2.1\n", count: 9)).count == 3)
    }

    @Test("TLS 1.2 alone and --ech contradict each other")
    func oldTLS() {
        #expect(throws: UsageError("--ech needs TLS 1.3, which --tls excludes")) {
            try Options(["a.test", "--ech", "--tls", "1.2"])
        }
    }

    @Test(
        "Accepted, stale, refused and ignored hellos are told apart",
        .enabled(if: FixtureECHKey.isSupported, "needs OpenSSL 4"),
        arguments: [
            ("accepted", 0, [Warning.ID](), [String]()), ("stale_keys", 0, [.echStale], []),
            ("refused", 0, [.echRefused], []), ("ignored", 35, [], ["ech_unusable"]),
            ("accepted wrong", 35, [], ["ech_unusable"]),
        ]
    )
    func verdicts(_ verdict: String, _ code: Int32, _ warnings: [Warning.ID], _ faults: [String]) async throws
    {
        let (key, old) = (try FixtureECHKey(publicName: cover), try FixtureECHKey(publicName: cover))
        let server =
            switch verdict {
            case "accepted": try server([secret, cover], key)
            case "stale_keys": try server([secret, cover], key)
            case "refused": try server([secret, cover], key, namesKeys: false)
            case "ignored": try server([secret, "default.test"], nil)
            default: try server([secret, cover], key)
            }
        let offered = verdict.hasPrefix("accepted") ? key : old
        var options: [String] = []
        if verdict == "accepted wrong" { options = ["--sni", secret] }
        let peer = try Self.peer(1, [Self.record(secret, config: offered.configList)])
        defer { peer.stop() }
        let host = verdict == "accepted wrong" ? "other.test" : secret
        let outcome = try await probe(
            [
                "\(host):\(server.port)@\(server.address)", "--resolver", "dns://127.0.0.1:\(peer.port)",
                "--ech",
            ]
                + options,
            trusting: root.rootPEM
        )
        let record = try #require(outcome.record)
        let ech = try #require(record.observation.ech)
        #expect(ech.verdict.rawValue == verdict.prefix { $0 != " " })
        guard verdict != "accepted wrong" else {
            return #expect(record.faults.map(\.id).contains(.echUnusable))
        }
        #expect(outcome.code == code && record.warnings.map(\.id) == warnings && outcome.faults == faults)
        #expect(ech.trials.first?.retry.map { $0.served != nil } == (verdict == "stale_keys" ? true : nil))
        let proved = ech.trials.first?.handshake.refusal?.proves(try #require(ech.trials.first?.publicName))
        #expect(proved == (verdict == "accepted" ? nil : verdict != "ignored"))
    }
}
