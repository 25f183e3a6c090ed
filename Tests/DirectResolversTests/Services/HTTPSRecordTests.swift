import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestPeers
import DirectTestResolvers
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

@testable import DirectResolvers

@Suite("HTTPS records", .idleLimit)
struct HTTPSRecordTests {
    private let time = HeldTime()

    /// A server with these records, and the questions that it gets.
    private func server(_ configure: (inout Zone) -> Void) throws -> (FixtureServer, @Sendable () -> [String])
    {
        var zone = Zone()
        configure(&zone)
        let asked = Locked<[String]>([])
        let server = try FixtureServer.dns { [zone] question in
            asked.withLock { $0.append(Zone.question(question)) }
            return zone.reply(to: question)
        }
        return (server, { asked.withLock { $0.sorted() } })
    }

    private func resolver(
        _ server: FixtureServer,
        _ query: ServiceSettings.HTTPSRecordQuery = .brief,
        families: ServiceSettings.Families = .v4,
        loop: EventLoop = .still
    ) -> DNSOverHTTPS {
        DNSOverHTTPS(
            .insecureHTTP([server.endpoint]),
            .trusting {
                $0.httpsRecords = query
                $0.families = families
                $0.loop = loop
            }
        )
    }

    @Test("Without the setting, no HTTPS record is asked for")
    func off() async throws {
        let (server, asked) = try server { $0.add("a.test", "192.0.2.1", https: [ServiceData.record()]) }
        let resolver = resolver(server, .off)
        #expect(try await resolver.answer().https == nil)
        #expect(asked() == ["a.test 1"] && !resolver.dependsOnPort)
    }

    @Test("A record of the name itself has its addresses, its own port, and its configurations")
    func ownName() async throws {
        let (server, asked) = try server {
            $0.add("a.test", "192.0.2.1", "192.0.2.2")
            let data = ServiceData.record(port: 8443, hints: ["198.51.100.1"], ech: ServiceData.ech)
            $0.add("a.test", https: [data], seconds: 70)
        }
        let answer = try await resolver(server).answer()
        #expect(answer.endpoints == ["192.0.2.1:8443", "192.0.2.2:8443"])
        #expect(answer.timeToLive == .seconds(70) && answer.https?.timeToLive == .seconds(70))
        let record = try #require(answer.https?.records.first)
        #expect(record.endpoints == answer.endpoints && record.target == .test("a.test"))
        #expect(record.encryptedClientHello?.bytes == ServiceData.ech)
        #expect(answer.https?.record(for: "192.0.2.2:8443", port: 443) == record)
        #expect(answer.https?.record(for: "192.0.2.2:443", port: 443) == nil)
        #expect(asked() == ["a.test 1", "a.test 65"])
    }

