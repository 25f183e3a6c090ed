import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestPeers
import DirectTestResolvers
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectResolvers

@Suite("Answers that come in parts", .idleLimit)
struct PartialAnswerTests {
    private let time = HeldTime()
    private static let four: [UInt8] = [127, 0, 0, 1]
    /// An address for documentation, which is never reached.
    private static let six: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + Array(repeating: 0, count: 11) + [1]

    /// Plain DNS at these peers, under the clock of the test.
    private func dns(_ peers: DNSPeer..., configure: (inout ServiceSettings) -> Void = { _ in }) -> PlainDNS {
        var settings = ServiceSettings()
        settings.loop = time.loop
        configure(&settings)
        let servers = peers.map { Endpoint(IPAddress(.v4, high: 0, low: 0x7F00_0001), port: $0.port) }
        return PlainDNS(servers, settings)
    }

    private func context() -> ResolveContext { ResolveContext(on: time.loop) }

    /// A client that reaches no IPv6 address, as on a host without IPv6.
    private func client(_ resolver: any Resolver) -> HTTPClient {
        HTTPClient {
            $0.loop = time.loop
            $0.resolver = resolver
            $0.vetting = AddressVetting { address, _, _ in
                address.family == .v6 ? AddressRefusal(address, "no route") : nil
            }
        }
    }

    @Test(
        "A host without IPv6 reaches a name whose first datagram for A is lost, through every resolver",
        arguments: 0..<4
    )
    func lateFamily(_ way: Int) async throws {
        let lost = Locked(0)
        let peer = try DNSPeer { question in
            let isLost =
                !question.isForIPv6
                && lost.withLock { count -> Bool in
                    count += 1
                    return count == 1
                }
            return isLost ? [] : [DNSPeer.reply(to: question, [Self.four, Self.six])]
        }
        defer { peer.stop() }
        let server = try FixtureServer.start { _ in .text("hello") }
        let service = dns(peer)
        let resolvers: [any Resolver] = [
            service, CachingResolver(service, loop: time.loop), ChainResolver(service, StaticMap()),
            ObservedResolver(CachingResolver(ChainResolver(service, StaticMap()), loop: time.loop)) { _ in },
        ]
        let client = client(resolvers[way])
        async let response = client.get("http://late.test:\(server.port)/")
        while peer.questions.count < 2 { await time.settle() }
        await time.settle()
        // The question for A is sent again a second after the lost one.
        try await time.pass(.seconds(1))
        #expect(try await response.text == "hello")
        if let cache = resolvers[way] as? CachingResolver {
            while cache.contents.isEmpty { await time.settle() }
            #expect(Set(cache.contents.flatMap(\.endpoints)) == ["2001:db8::1", "127.0.0.1"])
        }
    }

    @Test("IPv6 addresses are given at once, IPv4 addresses after 50 ms, and the others when they come")
    func parts() async throws {
        for isIPv6Late in [false, true] {
            let gate = Gate()
            let server = try FixtureServer.start(.plain) { request in
                let message = try request.dnsMessage
                let reply = DNSReply.reply(to: message)
                if (reply.type == 28) == isIPv6Late { try request.wait(for: gate) }
                let address = reply.type == 28 ? "2001:db8::1" : "192.0.2.1"
                let answer = DNSReply.reply(to: message, [.a(DNSReply.question, address)])
                return .bytes(answer.bytes, ["Content-Type": "application/dns-message"])
            }
            let service = DNSOverHTTPS(.insecureHTTP([server.endpoint]), .trusting { $0.loop = time.loop })
            async let asked = service.publish(.test("a.test"), port: 443, context: context())
            if isIPv6Late { try await time.pass(.milliseconds(50)) }
            let first = try await asked
            #expect(first.endpoints == (isIPv6Late ? ["192.0.2.1"] : ["2001:db8::1"]))
            #expect(first.lacks == .family && first.timeToLive == .seconds(10))
            gate.open()
            let all = try #require(await first.rest?())
            #expect(all.endpoints == ["2001:db8::1", "192.0.2.1"])
            #expect(all.lacks.isEmpty && all.rest == nil && all.timeToLive == .seconds(300))
        }
    }

