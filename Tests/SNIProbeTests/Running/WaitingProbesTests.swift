import DirectCore
import DirectTestCommands
import Dispatch
import TLSFixtures
import Testing

@testable import DirectIO
@testable import SNIProbe

@Suite("Probes that wait", .idleLimit)
struct WaitingProbesTests {
    private let root = TestAuthority("Test Root CA")

    @Test("Silent servers do not keep a healthy one from being probed, without --jobs")
    func silentServers() async throws {
        let gate = Gate()
        let silent = try (2...10).map { number in
            try FixtureServer.start(on: "127.0.0.\(number)", behaviour: .bytes([.wait(gate), .cut]))
        }
        let healthy = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in
            gate.open()
            return .text("hello")
        }
        // More than 64, which is the number of probes that work at a time. They end when the healthy one is
        // there.
        let words = (0..<80).map { "a.test@\(silent[$0 % silent.count].authority)" }
        let outcome = try await probe(
            words + ["https://a.test:\(healthy.port)/@\(healthy.address)", "-t", "50s", "--skip-default"],
            trusting: root.rootPEM
        )
        #expect(outcome.records.map(\.passed) == Array(repeating: false, count: 80) + [true])
        for record in outcome.records.dropLast() {
            #expect(record.observation.firstFailure?.isRejection == true)
        }
    }

    @Test("Names that are never answered do not keep others from being resolved and probed")
    func deadNames() async throws {
        let gate = ThreadGate()
        let healthy = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in
            gate.open()
            return .text("hello")
        }
        let lookups = SystemLookups(.init(awaited: 8, reserved: 0, threads: 100, patience: 1_000_000)) {
            name in
            guard name != "a.test" else { return .success([IPAddress(healthy.address)].compactMap(\.self)) }
            gate.wait()
            return .failure(LookupError(code: -2, systemCode: 0))
        }
        let names = (0..<80).map { "dead\($0).test" }
        let outcome = try await probe(
            names + ["https://a.test:\(healthy.port)/", "-t", "50s", "--skip-default"],
            trusting: root.rootPEM,
            lookups: lookups
        )
        #expect(outcome.records.map(\.passed) == Array(repeating: false, count: 80) + [true])
        #expect(outcome.records.allSatisfy { $0.lookupFailure?.contains("no answer") != true })
    }

    @Test("A name that has to wait for a thread still has all of its time")
    func queuedNames() async throws {
        let healthy = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("hello") }
        let gate = ThreadGate()
        // Both threads are occupied until the first two names have had their time.
        let lookups = SystemLookups(.init(awaited: 2, reserved: 0, threads: 2, patience: 1_000_000)) { name in
            guard name != "a.test" else { return .success([IPAddress(healthy.address)].compactMap(\.self)) }
            gate.wait()
            return .failure(LookupError(code: -2, systemCode: 0))
        }
        defer { gate.open() }
        async let outcome = probe(
            ["dead1.test", "dead2.test", "a.test:\(healthy.port)", "-t", "300ms", "--skip-default"],
            trusting: root.rootPEM,
            lookups: lookups
        )
        while gate.waiting < 2 || lookups.waiting != 1 { await Task.yield() }
        gate.open()
        #expect(try await outcome.records.map(\.passed) == [false, false, true])
    }

    @Test(
        "The descriptors are shared by the probes, the questions to resolvers, and the look-ups",
        arguments: [
            (nil, 0, 4096, 64, 512, 256), (nil, 1, 4096, 64, 512, 256), (nil, 5, 4096, 64, 382, 256),
            (nil, 0, 1024, 64, 175, 125), (nil, 0, 30, 1, 1, 1), (nil, 4, 30, 1, 1, 1),
            (nil, 0, 8, 1, 1, 1), (200, 0, 4096, 200, 200, 256), (200, 0, 300, 49, 49, 35),
        ] as [(Int?, Int, Int, Int, Int, Int)]
    )
    func descriptors(
        jobs: Int?,
        resolvers: Int,
        descriptors: Int,
        working: Int,
        running: Int,
        lookups: Int
    ) {
        let wanted = Descriptors.wanted(jobs)
        let room = Descriptors.room(for: wanted, resolvers: resolvers, descriptors: descriptors)
        #expect(room == .init(probes: .init(jobs: working, running: running), lookups: lookups))
    }
}

/// A gate for threads that may block.
private final class ThreadGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrivals = Locked(0)

    /// The number of threads that have come.
    var waiting: Int { arrivals.withLock { $0 } }

    func open() { semaphore.signal() }

    func wait() {
        arrivals.withLock { $0 += 1 }
        semaphore.wait()
        semaphore.signal()
    }
}
