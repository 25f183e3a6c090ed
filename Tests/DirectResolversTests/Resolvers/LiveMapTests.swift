import DirectTestResolvers
@testable import DirectCore
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("A live map", .idleLimit)
struct LiveMapTests {
    private let before: FixtureServer
    private let after: FixtureServer
    private let live = LiveMap()

    init() throws {
        let security = FixtureSecurity.tls(certificates: [testAuthority.certificate(for: "a.test")])
        before = try FixtureServer.start(security, on: "127.0.0.2") { _ in .text("before") }
        after = try FixtureServer.start(security, on: "127.0.0.3") { _ in .text("after") }
        try point(to: before)
    }

    private func point(to server: FixtureServer) throws {
        try live.update { try $0.set([server.endpoint], for: HostPattern("a.test")) }
    }

    @Test("A change of a live map applies to the next request, and closes idle connections to old addresses")
    func change() async throws {
        let client = HTTPClient.trusting { $0.resolver = live }
        let first = try await client.get("https://a.test/")
        #expect(first.text == "before" && first.transaction?.source == .staticMap)
        #expect(try await client.get("https://a.test/").transaction?.isReused == true)
        try point(to: after)
        #expect(try await client.get("https://a.test/").text == "after")
        try await before.waitUntil { $0.count == 1 && $0.allSatisfy { $0.end != nil } }
    }

    @Test("A live map leaves unlisted names to the next resolver in a chain, and refuses them alone")
    func unlisted() async throws {
        let next = ScriptedResolver("next", [after.endpoint])
        let chained = HTTPClient.trusting { $0.resolver = ChainResolver(live, next) }
        #expect(try await chained.get("https://a.test/").text == "before")
        #expect(next.asked.isEmpty)
        live.map.remove(try HostPattern("a.test"))
        #expect(try await chained.get("https://a.test/").text == "after")
        let alone = HTTPClient.trusting { $0.resolver = live }
        let error = try #require(
            await #expect(throws: HTTPError.self) { try await alone.get("https://a.test/") }
        )
        #expect(error.description == "GET https://a.test/: resolve: live map: the name is not listed")
    }

    @Test("A live map changes in one step or not at all")
    func atomic() throws {
        #expect(throws: StaticMapError.noAddresses) {
            try live.update { map throws(StaticMapError) in
                try map.set(["192.0.2.1"], for: .any)
                try map.set([], for: .any)
            }
        }
        #expect(live.map.count == 1)
    }
}
