import DirectResolvers
import DirectTestResolvers
import DirectCore
import DirectHTTP
import DirectIO
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@Suite("Connections and changing addresses", .idleLimit)
struct FollowingTests {
    @Test("A changed answer of the resolver closes idle connections to other addresses, and none is used")
    func flip() async throws {
        let before = try FixtureServer.start(on: "127.0.0.2") { _ in .text("before") }
        let after = try FixtureServer.start(on: "127.0.0.3") { _ in .text("after") }
        let resolver = Signpost([before.endpoint])
        let client = HTTPClient.untimed { $0.resolver = resolver }
        try await client.prewarm("http://a.test/", connections: 3)
        #expect(try await client.get("http://a.test/").text == "before")
        #expect(before.records.count == 3)
        resolver.point(to: [after.endpoint])
        #expect(try await client.get("http://a.test/").text == "after")
        try await before.waitUntil { $0.count == 3 && $0.allSatisfy { $0.end != nil } }
        let connections = client.connections.flatMap(\.connections)
        #expect(connections.map(\.endpoint) == [after.endpoint])
    }

    @Test("A connection that was busy when the answer changed is closed when it is returned")
    func busyFlip() async throws {
        let before = try FixtureServer.start(on: "127.0.0.2") { _ in .pattern(count: 300_000) }
        let after = try FixtureServer.start(on: "127.0.0.3") { _ in .text("after") }
        let resolver = Signpost([before.endpoint])
        let client = HTTPClient.untimed { $0.resolver = resolver }
        let response = try await client.send(Request(.get, "http://a.test/"))
        resolver.point(to: [after.endpoint])
        #expect(try await client.get("http://a.test/").text == "after")
        #expect(try await response.body.collect(upTo: 1 << 20).count == 300_000)
        try await before.waitUntil { $0.count == 1 && $0.allSatisfy { $0.end != nil } }
    }

