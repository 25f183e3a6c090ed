import DirectCore
import DirectIO
import DirectResolvers
import DirectTestCommands
import DirectTestResolvers
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Limits on the addresses of an answer", .idleLimit)
struct DialLimitTests {
    private let time = HeldTime()

    /// A client for `a.test` at these endpoints.
    private func client(_ endpoints: [Endpoint], _ resolver: ((any Resolver) -> any Resolver) = { $0 })
        -> HTTPClient
    {
        HTTPClient {
            $0.loop = time.loop
            $0.resolver = resolver(ScriptedResolver("many", endpoints))
            $0.dialling.keepsOrder = true
        }
    }

    @Test("Of an answer with many addresses 64 are tried, and the error shows eight of the attempts")
    func manyAddresses() async throws {
        let dead = try FixtureServer.refusing()
        let endpoints = (2...202).map {
            Endpoint(IPAddress(.v4, high: 0, low: UInt64(0x7F00_0000 + $0)), port: dead.port)
        }
        let error = try #require(
            await #expect(throws: HTTPError.self) { try await client(endpoints).get("http://a.test/") }
        )
        #expect(error.attempts.count == 64)
        #expect(
            error.description.hasSuffix("; 56 more attempts failed") && error.description.utf8.count < 1500
        )
    }

    @Test(
        "The limit of a call ends the wait for more of an answer whose first addresses have failed",
        arguments: [true, false]
    )
    func waitForTheRest(_ keepsOrder: Bool) async throws {
        let dead = try FixtureServer.refusing()
        let (loop, never) = (time.loop, Barrier())
        defer { never.open() }
        let client = HTTPClient {
            $0.loop = loop
            $0.dialling.keepsOrder = keepsOrder
            $0.resolver = FirstPart(endpoint: Endpoint(stringLiteral: dead.authority), rest: never)
        }
        var request = Request(.get, "http://a.test/")
        request.timeouts.total = .milliseconds(500)
        async let failure = #expect(throws: HTTPError.self) { try await client.fetch(request) }
        await never.arrivals(1)
        try await time.pass(.milliseconds(500))
        let error = try #require(await failure)
        guard case .timedOut = error.reason else { throw error }
        #expect(error.attempts.count == 1)
    }

    @Test("What the client's own vetting refuses leads to no other resolver of a chain, nor into a cache")
    func refusedByVetting() async throws {
        let spy = ScriptedResolver("spy", ["127.0.0.1:1"])
        let cache = CachingResolver(ChainResolver(ScriptedResolver("first", ["127.0.0.2:1"]), spy))
        let client = HTTPClient {
            $0.vetting = .publicInternetOnly
            $0.resolver = cache
        }
        for _ in 0..<2 { await #expect(throws: HTTPError.self) { try await client.get("http://a.test/") } }
        #expect(spy.asked.isEmpty && cache.contents.map(\.endpoints) == [["127.0.0.2:1"]])
    }

    @Test("An address that a client's own vetting refuses is not moved back in a cache that others share")
    func sharedCache() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { _ in .text("hello") }
        let endpoints = servers.map { Endpoint(stringLiteral: $0.authority) }
        let cache = CachingResolver(ScriptedResolver("both", endpoints, timeToLive: .seconds(60)))
        let strict = HTTPClient {
            $0.resolver = cache
            $0.vetting = AddressVetting { address, _, _ in
                address == endpoints[0].address ? AddressRefusal(address, "not this one") : nil
            }
        }
        let response = try await strict.get("http://a.test/")
        #expect(response.transaction?.endpoint == endpoints[1])
        #expect(cache.contents.first?.endpoints == endpoints)
    }
}

/// A resolver that knows one address, and waits for the next one.
private struct FirstPart: PublishingResolver {
    let name = "first part"
    let endpoint: Endpoint
    let rest: Barrier

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        try await wholeAnswer(host, port: port, context: context)
    }

    func publish(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        var answer = Resolution([endpoint], source: .resolver(name))
        answer.lacks = .family
        answer.rest = { [rest] in
            await withTaskCancellationHandler(operation: { await rest.pass() }, onCancel: { rest.open() })
            return nil
        }
        return answer
    }
}
