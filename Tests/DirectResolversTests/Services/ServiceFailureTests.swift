import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestPeers
import DirectTestResolvers
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("Failures of services, theirs and ours", .idleLimit)
struct ServiceFailureTests {
    private let time = HeldTime()

    private static func good(_ message: [UInt8]) -> FixtureReply {
        let reply = DNSReply.reply(to: message, [.a(DNSReply.question, "192.0.2.1")])
        return .bytes(reply.bytes, ["Content-Type": "application/dns-message"])
    }

    @Test(
        "A question is asked once more if its connection dies under reuse, by POST as well, and no more often"
    )
    func deadUnderReuse() async throws {
        let numbers = Locked(0)
        let server = try FixtureServer.start(.plain) { request in
            let number = numbers.withLock { count -> Int in
                count += 1
                return count
            }
            // The second question and its repetition die on their way; so does the third question, once.
            return [2, 3, 4].contains(number) ? .script([.cut]) : Self.good(try request.dnsMessage)
        }
        let service = DNSOverHTTPS(.insecureHTTP([server.endpoint]), .trusting { $0.families = .v4 })
        #expect(try await service.endpoints() == ["192.0.2.1"])
        await #expect(throws: ResolverError.self) { try await service.answer() }
        #expect(try await service.endpoints() == ["192.0.2.1"])
        #expect(numbers.withLock { $0 } == 5)
    }

    @Test("The wait for a connection is no part of a server's time")
    func queue() async throws {
        let (gate, arrived) = (Gate(), Locked(0))
        let server = try FixtureServer.start(.plain) { request in
            arrived.withLock { $0 += 1 }
            try request.wait(for: gate)
            return Self.good(try request.dnsMessage)
        }
        let service = DNSOverHTTPS(
            .insecureHTTP([server.endpoint]),
            .trusting {
                ($0.families, $0.loop) = (.v4, time.loop)
                $0.attemptTimeout = .seconds(3)
            }
        )
        // 64 of them have a connection, the others wait for one.
        let context = ResolveContext(within: .seconds(100), on: time.loop)
        let questions = (0..<70).map { _ in
            Task { try await service.resolve(.test("a.test"), port: 443, context: context) }
        }
        while arrived.withLock({ $0 }) < 64 { await Task.yield() }
        try await time.waitBegins(for: .seconds(100), count: 6)
        // Not long enough for any of the 64.
        time.advance(by: .milliseconds(2900))
        await time.settle()
        gate.open()
        for question in questions { #expect(try await question.value.endpoints == ["192.0.2.1"]) }
    }

    @Test("A server whose answer trickles has its share of the time, and leaves the rest to the next one")
    func trickle() async throws {
        let arrived = Barrier()
        let slow = try FixtureServer.start(.plain) { _ in
            arrived.open()
            return .script([
                .send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"),
                .drip(Array(repeating: 32, count: 100_000), every: .milliseconds(1)),
            ])
        }
        let good = try FixtureServer.start(.plain) { Self.good(try $0.dnsMessage) }
        let service = DNSOverHTTPS(
            .insecureHTTP([slow.endpoint, good.endpoint]),
            .trusting { ($0.families, $0.loop) = (.v4, time.loop) }
        )
        let context = ResolveContext(within: .seconds(10), on: time.loop)
        async let asked = service.resolve(.test("a.test"), port: 443, context: context).endpoints
        await arrived.pass()
        // Half of the caller's time, in small steps: each finds more of the answer.
        for _ in 0..<50 {
            await time.letFaultsShow()
            time.advance(by: .milliseconds(100))
        }
        #expect(try await asked == ["192.0.2.1"])
    }

    @Test("The last attempt goes to a server that the caller gave, whatever list the service named")
    func lastAttempt() throws {
        let now = Instant(nanoseconds: 1)
        let given: [Endpoint] = ["192.0.2.1", "192.0.2.2"]
        var list = ServerList(given, badTime: 100, updatedEvery: 1000)
        let begun = list.beginUpdate(at: now)
        let version = try #require(begun)
        let named = (0..<16).compactMap { IPAddress("198.51.100.\($0)") }
        list.endUpdate(named, from: version, at: now)
        func order(attempts: Int) -> [Endpoint] {
            var tried: [Endpoint] = []
            for left in (1...attempts).reversed() {
                if let next = list.next(at: now, after: tried, attempts: left) { tried.append(next.endpoint) }
            }
            return tried
        }
        #expect(order(attempts: 3) == ["198.51.100.0", "198.51.100.1", "192.0.2.1"])
        #expect(order(attempts: 1) == ["198.51.100.0"])
        #expect(Set(order(attempts: 100)).count == 18)
    }

    @Test("A full queue of ours is no reason to ask the next resolver")
    func ours() async throws {
        let full = HTTPError(.queue, .timedOut(after: .seconds(1)))
        let service = ScriptedResolver("service", .request(full))
        let system = ScriptedResolver("system", ["192.0.2.9"])
        let error = await #expect(throws: ResolverError.self) {
            try await ChainResolver(service, system).answer()
        }
        #expect(error?.source == "service" && system.asked.isEmpty)
        let theirs = ScriptedResolver("service", .request(HTTPError(.connect, .timedOut(after: .seconds(1)))))
        #expect(try await ChainResolver(theirs, system).endpoints() == ["192.0.2.9"])
    }