    @Test("Under load no request after the change uses the old address, and none fails")
    func load() async throws {
        let before = try FixtureServer.start(on: "127.0.0.2") { _ in .text("before") }
        let after = try FixtureServer.start(on: "127.0.0.3") { _ in .text("after") }
        let resolver = Signpost([before.endpoint])
        let client = HTTPClient.untimed { $0.resolver = resolver }
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<10 {
                group.addTask {
                    var (wrong, late, early) = (0, 0, 0)
                    while late < 30 {
                        if worker == 0, early == 30 { resolver.point(to: [after.endpoint]) }
                        let isLate = resolver.hasTurned
                        let text = try await client.get("http://a.test/").text
                        if isLate { late += 1 } else { early += 1 }
                        if isLate, text != "after" { wrong += 1 }
                    }
                    return wrong
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0)
        #expect(after.requests.count >= 300)
        try await before.waitUntil { $0.allSatisfy { $0.end != nil } }
    }

    @Test("After a change of network no connection is reused, and resolver and dialler start anew")
    func otherNetwork() async throws {
        let gate = Gate()
        let server = try FixtureServer.start(on: "127.0.0.2") { request in
            if request.path == "/slow" { try request.wait(for: gate) }
            return .text("ok")
        }
        let resolver = Signpost([server.endpoint])
        let counting = ScriptedResolver("counting") { host, port in
            try await resolver.resolve(host, port: port, context: ResolveContext(on: .still))
        }
        let client = HTTPClient.untimed { $0.resolver = CachingResolver(counting, loop: .still) }
        try await client.prewarm("http://a.test/", connections: 2)
        let busy = Task { try await client.get("http://a.test/slow").text }
        try await server.waitUntil { $0.contains { !$0.requests.isEmpty || $0.receivedCount > 0 } }
        client.forgetNetwork()
        try await server.waitUntil { $0.count { $0.end != nil } == 1 }
        #expect(client.connections.flatMap(\.connections).count == 1)
        gate.open()
        #expect(try await busy.value == "ok")
        try await server.waitUntil { $0.count { $0.end != nil } == 2 }
        #expect(try await !client.get("http://a.test/").isReused)
        #expect(counting.asked.count == 2)
    }

    @Test("A connection that was being made when the network changed is not reused")
    func otherNetworkWhileDialling() async throws {
        let server = try FixtureServer.start(on: "127.0.0.2") { _ in .text("ok") }
        let change = Locked<(@Sendable () -> Void)?>(nil)
        let resolver = ScriptedResolver("slow") { _, _ in
            change.withLock { $0.take() }?()
            return Resolution([server.endpoint], source: .resolver("slow"))
        }
        let time = HeldTime()
        let client = HTTPClient {
            $0.resolver = resolver
            $0.loop = time.loop
        }
        change.withLock { $0 = { client.forgetNetwork() } }
        #expect(try await client.get("http://a.test/").text == "ok")
        time.advance(by: .nanoseconds(1))
        #expect(try await !client.get("http://a.test/").isReused)
        #expect(try await client.get("http://a.test/").isReused)
    }

    @Test("A connection to a fallback address is reused while the answer stays the same")
    func fallback() async throws {
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        let spare = try FixtureServer.start(on: "127.0.0.3") { _ in .text("spare") }
        let resolver = Signpost([dead.endpoint], fallback: [spare.endpoint])
        let client = HTTPClient.untimed { $0.resolver = resolver }
        let first = try await client.get("http://a.test/")
        #expect(first.transaction?.failedAttempts.map(\.endpoint) == [dead.endpoint])
        #expect(try await client.get("http://a.test/").isReused)
        #expect(spare.records.count == 1)
    }

    @Test("A connection is used no longer than the server permits, and not after its last request")
    func keepAlive() async throws {
        let fields: [FixtureHeaders] = [["Keep-Alive": "timeout=0"], ["Keep-Alive": "max=0"]]
        for field in fields {
            let server = try FixtureServer.start { _ in .text("ok", field) }
            let client = HTTPClient.untimed()
            for _ in 0..<2 { #expect(try await !client.get(server.http()).isReused) }
        }
        let server = try FixtureServer.start { _ in .text("ok", ["Keep-Alive": "timeout=60, max=100"]) }
        let client = HTTPClient.untimed()
        _ = try await client.get(server.http())
        #expect(try await client.get(server.http()).isReused)
    }

    @Test("A connection serves as many requests as the settings permit")
    func uses() async throws {
        let server = try FixtureServer.start { _ in .text("ok") }
        let client = HTTPClient.untimed { $0.maximumConnectionUses = 2 }
        var reused: [Bool] = []
        for _ in 0..<5 { reused.append(try await client.get(server.http()).isReused) }
        #expect(reused == [false, true, false, true, false])
    }

    @Test("Under a limit for all origins, requests wait for each other's connections, and all are served")
    func total() async throws {
        let server = try FixtureServer.start { .text($0.headers["host"] ?? "-") }
        let client = HTTPClient.untimed { $0.maximumConnections = 2 }
        let names = (0..<12).map { "n\($0 % 6).test" }
        let texts = try await withThrowingTaskGroup(of: String?.self) { group in
            for name in names {
                group.addTask { try await client.fetch(server.request("http://\(name)/")).text }
            }
            return try await group.reduce(into: Set<String>()) { if let text = $1 { $0.insert(text) } }
        }
        #expect(texts == Set(names))
        #expect(client.connections.flatMap(\.connections).count <= 2)
    }

    @Test("Prewarmed connections exist before the first request, in the requested number")
    func prewarming() async throws {
        let server = try FixtureServer.secure("a.test")
        let client = HTTPClient.trusting()
        try await client.prewarm(server.request("https://a.test/"), connections: 4)
        #expect(client.connections.first?.connections.count == 4)
        #expect(try await client.fetch(server.request("https://a.test/")).status == 200)
        try await client.prewarm(server.request("https://a.test/"), connections: 4)
        #expect(server.records.count == 4)

        let dead = try FixtureServer.refusing()
        let error = try await httpError { try await client.prewarm(dead.request("https://b.test/")) }
        #expect(error.phase == .connect)
    }

    @Test("A client lists its connections")
    func survey() async throws {
        let server = try FixtureServer.secure("a.test") { _ in .pattern(count: 300_000) }
        let client = HTTPClient.trusting { $0.maximumConnectionsPerOrigin = 1 }
        #expect(client.connections.isEmpty)
        let response = try await client.send(server.request("https://a.test/"))
        let busy = try #require(client.connections.first)
        #expect(busy.origin.description == "https://a.test")
        #expect(busy.connections.map(\.isBusy) == [true])
        #expect(busy.connections.map(\.uses) == [1])
        #expect(busy.connections.first?.tls?.version == .tls13)
        #expect(busy.connections.first?.source == .request)
        _ = try await response.body.collect(upTo: 1 << 20)
        let idle = try #require(client.connections.first?.connections.first)
        #expect(!idle.isBusy && idle.idleTime != nil)
        let text = "\(client.connections)"
        for part in ["https://a.test: 1 open", server.authority, "idle for", "TLS 1.3"] {
            #expect(text.contains(part), "\(text)")
        }
    }
}

/// A resolver that points to one place, and later to another.
private final class Signpost: Resolver {
    private struct State {
        var endpoints: [Endpoint]
        var hasTurned = false
    }

    let name = "signpost"
    private let state: Locked<State>
    private let fallback: [Endpoint]?

    init(_ endpoints: [Endpoint], fallback: [Endpoint]? = nil) {
        state = Locked(State(endpoints: endpoints))
        self.fallback = fallback
    }

    var hasTurned: Bool { state.withLock { $0.hasTurned } }

    func point(to endpoints: [Endpoint]) {
        state.withLock { $0 = State(endpoints: endpoints, hasTurned: true) }
    }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        var resolution = Resolution(state.withLock { $0.endpoints }, source: .resolver(name))
        if let fallback {
            resolution.fallback = { _ in Resolution(fallback, source: .resolver("fallback")) }
        }
        return resolution
    }
}
