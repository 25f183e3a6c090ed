@testable import DirectCore
import DirectTestCommands
import DirectTestTime
import Testing

@testable import DirectIO

@Suite("Look-ups by family", .idleLimit)
final class NameSearchTests: Sendable {
    private let time = HeldTime()
    private let resolver = GatedResolver()

    deinit {
        resolver.release()
    }

    private var lookups: SystemLookups {
        SystemLookups(byFamily: { [resolver] name, family in resolver.answer(name, family) })
    }

    @Test(
        "If both families are answered for in time, the resolver's answer and its order hold, and it is asked once"
    )
    func inTime() async throws {
        resolver.set(nil, "192.0.2.1", "2001:db8::1")
        let (answer, rest) = try await first(lookups).value
        #expect(answer == addresses("192.0.2.1", "2001:db8::1") && rest == nil)
        #expect(resolver.asked == ["a.test"])
    }

    @Test("A name whose IPv6 answer is lost has its IPv4 addresses 50 ms after they are known")
    func lostIPv6() async throws {
        resolver.set(.v4, "192.0.2.1")
        let found = first(lookups)
        try await time.pass(.milliseconds(250))
        try await time.pass(.milliseconds(50))
        let (answer, rest) = try await found.value
        #expect(answer == addresses("192.0.2.1"))
        let search = try #require(rest)
        let all = Task { await search.all(until: .never) }
        resolver.set(.v6, "2001:db8::1")
        #expect(await all.value == [IPAddress("2001:db8::1"), IPAddress("192.0.2.1")].compactMap(\.self))
        // The answers of the two families may be there before the thread of the call for both has begun.
        while resolver.asked.count < 3 { await Task.yield() }
        #expect(resolver.asked.sorted() == ["a.test", "a.test v4", "a.test v6"])
    }

    @Test("IPv6 addresses do not wait, and the answer for both families is the last word when it comes")
    func lostIPv4() async throws {
        resolver.set(.v6, "2001:db8::1")
        let found = first(lookups)
        try await time.pass(.milliseconds(250))
        let (answer, rest) = try await found.value
        #expect(answer == addresses("2001:db8::1"))
        let search = try #require(rest)
        let all = Task { await search.all(until: .never) }
        resolver.set(nil, "192.0.2.7", "2001:db8::1")
        #expect(await all.value == [IPAddress("192.0.2.7"), IPAddress("2001:db8::1")].compactMap(\.self))
    }

    @Test("The next caller does not wait for a call again that is known to be late")
    func nextCaller() async throws {
        resolver.set(.v4, "192.0.2.1")
        let lookups = lookups
        let before = first(lookups, on: .shared)
        #expect(try await before.value.0 == addresses("192.0.2.1"))
        #expect(try await first(lookups, on: .shared).value.0 == addresses("192.0.2.1"))
        while Set(resolver.asked).count < 3 { await Task.yield() }
        // The calls that hang were joined.
        #expect(resolver.asked.filter { $0 != "a.test v4" }.sorted() == ["a.test", "a.test v6"])
    }

    @Test(
        "If the call for both families fails, each is asked for at once, and one that has addresses is enough"
    )
    func half() async throws {
        resolver.fail(nil, code: again)
        resolver.fail(.v6, code: again)
        resolver.set(.v4, "192.0.2.1")
        #expect(try await first(lookups).value.0 == addresses("192.0.2.1"))
    }

    @Test("A name that does not exist is not asked for again, and a failure to answer is not taken for that")
    func failures() async throws {
        resolver.fail(nil, code: LookupError.noSuchName.code)
        #expect(try await first(lookups).value.0 == .failure(.noSuchName))
        #expect(resolver.asked == ["a.test"])
        resolver.fail(nil, code: again)
        resolver.fail(.v4, code: LookupError.noSuchName.code)
        resolver.fail(.v6, code: again)
        let failure = SystemLookups.Answer.failure(LookupError(code: again, systemCode: 0))
        #expect(try await first(lookups).value.0 == failure)
    }

    @Test(
        "A list of addresses is waited for a second longer than those of one family, and within a limit to its end"
    )
    func lists() async throws {
        resolver.set(.v4, "192.0.2.1")
        let (lookups, loop) = (lookups, time.loop)
        let list = Task { try await lookups.addresses(of: "a.test", until: .never, on: loop) }
        try await time.pass(.milliseconds(250))
        try await time.pass(.seconds(1))
        #expect(try await list.value == addresses("192.0.2.1"))
        let limited = Task { try await lookups.addresses(of: "b.test", allowing: 5_000_000_000, on: loop) }
        try await time.pass(.milliseconds(250))
        while resolver.asked.filter({ $0.hasPrefix("b.test") }).count < 3 { await Task.yield() }
        try await time.pass(.milliseconds(4750))
        #expect(try await limited.value.answer == addresses("192.0.2.1"))
    }

