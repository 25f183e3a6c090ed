@testable import DirectCore
import DirectTestCommands
import Testing

@testable import DirectIO

@Suite("Concurrent look-ups by the system", .idleLimit)
struct SystemLookupsTests {
    private let loop = EventLoop.shared

    @Test("Concurrent questions for one name share one call of the resolver")
    func sharing() async throws {
        let gate = Gate()
        let asked = Locked<[String]>([])
        let lookups = SystemLookups { name in
            asked.withLock { $0.append(name) }
            gate.wait()
            return addresses("192.0.2.7")
        }
        let tasks = (0..<50).map { _ in ask(lookups, "a.test") }
        while lookups.waiting < 50 { await Task.yield() }
        gate.open()
        for task in tasks { #expect(try await task.value == addresses("192.0.2.7")) }
        #expect(asked.withLock { $0 } == ["a.test"])
        #expect(lookups.waiting == 0)
    }

    @Test("A failure is shared, too, and the next question causes a new call")
    func failure() async throws {
        let calls = Locked(0)
        let lookups = SystemLookups { _ in
            calls.withLock { $0 += 1 }
            return .failure(LookupError(code: -2, systemCode: 0))
        }
        for count in 1...2 {
            #expect(try await ask(lookups, "a.test").value == .failure(LookupError(code: -2, systemCode: 0)))
            #expect(calls.withLock { $0 } == count)
        }
    }

    @Test("Other names are answered while abandoned calls hang", arguments: [1, 40])
    func hangingNames(names: Int) async throws {
        let gate = Gate()
        defer { gate.open() }
        let lookups = SystemLookups { name in
            if name.hasPrefix("hangs") { gate.wait() }
            return addresses("127.0.0.1")
        }
        let stuck = (0..<160).map { ask(lookups, "hangs\($0 % names).test") }
        while lookups.waiting < 160 { await Task.yield() }
        for task in stuck { task.cancel() }
        for task in stuck { #expect(await task.result.isCancelled) }
        #expect(lookups.waiting == 0)
        #expect(try await ask(lookups, "localhost").value == addresses("127.0.0.1"))
    }

    @Test("A name that was answered before is answered while 160 awaited names hang")
    func knownName() async throws {
        let gate = Gate()
        let lookups = SystemLookups { name in
            if name.hasPrefix("hangs") { gate.wait() }
            return addresses("127.0.0.1")
        }
        #expect(try await ask(lookups, "localhost").value == addresses("127.0.0.1"))
        let stuck = (0..<160).map { ask(lookups, "hangs\($0).test") }
        while lookups.waiting < 160 { await Task.yield() }
        #expect(try await ask(lookups, "localhost").value == addresses("127.0.0.1"))
        gate.open()
        for task in stuck { #expect(try await task.value == addresses("127.0.0.1")) }
    }

    @Test("A caller that is too late, or was cancelled before, causes no call")
    func tooLate() async throws {
        let calls = Locked(0)
        let lookups = SystemLookups { _ in
            calls.withLock { $0 += 1 }
            return addresses("127.0.0.1")
        }
        await #expect(throws: BlockingWork.Abandoned.expired) {
            try await lookups.addresses(of: "a.test", until: Instant(nanoseconds: 1), on: loop)
        }
        let task = Task.detached { [loop] in
            while !Task.isCancelled { await Task.yield() }
            return try await lookups.addresses(of: "a.test", until: .never, on: loop)
        }
        task.cancel()
        #expect(await task.result.isCancelled)
        #expect(calls.withLock { $0 } == 0)
    }

    private func ask(
        _ lookups: SystemLookups,
        _ name: String
    ) -> Task<SystemLookups.Answer, any Error> {
        // A deadline only so that a test that fails ends.
        let deadline = Instant.now.advanced(byNanoseconds: 50_000_000_000)
        return Task.detached { [loop] in try await lookups.addresses(of: name, until: deadline, on: loop) }
    }
}

private func addresses(_ text: String) -> SystemLookups.Answer {
    .success([IPAddress(text)].compactMap(\.self))
}

extension Result where Failure == any Error {
    fileprivate var isCancelled: Bool {
        if case .failure(BlockingWork.Abandoned.cancelled) = self { true } else { false }
    }
}
