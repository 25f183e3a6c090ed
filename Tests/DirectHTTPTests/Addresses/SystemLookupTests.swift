import DirectResolvers
import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Shared look-ups of the system's resolver", .idleLimit)
struct SystemLookupTests {
    private let server: FixtureServer
    private let gate = DispatchSemaphore(value: 0)
    private let asked = Locked<[String]>([])
    private let lookups: SystemLookups

    init() throws {
        server = try FixtureServer.start(.plain) { _ in .text("hello") }
        lookups = SystemLookups { [gate, asked] name in
            asked.withLock { $0.append(name) }
            if name.hasPrefix("hangs") {
                gate.wait()
                gate.signal()
            }
            return .success([IPAddress("127.0.0.1")].compactMap(\.self))
        }
    }

    @Test("Concurrent requests of two clients and a resolver for one name share one call")
    func sharing() async throws {
        let dialled = try (0..<4).map { number in
            let dialler = dialler()
            return try dial("hangs.test", with: dialler, number)
        }
        let resolver = SystemResolver(lookups)
        let resolved = Task { try await resolver.endpoints("hangs.test") }
        while lookups.waiting < 5 { await Task.yield() }
        gate.signal()
        for task in dialled { try await task.value.close() }
        #expect(try await resolved.value == ["127.0.0.1"])
        #expect(asked.withLock { $0 } == ["hangs.test"])
    }

    @Test("Calls that hang and have no caller left do not keep other names from being resolved")
    func hangingNames() async throws {
        defer { gate.signal() }
        let dialler = dialler()
        let stuck = try (0..<40).map { try dial("hangs\($0).test", with: dialler, $0) }
        while lookups.waiting < 40 { await Task.yield() }
        for task in stuck { task.cancel() }
        for task in stuck { _ = await task.result }
        #expect(lookups.waiting == 0)
        try await dial("localhost", with: dialler, 0).value.close()
    }

    @Test("A call that was made in another network does not answer questions in the current one")
    func otherNetwork() async throws {
        let dialler = dialler()
        let before = try dial("hangs.test", with: dialler, 0)
        while lookups.waiting < 1 { await Task.yield() }
        dialler.forgetAll()
        let after = try dial("hangs.test", with: dialler, 1)
        while asked.withLock({ $0.count }) < 2 { await Task.yield() }
        gate.signal()
        try await before.value.close()
        try await after.value.close()
        #expect(asked.withLock { $0 } == ["hangs.test", "hangs.test"])
    }

    @Test("A name with a final dot in the URL keeps it for the system's resolver, also behind a cache")
    func finalDot() async throws {
        let server = try FixtureServer.start(.plain) { _ in .text("ok") }
        let (asked, address) = (Locked<[String]>([]), server.endpoint.address)
        let lookups = SystemLookups { name in
            asked.withLock { $0.append(name) }
            return .success([address])
        }
        let client = HTTPClient { $0.resolver = CachingResolver(ChainResolver(SystemResolver(lookups))) }
        for host in ["a.test.", "a.test", "a.test.", "a.test"] {
            _ = try await client.get("http://\(host):\(server.port)/")
        }
        #expect(asked.withLock { $0 } == ["a.test.", "a.test"])
    }

    @Test("A resolver stops waiting at the caller's deadline or cancellation, while its call goes on")
    func limits() async throws {
        defer { gate.signal() }
        let time = HeldTime()
        let resolver = SystemResolver(lookups)
        let context = ResolveContext(within: .seconds(3), on: time.loop)
        async let failure = resolverError {
            try await resolver.resolve(.test("hangs.test"), port: 80, context: context)
        }
        try await time.pass(.seconds(3))
        let error = try await failure
        guard case .timedOut(after: .seconds(3)) = error.reason else { throw error }
        #expect(error.source == "system")
        let cancelled = Task { try await resolver.endpoints("hangs.test") }
        while lookups.waiting < 1 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(lookups.waiting == 0)
    }

    @Test("A resolver that forgets all does not share a call from before")
    func forgetting() async throws {
        let resolver = SystemResolver(lookups)
        let before = Task { try await resolver.endpoints("hangs.test") }
        while asked.withLock({ $0.isEmpty }) { await Task.yield() }
        resolver.forgetAll()
        let after = Task { try await resolver.endpoints("hangs.test") }
        while asked.withLock({ $0.count }) < 2 { await Task.yield() }
        gate.signal()
        #expect(try await before.value == ["127.0.0.1"])
        #expect(try await after.value == ["127.0.0.1"])
    }

    private func dialler() -> Dialler {
        let settings = HTTPClient.trusting().configuration
        return Dialler(settings.dialConfiguration, network: Network(lookups))
    }

    private func dial(_ name: String, with dialler: Dialler, _ number: Int) throws -> Task<
        Connection, any Error
    > {
        let url = try HTTPURL("http://\(name):\(server.port)/\(number)")
        return Task {
            try await dialler.dial(ConnectionTarget(url, route: .system), within: .none)
        }
    }
}