    @Test("The family that fails at one server is asked for at the next one, whatever the other family says")
    func nextServer() async throws {
        let failing = try DNSPeer { question in
            [DNSPeer.reply(to: question, [Self.six], code: question.isForIPv6 ? 0 : 2)]
        }
        let good = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four, Self.six])] }
        defer { for peer in [failing, good] { peer.stop() } }
        let answer = try await dns(failing, good).answer(on: time.loop)
        #expect(answer.endpoints == ["2001:db8::1", "127.0.0.1"] && answer.lacks.isEmpty)
        // A failure that is known before the other question is sent lets that begin at the good one, too.
        #expect(good.questions.count { !$0.isForIPv6 } == 1)
    }

    @Test("A cached answer that lacks a family is used while that is asked for, and completed")
    func cached() async throws {
        let isBroken = Locked(true)
        let peer = try DNSPeer { question in
            let fails = !question.isForIPv6 && isBroken.withLock { $0 }
            return [DNSPeer.reply(to: question, [Self.four, Self.six], code: fails ? 2 : 0)]
        }
        defer { peer.stop() }
        let cache = CachingResolver(dns(peer), loop: time.loop)
        #expect(try await cache.answer(on: time.loop).endpoints == ["2001:db8::1"])
        isBroken.withLock { $0 = false }
        // Not at once again: the servers have just failed.
        #expect(try await cache.answer(on: time.loop).endpoints == ["2001:db8::1"])
        // The question for the other family ends when it has failed, and the pause begins.
        while cache.contents.isEmpty { await Task.yield() }
        time.advance(by: .seconds(6))
        let known = try #require(
            try cache.knownAnswer(for: .test("a.test"), port: 443, context: context())
        )
        #expect(known.endpoints == ["2001:db8::1"] && known.lacks == .family)
        // The part that comes first may be the family that is known.
        var more = await known.rest?()
        while let next = await more?.rest?() { more = next }
        #expect(more?.endpoints == ["2001:db8::1", "127.0.0.1"])
        #expect(cache.contents.first?.endpoints.count == 2)
    }

    @Test("Where the family that is there cannot be reached, the lacking one is asked for at once")
    func useless() async throws {
        let isBroken = Locked(true)
        let peer = try DNSPeer { question in
            let fails = !question.isForIPv6 && isBroken.withLock { $0 }
            let six = [UInt8](repeating: 0, count: 15) + [1]
            return [DNSPeer.reply(to: question, [Self.four, six], code: fails ? 2 : 0)]
        }
        defer { peer.stop() }
        let server = try FixtureServer.start { _ in .text("hello") }
        let cache = CachingResolver(dns(peer), loop: time.loop)
        let client = HTTPClient { ($0.loop, $0.resolver) = (time.loop, cache) }
        await #expect(throws: HTTPError.self) { try await client.get("http://a.test:\(server.port)/") }
        isBroken.withLock { $0 = false }
        #expect(try await client.get("http://a.test:\(server.port)/").text == "hello")
    }

    @Test("A refresh that lacks a family does not take its addresses from a valid answer")
    func refresh() async throws {
        let isBroken = Locked(false)
        let peer = try DNSPeer { question in
            let fails = !question.isForIPv6 && isBroken.withLock { $0 }
            return [DNSPeer.reply(to: question, [Self.four, Self.six], code: fails ? 2 : 0)]
        }
        defer { peer.stop() }
        let cache = CachingResolver(dns(peer), loop: time.loop)
        #expect(try await cache.answer(on: time.loop).endpoints.count == 2)
        isBroken.withLock { $0 = true }
        // In the last tenth of its minute.
        time.advance(by: .seconds(56))
        let asked = peer.questions.count
        #expect(try await cache.answer(on: time.loop).endpoints.count == 2)
        // Once more without EDNS for the failure.
        while peer.questions.count < asked + 3 || cache.contents.first?.age != .zero { await Task.yield() }
        #expect(try await cache.answer(on: time.loop).endpoints.count == 2)
    }

    @Test("All callers of a cache get the parts, and the question goes on when they have left")
    func sharedParts() async throws {
        let peer = try DNSPeer { question in
            question.isForIPv6 || question.number > 2
                ? [DNSPeer.reply(to: question, [Self.four, Self.six])] : []
        }
        defer { peer.stop() }
        let cache = CachingResolver(dns(peer), loop: time.loop)
        async let one = cache.publish(.test("a.test"), port: 443, context: context())
        async let two = cache.publish(.test("a.test"), port: 443, context: context())
        for answer in try await [one, two] { #expect(answer.endpoints == ["2001:db8::1"]) }
        // A caller that comes now has the part without a wait.
        let three = try await cache.publish(.test("a.test"), port: 443, context: context())
        #expect(three.endpoints == ["2001:db8::1"] && cache.contents.isEmpty)
        async let rest = three.rest?()
        for _ in 0..<2 { try await time.pass(.seconds(1)) }
        #expect(await rest?.endpoints == ["2001:db8::1", "127.0.0.1"])
        #expect(cache.contents.first?.endpoints.count == 2)
    }

    @Test("A name that has no A record, or does not exist for it, has the addresses of a later AAAA record")
    func lateAfterDenial() async throws {
        let peer = try DNSPeer { question in
            guard question.isForIPv6 else { return [DNSPeer.reply(to: question, [], code: 3)] }
            return question.number > 1 ? [DNSPeer.reply(to: question, [Self.six])] : []
        }
        defer { peer.stop() }
        let service = dns(peer)
        async let answer = service.answer(on: time.loop)
        while peer.questions.count < 2 { await time.settle() }
        await time.settle()
        try await time.pass(.seconds(1))
        #expect(try await answer.endpoints == ["2001:db8::1"])
    }

    @Test("A server is not a bad one because a caller had less time than a second")
    func haste() async throws {
        let isSilent = Locked(true)
        let first = try DNSPeer { question in
            isSilent.withLock { $0 } ? [] : [DNSPeer.reply(to: question, [Self.four, Self.six])]
        }
        let second = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four, Self.six])] }
        defer { for peer in [first, second] { peer.stop() } }
        let service = dns(first, second)
        let hasty = Task {
            try await service.resolve(
                .test("a.test"),
                port: 443,
                context: ResolveContext(within: .milliseconds(100), on: time.loop)
            )
        }
        try await time.pass(.milliseconds(100))
        await #expect(throws: ResolverError.self) { try await hasty.value }
        isSilent.withLock { $0 = false }
        #expect(try await service.answer(on: time.loop).endpoints.count == 2)
        #expect(second.questions.isEmpty)
    }

    @Test("A family that a refresh has lost keeps its addresses for the time that they had, also a stale one")
    func familiesOfTheTable() {
        let second: UInt64 = 1_000_000_000
        var table = AnswerTable(
            AnswerTable.Rules(
                shortest: 0,
                longest: .max,
                otherwise: 10 * second,
                negative: 0,
                stale: 100 * second,
                refreshesAhead: false,
                capacity: 10
            )
        )
        let key = AnswerKey(host: .test("a.test"), port: 0)
        func endpoints(at time: UInt64) -> [Endpoint]? {
            guard case .answer(let answer, _) = table.find(key, at: Instant(nanoseconds: time * second))
            else {
                return nil
            }
            return answer.endpoints
        }
        func keep(_ endpoints: [Endpoint], lacks: Resolution.Lack, at time: UInt64) {
            var answer = Resolution(endpoints, timeToLive: .seconds(10), source: .resolver("r"))
            answer.lacks = lacks
            table.keep(answer, for: key, at: Instant(nanoseconds: time * second))
        }
        keep(["2001:db8::1", "192.0.2.1"], lacks: [], at: 0)
        for time: UInt64 in [5, 20, 50, 105] {
            keep(["192.0.2.\(time)"].compactMap { try? Endpoint($0) }, lacks: .family, at: time)
            #expect(endpoints(at: time)?.map(\.description) == ["192.0.2.\(time)", "2001:db8::1"])
        }
        keep(["192.0.2.3"], lacks: .family, at: 111)
        #expect(endpoints(at: 111) == ["192.0.2.3"])
    }

    @Test("The questions end when nobody holds their answer")
    func dropped() async throws {
        let peer = try DNSPeer { $0.isForIPv6 ? [DNSPeer.reply(to: $0, [Self.six])] : [] }
        defer { peer.stop() }
        let service = dns(peer)
        var first: Resolution? = try await service.publish(.test("a.test"), port: 443, context: context())
        #expect(first?.endpoints == ["2001:db8::1"])
        try await time.waitBegins(for: .seconds(1))
        first = nil
        await time.settle()
        time.advance(by: .seconds(1))
        await time.letFaultsShow()
        #expect(peer.questions.filter { !$0.isForIPv6 }.count == 1)
    }

    @Test("Records that come after the addresses are given then, and count for what is dialled later")
    func lateRecords() async throws {
        let gate = Gate()
        var zone = Zone()
        zone.add("a.test", "192.0.2.1", https: [ServiceData.record(1, "b.test", ech: ServiceData.ech)])
        zone.add("b.test", "192.0.2.2")
        let server = try FixtureServer.start(.plain) { [zone] request in
            let message = try request.dnsMessage
            if Zone.question(message) == "a.test 65" { try request.wait(for: gate) }
            return .bytes(zone.reply(to: message).bytes, ["Content-Type": "application/dns-message"])
        }
        let service = DNSOverHTTPS(
            .insecureHTTP([server.endpoint]),
            .trusting {
                ($0.loop, $0.httpsRecords, $0.families) = (time.loop, .brief, .v4)
            }
        )
        async let asked = service.publish(.test("a.test"), port: 443, context: context())
        try await time.pass(.milliseconds(50))
        let first = try await asked
        #expect(first.endpoints == ["192.0.2.1"] && first.https == nil && first.lacks == .records)
        gate.open()
        var last = first
        while let rest = last.rest, let next = await rest() { last = next }
        #expect(last.endpoints == ["192.0.2.2"] && last.https?.records.count == 1 && last.lacks.isEmpty)
    }
}
