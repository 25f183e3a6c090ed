import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestPeers
import DirectTestResolvers
import DirectTestTime
import Testing

@testable import DirectResolvers

@Suite("Silent servers of a service", .idleLimit)
struct SilentServerTests {
    private let time = HeldTime()

    private func dns(_ peers: DNSPeer..., attempts: Int = 3) -> PlainDNS {
        var settings = ServiceSettings()
        (settings.loop, settings.maximumAttempts) = (time.loop, attempts)
        let servers = peers.map { Endpoint(IPAddress(.v4, high: 0, low: 0x7F00_0001), port: $0.port) }
        return PlainDNS(servers, settings)
    }

    private func silent() throws -> DNSPeer { try DNSPeer { _ in [] } }

    private func answering() throws -> DNSPeer {
        try DNSPeer { [DNSPeer.reply(to: $0, [[192, 0, 2, 1]])] }
    }

    /// Asks for more names than may be asked for at a time. Returns when the peer has seen the first questions.
    private func askForMany(_ resolver: any Resolver, _ peer: DNSPeer) async -> [Task<[Endpoint], any Error>]
    {
        let context = ResolveContext(within: .seconds(9), on: time.loop)
        let tasks = (0..<100).map { number in
            Task {
                try await resolver.resolve(.test("n\(number).test"), port: 443, context: context).endpoints
            }
        }
        while peer.questions.count < 128 { await Task.yield() }
        return tasks
    }

    /// Returns when the other questions of ``askForMany(_:_:)`` wait for their turn, as long as their callers.
    private func othersWait() async throws { try await time.waitBegins(for: .seconds(9), count: 72) }

    @Test("Names that wait for their turn are not asked of a server that has been found silent meanwhile")
    func order() async throws {
        let (first, second) = (try silent(), try answering())
        defer { for peer in [first, second] { peer.stop() } }
        let tasks = await askForMany(dns(first, second), first)
        try await othersWait()
        time.advance(by: .seconds(3))
        for task in tasks { #expect(try await task.value == ["192.0.2.1"]) }
    }

    @Test(
        "Names that wait behind questions to a service whose servers are all silent go to the next resolver"
    )
    func failover() async throws {
        let peer = try silent()
        defer { peer.stop() }
        let next = ScriptedResolver("next", ["192.0.2.9"])
        let tasks = await askForMany(ChainResolver(dns(peer), next), peer)
        time.advance(by: .seconds(1))
        // Those that waited are sent as well; the first 128 may be sent again.
        while Set(peer.questions.map { Zone.question($0.message) }).count < 200 { await Task.yield() }
        time.advance(by: .seconds(3))
        for task in tasks { #expect(try await task.value == ["192.0.2.9"]) }
    }

    @Test("A server that answers all names but some gives the answers to those that wait behind them")
    func deadNames() async throws {
        let peer = try DNSPeer { question in
            let isDead = Zone.question(question.message).hasPrefix("n")
            return isDead ? [] : [DNSPeer.reply(to: question, [[192, 0, 2, 1]])]
        }
        defer { peer.stop() }
        let (dns, next) = (dns(peer), ScriptedResolver("next", ["192.0.2.9"]))
        let dead = await askForMany(dns, peer)
        let context = ResolveContext(within: .seconds(9), on: time.loop)
        let good = (0..<100).map { number in
            Task {
                try await ChainResolver(dns, next).resolve(
                    .test("good\(number).test"),
                    port: 443,
                    context: context
                ).endpoints
            }
        }
        try await time.waitBegins(for: .seconds(9), count: 72 + 200)
        // The permits are those of dead names, until these have been silent for a second.
        time.advance(by: .seconds(1))
        for task in good { #expect(try await task.value == ["192.0.2.1"]) }
        #expect(next.asked.isEmpty)
        for task in dead { task.cancel() }
    }

    @Test("Names that wait behind a silent server are asked of another one, also with one attempt each")
    func oneAttempt() async throws {
        let (first, second) = (try silent(), try answering())
        defer { for peer in [first, second] { peer.stop() } }
        let tasks = await askForMany(dns(first, second, attempts: 1), first)
        try await othersWait()
        time.advance(by: .seconds(1))
        // The 128 questions that were sent have met the silent one.
        var answered = 0
        while answered < 30 {
            await Task.yield()
            answered = second.questions.count / 2
        }
        #expect(first.questions.count <= 3 * 128)
        for task in tasks { task.cancel() }
    }

    @Test("Several callers in a hurry, one after the other, find that a server is silent; one alone does not")
    func haste() async throws {
        let (first, second) = (try silent(), try answering())
        defer { for peer in [first, second] { peer.stop() } }
        let dns = dns(first, second)
        func ask() async throws -> [Endpoint] {
            let context = ResolveContext(within: .milliseconds(800), on: time.loop)
            return try await dns.resolve(.test("a.test"), port: 443, context: context).endpoints
        }
        for _ in 0..<2 {
            let before = first.questions.count
            async let asked = #expect(throws: ResolverError.self) { try await ask() }
            while first.questions.count < before + 2 { await Task.yield() }
            time.advance(by: .milliseconds(800))
            _ = await asked
        }
        #expect(try await ask() == ["192.0.2.1"])
    }

    @Test("In a chain whose callers are in a hurry, the second server of a service is asked, too")
    func shareOfAStep() async throws {
        let (first, second) = (try silent(), try answering())
        defer { for peer in [first, second] { peer.stop() } }
        let others = [ScriptedResolver("next", ["192.0.2.8"]), ScriptedResolver("last", ["192.0.2.9"])]
        let chain = ChainResolver(dns(first, second), others[0], others[1])
        let context = ResolveContext(within: .seconds(4), on: time.loop)
        async let asked = chain.resolve(.test("a.test"), port: 443, context: context).endpoints
        while first.questions.count < 2 { await Task.yield() }
        // Its share of the step's 1.33 seconds.
        time.advance(by: .seconds(1))
        #expect(try await asked == ["192.0.2.1"])
        #expect(others.allSatisfy { $0.asked.isEmpty })
    }
}