    @Test("Plain DNS, DNS over HTTPS and DNS over JSON have the same answer", arguments: [true, false])
    func services(_ isGeneric: Bool) async throws {
        let data = ServiceData.record(alpn: ["h2"], hints: ["192.0.2.9"], ech: ServiceData.ech)
        let (doh, _) = try server { $0.add("a.test", "192.0.2.1", https: [data], seconds: 60) }
        let ech = Base64URL.encode(ServiceData.ech).replacing("-", with: "+").replacing("_", with: "/") + "="
        let text =
            isGeneric
            ? "\\\\# \(data.count) \(data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())"
            : "1 . alpn=\\\"h2\\\" ipv4hint=192.0.2.9 ech=\(ech)"
        let json = try FixtureServer.start(.plain) { request in
            let type = request.target.split(separator: "=").last ?? ""
            let data = type == "65" ? text : "192.0.2.1"
            return .text(
                "{\"Status\":0,\"Answer\":[{\"name\":\"a.test.\",\"type\":\(type),\"TTL\":60,\"data\":\"\(data)\"}]}"
            )
        }
        var zone = Zone()
        zone.add("a.test", "192.0.2.1", https: [data], seconds: 60)
        let peer = try DNSPeer { [zone] question in
            var reply = zone.reply(to: question.message)
            reply.id = UInt16(question.message[0]) << 8 | UInt16(question.message[1])
            return [reply.bytes]
        }
        defer { peer.stop() }
        var settings = ServiceSettings.trusting()
        (settings.families, settings.httpsRecords) = (.v4, .awaited)
        let loopback = Endpoint(IPAddress(.v4, high: 0, low: 0x7F00_0001), port: peer.port)
        let resolvers: [any Resolver] = [
            DNSOverHTTPS(.insecureHTTP([doh.endpoint]), settings),
            DNSOverJSON(.insecureHTTP([json.endpoint]), settings), PlainDNS([loopback], settings),
        ]
        for resolver in resolvers {
            let answer = try await resolver.answer()
            #expect(
                answer.endpoints == ["192.0.2.1"] && answer.timeToLive == .seconds(60),
                "\(resolver.name)"
            )
            let record = try #require(answer.https?.records.first, "\(resolver.name)")
            #expect(record.protocols == ["h2", "http/1.1"] && record.hints == [IPAddress("192.0.2.9")])
            #expect(record.encryptedClientHello?.bytes == ServiceData.ech)
            #expect(resolver.dependsOnPort)
        }
    }

    @Test("The records of another port have a name of their own, and http has none")
    func ports() async throws {
        let (server, asked) = try server {
            $0.add("a.test", "192.0.2.1")
            $0.add("_8443._https.a.test", https: [ServiceData.record(1, "b.test")])
            $0.add("b.test", "192.0.2.2")
        }
        let resolver = resolver(server)
        let answer = try await resolver.resolve(.test("a.test"), port: 8443, context: .init(on: .still))
        #expect(answer.endpoints == ["192.0.2.2", "192.0.2.1"])
        for port: UInt16 in [80, 8443] {
            let plain = ResolveContext(.http, on: .still)
            let answer = try await resolver.resolve(.test("a.test"), port: port, context: plain)
            #expect(answer.endpoints == ["192.0.2.1"] && answer.https == nil)
        }
        #expect(asked() == ["_8443._https.a.test 65", "a.test 1", "a.test 1", "a.test 1", "b.test 1"])
    }

    /// Two servers, and a zone in which the records of the first one's origin lead to the second.
    private func moved(_ security: FixtureSecurity) throws -> (FixtureServer, FixtureServer, FixtureServer) {
        let origin = try FixtureServer.start(security) { _ in .text("origin") }
        let elsewhere = try FixtureServer.start(security) { _ in .text("elsewhere") }
        let (server, _) = try server {
            $0.add("a.test", "127.0.0.1")
            $0.add(
                "_\(origin.port)._https.a.test",
                https: [ServiceData.record(1, "a.test", port: elsewhere.port)],
                seconds: 600
            )
        }
        return (server, origin, elsewhere)
    }

    @Test("An http URL follows no record of the https origin on its port, also behind a cache, on disk")
    func plainOrigin() async throws {
        let (server, origin, elsewhere) = try moved(.plain)
        let path = NSTemporaryDirectory() + "answers-\(UUID())"
        defer {
            for isFirst in [true, false] { try? FileManager.default.removeItem(atPath: path + "\(isFirst)") }
        }
        let dns = resolver(server, .awaited, loop: .shared)
        let name = DomainName.test("a.test")
        for isSecureFirst in [true, false] {
            let cache = CachingResolver(dns) { $0.file = path + "\(isSecureFirst)" }
            let later = CachingResolver(dns) { $0.file = path + "\(isSecureFirst)" }
            func followsRecord(_ cache: CachingResolver) async throws -> Bool {
                let answer = try await cache.resolve(name, port: origin.port, context: ResolveContext())
                return answer.https?.records.isEmpty == false
                    && answer.endpoints.first?.port == elsewhere.port
            }
            if isSecureFirst { #expect(try await followsRecord(cache)) }
            for resolver in [dns, cache, cache] as [any Resolver] {
                let client = HTTPClient.trusting { $0.resolver = resolver }
                let url = "http://a.test:\(origin.port)/"
                let form = HTTPClient.Request(
                    .post,
                    url,
                    headers: ["Authorization": "Basic YTpi"],
                    body: .text("x")
                )
                #expect(try await client.fetch(form).text == "origin")
            }
            #expect(try await followsRecord(cache))
            #expect(cache.count == 2)
            try await cache.save()
            // The answer for http is in the file, and no https URL gets it.
            #expect(try await followsRecord(later))
        }
        #expect(elsewhere.requests.isEmpty)
    }

    @Test("Where the program has chosen the addresses, no record is asked for, and none moves them")
    func chosen() async throws {
        let (server, origin, elsewhere) = try moved(
            .tls(certificates: [testAuthority.certificate(for: "a.test")])
        )
        let url = "https://a.test:\(origin.port)/"
        let dns = resolver(server, .awaited, loop: .shared)
        let cache = CachingResolver(dns)
        var map = StaticMap()
        try map.set([origin.endpoint], for: HostPattern("a.test"), port: origin.port)
        let mapped = HTTPClient.trusting { ($0.resolver, $0.addresses) = (cache, map) }
        for isKnown in [false, true] {
            // A connection of the round before leads to an address of the name itself, which will do as well.
            let client = HTTPClient.trusting { $0.resolver = cache }
            if isKnown { #expect(try await client.get(url).text == "elsewhere") }
            let asked = server.requests.count
            var requests = Array(repeating: HTTPClient.Request(.get, url), count: 2)
            requests[0].addresses = [origin.endpoint]
            requests[1].addressMap = map
            for request in requests { #expect(try await client.fetch(request).text == "origin") }
            #expect(try await mapped.get(url).text == "origin")
            #expect(server.requests.count == asked && elsewhere.requests.count == (isKnown ? 1 : 0))
        }
    }

    @Test("Targets come by priority, then the name itself, unless each record has configurations")
    func priorities() async throws {
        for hasConfigurations in [false, true] {
            let ech = hasConfigurations ? ServiceData.ech : nil
            let (server, _) = try server {
                $0.add("a.test", "192.0.2.1")
                $0.add("b.test", "192.0.2.2", seconds: 40)
                $0.add("c.test", "192.0.2.3")
                let second = ServiceData.record(9, "c.test", port: 444, ech: ServiceData.ech)
                $0.add("a.test", https: [second, ServiceData.record(3, "b.test", ech: ech)])
            }
            let answer = try await resolver(server).answer()
            let own: [Endpoint] = hasConfigurations ? [] : ["192.0.2.1"]
            #expect(answer.endpoints == ["192.0.2.2", "192.0.2.3:444"] + own)
            #expect(answer.timeToLive == .seconds(40))
            let records = try #require(answer.https)
            #expect(records.records.map(\.target) == [.test("b.test"), .test("c.test")])
            #expect(records.record(for: "192.0.2.3:444", port: 443)?.target == .test("c.test"))
            #expect(records.record(for: "192.0.2.1", port: 443) == nil)
        }
    }

    @Test("Hints count where the target has no addresses, and a record without any is left out")
    func hints() async throws {
        let (server, _) = try server {
            $0.add("a.test", "192.0.2.1")
            let hinted = ServiceData.record(1, "b.test", hints: ["192.0.2.2", "2001:db8::2"])
            $0.add("a.test", https: [hinted, ServiceData.record(2, "c.test")])
        }
        let answer = try await resolver(server).answer()
        #expect(answer.endpoints == ["192.0.2.2", "192.0.2.1"])
        #expect(answer.https?.records.map(\.target) == [.test("b.test")])
    }

    @Test("An alias leads to the records of another name, or to its addresses if it has none")
    func aliases() async throws {
        for hasRecords in [true, false] {
            let (server, asked) = try server {
                $0.add("a.test", https: [ServiceData.record(0, "b.test")])
                $0.add("b.test", https: [ServiceData.record(0, "c.test")], seconds: 20)
                $0.add("c.test", "192.0.2.3")
                if hasRecords { $0.add("c.test", https: [ServiceData.record(port: 444)]) }
            }
            let answer = try await resolver(server).answer()
            #expect(answer.endpoints == (hasRecords ? ["192.0.2.3:444", "192.0.2.3"] : ["192.0.2.3"]))
            #expect(answer.timeToLive == .seconds(20))
            #expect(answer.https?.records.map(\.priority) == (hasRecords ? [1, 0] : [0]))
            #expect(asked() == ["a.test 1", "a.test 65", "b.test 65", "c.test 1", "c.test 65"])
        }
    }

    @Test("Aliases that do not end are like no records")
    func endlessAliases() async throws {
        let (loop, _) = try server {
            $0.add("a.test", "192.0.2.1", https: [ServiceData.record(0, "b.test")])
            $0.add("b.test", "192.0.2.2", https: [ServiceData.record(0, "a.test")])
        }
        let (long, asked) = try server {
            $0.add("a.test", "192.0.2.1", https: [ServiceData.record(0, "n0.test")])
            for number in 0..<30 {
                $0.add("n\(number).test", https: [ServiceData.record(0, "n\(number + 1).test")])
            }
        }
        for server in [loop, long] {
            let answer = try await resolver(server).answer()
            #expect(answer.endpoints == ["192.0.2.1"] && answer.https?.records.isEmpty == true)
        }
        #expect(asked().count == 10)
    }

    @Test("With a malformed record none counts, and the addresses do")
    func malformed() async throws {
        let (server, _) = try server {
            let bad = ServiceData(parameters: [(3, [1])]).bytes
            $0.add("a.test", "192.0.2.1", https: [ServiceData.record(port: 8443), bad])
        }
        let answer = try await resolver(server).answer()
        #expect(answer.endpoints == ["192.0.2.1"] && answer.https?.records.isEmpty == true)
    }

    @Test("That there are no records is valid for as long as the zone says, and so is the answer")
    func denial() async throws {
        let (server, _) = try server {
            $0.add("a.test", "192.0.2.1")
            $0.denialSeconds = 45
        }
        let answer = try await resolver(server).answer()
        #expect(answer.https == HTTPSRecords([], timeToLive: .seconds(45)))
        #expect(answer.timeToLive == .seconds(45))
    }

    @Test("If the question for records fails, the addresses are the answer, for a short time")
    func failure() async throws {
        let server = try FixtureServer.dns { question in
            let isForRecords = Zone.question(question) == "a.test 65"
            return .reply(
                to: question,
                isForRecords ? [] : [.a(DNSReply.question, "192.0.2.1")],
                code: isForRecords ? 2 : 0
            )
        }
        let answer = try await resolver(server).answer()
        #expect(answer.endpoints == ["192.0.2.1"] && answer.https == nil)
        #expect(answer.timeToLive == .seconds(10))
    }

    @Test("If no addresses are known without the records, their failure is no denial")
    func failureWithoutAddresses() async throws {
        for failing in ["a.test 65", "b.test 65", "c.test 1"] {
            var zone = Zone()
            zone.add("a.test", https: [ServiceData.record(0, "b.test")])
            zone.add("b.test", https: [ServiceData.record(1, "c.test")])
            zone.add("c.test", "192.0.2.3")
            let server = try FixtureServer.dns { [zone] question in
                Zone.question(question) == failing ? .reply(to: question, code: 2) : zone.reply(to: question)
            }
            #expect(try await resolver(server).complaint() == "the server refused: SERVFAIL", "\(failing)")
        }
    }

    /// A server that is silent until the gate opens when it is asked for records.
    private func late(_ gate: Gate, at names: String..., noting reached: Locked<Bool> = Locked(false)) throws
        -> FixtureServer
    {
        var zone = Zone()
        zone.add("a.test", "192.0.2.1", https: [ServiceData.record(1, "b.test", hints: ["192.0.2.9"])])
        zone.add("b.test", "192.0.2.2")
        return try FixtureServer.start(.plain) { [zone] request in
            let message = try request.dnsMessage
            if names.contains(Zone.question(message)) {
                reached.withLock { $0 = true }
                try request.wait(for: gate)
            }
            return .bytes(zone.reply(to: message).bytes, ["Content-Type": "application/dns-message"])
        }
    }

    @Test("Late records are awaited for 50 ms after the addresses")
    func lateRecords() async throws {
        let gate = Gate()
        let server = try late(gate, at: "a.test 65")
        async let asked = resolver(server, loop: time.loop).answer(on: time.loop)
        try await time.pass(.milliseconds(50))
        let answer = try await asked
        #expect(answer.endpoints == ["192.0.2.1"] && answer.https == nil)
        #expect(answer.timeToLive == .seconds(10))
        gate.open()
    }

    @Test("A late target leaves the hints of its record")
    func lateTarget() async throws {
        let gate = Gate()
        let reached = Locked(false)
        let server = try late(gate, at: "b.test 1", noting: reached)
        async let asked = resolver(server, loop: time.loop).answer(on: time.loop)
        // The target is asked for when the record has come.
        while !reached.withLock({ $0 }) { await Task.yield() }
        try await time.pass(.milliseconds(50))
        #expect(try await asked.endpoints == ["192.0.2.9", "192.0.2.1"])
        gate.open()
    }

    /// A zone where each record of `a.test` has configurations and the target has no address.
    private static func reliant(_ others: [[UInt8]] = []) -> Zone {
        var zone = Zone()
        let record = ServiceData.record(1, "b.test", ech: ServiceData.ech)
        zone.add("a.test", "192.0.2.1", https: [record] + others)
        return zone
    }

    @Test("Where each record has configurations, the name is not reached without, whatever its targets lack")
    func missingTargets() async throws {
        let (server, _) = try server { $0 = Self.reliant() }
        #expect(try await resolver(server).complaint() == "the name has no address")
        let failing = try FixtureServer.dns { question in
            let isTarget = Zone.question(question) == "b.test 1"
            return isTarget ? .reply(to: question, code: 2) : Self.reliant().reply(to: question)
        }
        #expect(try await resolver(failing).complaint() == "the server refused: SERVFAIL")
    }

    @Test("A record without configurations lets the name be reached, though it has no address itself")
    func missingBareTarget() async throws {
        let (server, _) = try server {
            $0 = Self.reliant([ServiceData.record(2, "c.test")])
            $0.add("b.test", "192.0.2.2")
        }
        let answer = try await resolver(server).answer()
        #expect(answer.endpoints == ["192.0.2.2", "192.0.2.1"])
        #expect(answer.https?.records.map(\.target) == [.test("b.test")])
    }

    @Test("Where each record has configurations, late targets are awaited as the addresses are")
    func lateReliantTarget() async throws {
        let (gate, isAsked) = (Gate(), Locked(false))
        let server = try FixtureServer.start(.plain) { request in
            let message = try request.dnsMessage
            if Zone.question(message) == "b.test 1" {
                isAsked.withLock { $0 = true }
                try request.wait(for: gate)
            }
            var zone = Self.reliant()
            zone.add("b.test", "192.0.2.2")
            return .bytes(zone.reply(to: message).bytes, ["Content-Type": "application/dns-message"])
        }
        let resolver = resolver(server, loop: time.loop)
        async let asked = resolver.answer(on: time.loop)
        while !isAsked.withLock({ $0 }) { await Task.yield() }
        time.advance(by: .seconds(1))
        gate.open()
        #expect(try await asked.endpoints == ["192.0.2.2"])
    }

    @Test("Records that are awaited come, however late")
    func awaitedRecords() async throws {
        let gate = Gate()
        let server = try late(gate, at: "a.test 65", "a.test 28")
        let resolver = resolver(server, .awaited, families: .both, loop: time.loop)
        async let asked = resolver.answer(on: time.loop)
        try await time.waitBegins(for: .seconds(3))
        time.advance(by: .seconds(2))
        gate.open()
        #expect(try await asked.endpoints == ["192.0.2.2", "192.0.2.1"])
    }

    @Test("Chains and observed resolvers pass the records on")
    func combinations() async throws {
        let (server, _) = try server {
            $0.add("a.test", "192.0.2.1", https: [ServiceData.record(port: 8443)])
        }
        let failing = ScriptedResolver("failing", .noAddresses)
        for resolver in [
            ChainResolver(failing, resolver(server)), ObservedResolver(resolver(server)) { _ in },
        ] as [any Resolver] {
            #expect(try await resolver.answer().https?.records.map(\.port) == [8443])
            #expect(resolver.dependsOnPort)
        }
    }
}
