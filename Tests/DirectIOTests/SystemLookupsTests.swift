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
        #expect(try await ask(lookups, "good.test").value == addresses("127.0.0.1"))
    }

    @Test("A name that was answered before is answered while 160 awaited names hang")
    func knownName() async throws {
        let gate = Gate()
        let lookups = SystemLookups { name in
            if name.hasPrefix("hangs") { gate.wait() }
            return addresses("127.0.0.1")
        }
        #expect(try await ask(lookups, "good.test").value == addresses("127.0.0.1"))
        let stuck = (0..<160).map { ask(lookups, "hangs\($0).test") }
        while lookups.waiting < 160 { await Task.yield() }
        #expect(try await ask(lookups, "good.test").value == addresses("127.0.0.1"))
        gate.open()
        for task in stuck { #expect(try await task.value == addresses("127.0.0.1")) }
    }

    @Test("A name that was never asked for is answered while more awaited names hang than may be awaited")
    func slowNames() async throws {
        let gate = Gate()
        let lookups = SystemLookups(.init(awaited: 4, reserved: 0, threads: 8, patience: 1_000_000)) { name in
            if name.hasPrefix("hangs") { gate.wait() }
            return addresses("127.0.0.1")
        }
        let stuck = (0..<7).map { ask(lookups, "hangs\($0).test") }
        while lookups.waiting < 7 { await Task.yield() }
        #expect(try await ask(lookups, "good.test").value == addresses("127.0.0.1"))
        gate.open()
        for task in stuck { #expect(try await task.value == addresses("127.0.0.1")) }
    }

    @Test("The time in the queue does not count towards the time of a call")
    func timeOfCall() async throws {
        let gate = Gate()
        let calls = Locked<[String]>([])
        // One thread, which the first name occupies until both others have expired, or could have.
        let lookups = SystemLookups(.init(awaited: 1, reserved: 0, threads: 1, patience: 1_000_000)) { name in
            calls.withLock { $0.append(name) }
            if name == "hangs.test" { gate.wait() }
            return addresses("127.0.0.1")
        }
        let stuck = Task.detached { [loop] in
            try await lookups.addresses(of: "hangs.test", allowing: 1_000_000, on: loop)
        }
        #expect(await stuck.result.isExpired)
        let queued = Task.detached { [loop] in
            try await lookups.addresses(of: "good.test", allowing: 60_000_000_000, on: loop)
        }
        while lookups.waiting < 1 { await Task.yield() }
        let short = Task.detached { [loop] in
            try await lookups.addresses(
                of: "late.test",
                until: .now.advanced(byNanoseconds: 1_000_000),
                on: loop
            )
        }
        #expect(await short.result.isExpired)
        let opening = Instant.now
        gate.open()
        let (answer, time) = try await queued.value
        #expect(answer == addresses("127.0.0.1"))
        #expect(time <= Instant.now.since(opening))
        #expect(calls.withLock { $0 } == ["hangs.test", "good.test"])
    }

    @Test("A caller with a held clock has its time from the question on")
    func heldTime() async throws {
        let gate = Gate()
        defer { gate.open() }
        let clock = HeldClock()
        let held = EventLoop(clock: clock)
        let lookups = SystemLookups { _ in
            gate.wait()
            return addresses("127.0.0.1")
        }
        let end = clock.now.advanced(byNanoseconds: 5_000_000_000)
        let task = Task.detached {
            try await lookups.addresses(of: "hangs.test", allowing: 5_000_000_000, on: held)
        }
        try await clock.waitBegins(until: end)
        clock.advance(by: .seconds(5))
        #expect(await task.result.isExpired)
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

    fileprivate var isExpired: Bool {
        if case .failure(BlockingWork.Abandoned.expired) = self { true } else { false }
    }
}
