import DirectTestResolvers
@testable import DirectCore
import DirectIO
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("The table of a resolver cache")
struct AnswerTableTests {
    private let now = Instant(nanoseconds: 1_000_000)
    private var table = AnswerTable(
        AnswerTable.Rules(
            shortest: 0,
            longest: .max,
            otherwise: 60_000_000_000,
            negative: 60_000_000_000,
            stale: 0,
            refreshesAhead: false,
            capacity: 100
        )
    )

    private func key(_ number: Int) -> AnswerKey { AnswerKey(host: .test("n\(number).test"), port: 0) }

    /// The addresses of a name in a round: as many as the round says.
    private func endpoints(_ number: Int, round: Int) -> [Endpoint] {
        (0...round % 7).compactMap { index in
            IPAddress(bytes: [10, UInt8(number), UInt8(round), UInt8(index)]).map { Endpoint($0) }
        }
    }

    private func answer(_ number: Int, round: Int) -> Resolution {
        Resolution(endpoints(number, round: round), source: .resolver("r"))
    }

    private func found(_ number: Int) -> [Endpoint]? {
        guard case .answer(let answer, _) = table.find(key(number), at: now) else { return nil }
        return answer.endpoints
    }

    @Test("Answers stay right while others are replaced and removed so often that the bytes are copied")
    mutating func replacing() {
        for round in 0..<200 {
            for number in 0..<20 where number % 4 != 0 || round == 0 {
                table.keep(answer(number, round: round), for: key(number), at: now)
            }
            // An answer without addresses removes the one before.
            if round % 10 == 9 {
                table.keep(Resolution([], source: .resolver("r")), for: key(1), at: now)
                #expect(found(1) == nil)
            }
        }
        for number in 2..<20 {
            #expect(found(number) == endpoints(number, round: number % 4 == 0 ? 0 : 199))
        }
        #expect(table.entries.count == 19)
    }

    @Test("A failure to answer leaves the answer, and a denial replaces it")
    mutating func failures() {
        table.keep(answer(1, round: 3), for: key(1), at: now)
        table.keep(ResolverError("r", .timedOut(after: .seconds(1))), for: key(1), at: now)
        #expect(found(1) == endpoints(1, round: 3))
        table.keep(ResolverError("r", .noSuchName), for: key(1), at: now)
        guard case .denial(.noSuchName) = table.find(key(1), at: now) else {
            Issue.record("\(table.find(key(1), at: now))")
            return
        }
    }

    @Test("A denial that is not kept removes an outdated answer all the same")
    func denialInsteadOfStaleAnswer() {
        let rules = AnswerTable.Rules(
            shortest: 0,
            longest: .max,
            otherwise: 60_000_000_000,
            negative: 0,
            stale: 3_600_000_000_000,
            refreshesAhead: false,
            capacity: 100
        )
        var table = AnswerTable(rules)
        table.keep(answer(1, round: 3), for: key(1), at: now)
        table.keep(ResolverError("r", .timedOut(after: .seconds(1))), for: key(1), at: now)
        #expect(table.entries.count == 1)
        table.keep(ResolverError("r", .noSuchName), for: key(1), at: now)
        #expect(table.entries.count == 0)
    }

    private func instant(_ seconds: Double) -> Instant { now.advanced(byNanoseconds: UInt64(seconds * 1e9)) }

    /// Keeps an answer of a resolver that has no answer for one family.
    private mutating func keepHalf(_ endpoints: [Endpoint], by name: String = "r", at seconds: Double) {
        var answer = Resolution(endpoints, timeToLive: .seconds(10), source: .resolver(name))
        answer.lacks = .family
        table.keep(answer, for: key(1), at: instant(seconds))
    }

    private func found(at seconds: Double) -> Set<Endpoint>? {
        guard case .answer(let answer, _) = table.find(key(1), at: instant(seconds)) else { return nil }
        return Set(answer.endpoints)
    }

    @Test("Each family keeps its addresses for its own time, whichever was missing from an answer, and when")
    mutating func families() {
        let both = Resolution(["2001:db8::1", "192.0.2.1"], timeToLive: .seconds(4), source: .resolver("r"))
        table.keep(both, for: key(1), at: now)
        keepHalf(["192.0.2.2"], at: 3)
        #expect(found(at: 3.9) == ["192.0.2.2", "2001:db8::1"])
        // The time of the IPv6 address is over, that of the other one has nine seconds left.
        #expect(found(at: 4) == ["192.0.2.2"])
        keepHalf(["2001:db8::2"], at: 5)
        #expect(found(at: 12) == ["2001:db8::2", "192.0.2.2"])
        keepHalf(["2001:db8::3"], at: 12)
        #expect(found(at: 13) == ["2001:db8::3"])
    }

    @Test("An answer that lacks a family gets no addresses that another resolver has named")
    mutating func otherAuthor() {
        let both = Resolution(["2001:db8::66", "192.0.2.66"], source: .resolver("next"))
        table.keep(both, for: key(1), at: now)
        keepHalf(["192.0.2.1"], at: 1)
        #expect(found(at: 1) == ["192.0.2.1"])
    }

    @Test("An answer that lacks a family gets no addresses of another service of the same name")
    mutating func otherService() {
        let (office, other) = (Barrier(), Barrier())
        let expected: [(Barrier, Set<Endpoint>)] = [
            (other, ["192.0.2.1"]), (office, ["192.0.2.1", "2001:db8::66"]),
        ]
        for (service, all) in expected {
            var both = Resolution(["2001:db8::66", "192.0.2.66"], source: .resolver("r"))
            both.service = ObjectIdentifier(service)
            table.keep(both, for: key(1), at: now)
            var half = Resolution(["192.0.2.1"], timeToLive: .seconds(10), source: .resolver("r"))
            (half.lacks, half.service) = (.family, ObjectIdentifier(office))
            table.keep(half, for: key(1), at: instant(1))
            #expect(found(at: 1) == all)
        }
    }
}