    @Test("A caller's haste is no reason to ask the next resolver: no step is silent within a second")
    func haste() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let slow = ScriptedResolver("slow") { _, _ in
            await gate.pass()
            throw CancellationError()
        }
        let system = ScriptedResolver("system", ["192.0.2.9"])
        let context = ResolveContext(within: .milliseconds(600), on: time.loop)
        let chain = ChainResolver(slow, system)
        async let asked = #expect(throws: ResolverError.self) {
            try await chain.resolve(.test("a.test"), port: 443, context: context)
        }
        try await time.pass(.milliseconds(600))
        #expect(await asked?.source == "slow")
        #expect(system.asked.isEmpty)
    }

    @Test("A hasty first caller of a cache does not decide for a patient one that joins its question")
    func patience() async throws {
        let gate = Barrier()
        let slow = ScriptedResolver("slow") { _, _ in
            await gate.pass()
            return Resolution(["192.0.2.1"], source: .resolver("slow"))
        }
        let system = ScriptedResolver("system", ["192.0.2.9"])
        let cache = CachingResolver(ChainResolver(slow, system), .init(), loop: time.loop)
        let hasty = ResolveContext(within: .milliseconds(1500), on: time.loop)
        async let first = #expect(throws: ResolverError.self) {
            try await cache.resolve(.test("a.test"), port: 443, context: hasty)
        }
        await gate.arrivals(1)
        // The share of the hasty one.
        try await time.waitBegins(for: .seconds(1))
        let patient = ResolveContext(within: .seconds(9), on: time.loop)
        async let second = cache.resolve(.test("a.test"), port: 443, context: patient)
        try await time.waitBegins(for: .seconds(9))
        time.advance(by: .seconds(1))
        // The share of the patient one.
        try await time.waitBegins(for: .seconds(2))
        time.advance(by: .milliseconds(600))
        _ = await first
        gate.open()
        #expect(try await second.endpoints == ["192.0.2.1"])
        #expect(system.asked.isEmpty)
    }

    @Test("A malformed answer to one name of several leaves the others' as they are", arguments: [1, 2])
    func batch(_ version: Int) async throws {
        let server = try FixtureServer.start { request in
            func entry(_ host: String, _ address: String) -> String {
                version == 1
                    ? "{\"host\":\"\(host)\",\"ips\":[\"\(address)\"],\"ttl\":60}"
                    : "{\"dn\":\"\(host)\",\"v4\":{\"ips\":[\"\(address)\"],\"ttl\":60}}"
            }
            let all = "\(entry("a.test", "192.0.2.1")),\(entry("b.test", "192.0.2.300"))"
            return .text(
                version == 1
                    ? "{\"dns\":[\(all)]}"
                    : "{\"code\":\"success\",\"mode\":0,\"data\":{\"answers\":[\(all)]}}"
            )
        }
        let resolver = AlibabaHTTPDNS(
            account: "100000",
            .insecureHTTP([server.endpoint]),
            version: version == 1 ? .one : .two,
            .trusting()
        )
        let cache = CachingResolver(resolver, .init(), loop: .still)
        let failures = await cache.warmUp([.test("a.test"), .test("b.test")])
        #expect(failures.keys.map(\.text) == ["b.test"])
        #expect(cache.contents.map(\.endpoints) == [["192.0.2.1"]])
    }

    @Test("An odd entry of several costs its name alone, and of that one the family that it is about")
    func oddEntries() async throws {
        let good = "\"ips\":[\"192.0.2.1\"],\"ttl\":60"
        let one = """
            {"dns":[{"host":"a.test",\(good)},{"host":"b.test",\(good),"type":1},
            {"host":"b.test","ips":["x"],"type":28},{\(good)},{"host":"a b",\(good)}]}
            """
        let two = """
            {"code":"success","mode":0,"data":{"answers":[{"dn":"a.test","v4":{\(good)}},
            {"dn":"b.test","v4":{\(good)},"v6":{"ips":["x"]}},{"v4":{\(good)}},{"dn":"a b","v4":{\(good)}}]}}
            """
        for (version, text) in [(AlibabaHTTPDNS.Version.one, one), (.two, two)] {
            let server = try FixtureServer.start { _ in .text(text) }
            let servers = ServiceServers.insecureHTTP([server.endpoint])
            let resolver = AlibabaHTTPDNS(account: "100000", servers, version: version, .trusting())
            let cache = CachingResolver(resolver, .init(), loop: .still)
            #expect(await cache.warmUp([.test("a.test"), .test("b.test")]).isEmpty)
            #expect(cache.contents.map(\.endpoints) == [["192.0.2.1"], ["192.0.2.1"]])
        }
    }

    @Test("JSON that answers another question is malformed, in a list of questions or alone")
    func otherQuestion() async throws {
        let text = { (question: String) in
            "{\"Status\":0,\"Question\":\(question),\"Answer\":[{\"name\":\"a.test.\",\"type\":1,\"TTL\":60,\"data\":\"192.0.2.1\"}]}"
        }
        for (question, isRight) in [
            ("[{\"name\":\"a.test.\",\"type\":1}]", true), ("{\"name\":\"A.test\",\"type\":1}", true),
            ("[{\"name\":\"b.test.\",\"type\":1}]", false), ("{\"name\":\"a.test.\",\"type\":28}", false),
        ] {
            let server = try FixtureServer.saying(text(question))
            let resolver = DNSOverJSON(.insecureHTTP([server.endpoint]), .trusting { $0.families = .v4 })
            if isRight {
                #expect(try await resolver.endpoints() == ["192.0.2.1"])
            } else {
                #expect(
                    try await resolver.complaint() == "the answer makes no sense: it answers another question"
                )
            }
        }
    }

    @Test("A server's words in an error have no character that could reorder or hide others")
    func words() {
        #expect(
            AlibabaSignature.shortened("a\u{202E}b\u{2028}c\u{200B}\u{1}é")
                == "a\u{FFFD}b\u{FFFD}c\u{FFFD}\u{FFFD}é"
        )
    }

    @Test("DNSPod is asked for both families")
    func dnsPod() async throws {
        let server = try FixtureServer.start(.plain) { request in
            .text(request.target.hasSuffix("&type=aaaa") ? "2001:db8::1,60" : "192.0.2.1,60")
        }
        let answer = try await DNSPodHTTPDNS(.insecureHTTP([server.endpoint]), .trusting()).answer()
        #expect(answer.endpoints == ["2001:db8::1", "192.0.2.1"] && server.requests.count == 2)
    }

    @Test("Answers with many endpoints, and of more authors than are kept at a time, are cached")
    func tableLimits() {
        var table = AnswerTable(
            AnswerTable.Rules(
                shortest: 1,
                longest: .max,
                otherwise: 1,
                negative: 1,
                stale: 0,
                refreshesAhead: false,
                capacity: 16
            )
        )
        let now = Instant(nanoseconds: 0)
        let many = (0..<300).map { Endpoint(IPAddress(.v4, high: 0, low: UInt64(0x0A00_0000 + $0))) }
        let key = AnswerKey(host: .test("a.test"), port: 0)
        table.keep(Resolution(many, timeToLive: .seconds(60), source: .system), for: key, at: now)
        guard case .answer(let answer, _) = table.find(key, at: now) else {
            Issue.record("not kept")
            return
        }
        #expect(answer.endpoints == many)
        for number in 0..<2500 {
            let source = AddressSource.resolver("r\(number)")
            table.keep(Resolution(["192.0.2.1"], timeToLive: .seconds(60), source: source), for: key, at: now)
            guard case .answer(let answer, _) = table.find(key, at: now),
                answer.source.author == source.author
            else {
                Issue.record("author \(number) is not kept")
                return
            }
        }
    }
}