    @Test(
        "A hundred names that wait for their IPv6 answers keep no other name waiting for its IPv4 addresses"
    )
    func manyNames() async throws {
        resolver.set(.v4, "192.0.2.1")
        let lookups = lookups
        let names = (0..<100).map { first(lookups, "\($0).test") }
        let ended = Locked(false)
        let passing = Task { [time] in
            while !ended.withLock({ $0 }) {
                time.advance(by: .milliseconds(50))
                await Task.yield()
            }
        }
        for name in names { #expect(try await name.value.0 == addresses("192.0.2.1")) }
        ended.withLock { $0 = true }
        await passing.value
    }

    @Test("A call for the other family that has not begun is not made once nobody wants it")
    func unwanted() async throws {
        resolver.set(.v4, "192.0.2.1")
        let lookups = SystemLookups(
            SystemLookups.Limits(),
            ofFamily: SystemLookups.Limits(reserved: 0, threads: 1),
            both: { [resolver] in resolver.answer($0, nil) },
            family: { [resolver] in resolver.answer($0, $1) }
        )
        // The only call for IPv6 hangs, and that for the second name has to wait for it.
        for name in ["a.test", "b.test"] {
            let found = first(lookups, name)
            try await time.pass(.milliseconds(250))
            try await time.pass(.milliseconds(50))
            _ = try await found.value
        }
        resolver.set(.v6, "2001:db8::1")
        let last = first(lookups, "c.test")
        try await time.pass(.milliseconds(250))
        while !resolver.asked.contains("c.test v6") { await Task.yield() }
        last.cancel()
        #expect(!resolver.asked.contains("b.test v6"))
    }

    @Test("Names of this machine and of Tor have answers of their own")
    func specialNames() {
        for name in ["localhost", "localhost.", "LocalHost", "a.localhost", "b.a.localhost."] {
            #expect(SpecialNames.answer(to: name) == addresses("127.0.0.1", "::1"), "\(name)")
        }
        for name in ["a.onion", "b.a.ONION."] {
            #expect(SpecialNames.answer(to: name) == .failure(.noSuchName), "\(name)")
        }
        for name in ["localhost.test", "notlocalhost", "onion.test", "localhost.localdomain", ""] {
            #expect(SpecialNames.answer(to: name) == nil, "\(name)")
        }
    }

    private func first(
        _ lookups: SystemLookups,
        _ name: String = "a.test",
        on loop: EventLoop? = nil
    ) -> Task<(SystemLookups.Answer, NameSearch?), any Error> {
        let loop = loop ?? time.loop
        return Task.detached { try await lookups.firstAddresses(of: name, until: .never, on: loop) }
    }
}

/// EAI_AGAIN of glibc.
private let again: Int32 = -3

private func addresses(_ texts: String...) -> SystemLookups.Answer {
    .success(texts.compactMap { IPAddress($0) })
}

/// A resolver whose calls for a family hang until it is told what to answer, or until the test is over.
private final class GatedResolver: Sendable {
    private struct State {
        var answers: [IPAddress.Family?: SystemLookups.Answer] = [:]
        var asked: [String] = []
    }

    private let state = Locked(State())
    private let gates: [IPAddress.Family?: Gate] = [nil: Gate(), .v4: Gate(), .v6: Gate()]

    var asked: [String] { state.withLock { $0.asked } }

    func set(_ family: IPAddress.Family?, _ texts: String...) {
        set(family, .success(texts.compactMap { IPAddress($0) }))
    }

    func fail(_ family: IPAddress.Family?, code: Int32) {
        set(family, .failure(LookupError(code: code, systemCode: 0)))
    }

    func release() {
        for gate in gates.values { gate.open() }
    }

    func answer(_ name: String, _ family: IPAddress.Family?) -> SystemLookups.Answer {
        state.withLock { $0.asked.append(family.map { "\(name) \($0)" } ?? name) }
        gates[family]?.wait()
        return state.withLock { $0.answers[family] } ?? .failure(.noSuchName)
    }

    private func set(_ family: IPAddress.Family?, _ answer: SystemLookups.Answer) {
        state.withLock { $0.answers[family] = answer }
        gates[family]?.open()
    }
}
