import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
import Dispatch
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Several servers behind one address", .idleLimit)
struct SeveralServersTests {
    private let lab: Lab
    private let host = "www.example.com"
    private let right: FixtureCertificate

    init() throws {
        lab = try Lab()
        right = try lab.issuer.issue(.publicLeaf(host))
    }

    private enum Member: String, CaseIterable {
        /// Has one certificate, the right one.
        case good
        /// Has the right certificate for the name alone.
        case needing
        /// Knows only other hosts.
        case stranger
        /// The same with another certificate for all names.
        case foreigner
        /// Has a certificate that has expired.
        case expired
        /// Ends each connection.
        case dead
        /// Says nothing.
        case silent
    }

    private func server(_ member: Member) throws -> FixtureServer? {
        switch member {
        case .good: try FixtureServer.start(.tls(right)) { _ in .text("") }
        case .needing: try lab.server(right)
        case .stranger: try FixtureServer.start(.tls(lab.standard)) { _ in .text("") }
        case .foreigner:
            try FixtureServer.start(.tls(lab.issuer.issue(.publicLeaf("other.test")))) { _ in .text("") }
        case .expired:
            try FixtureServer.start(.tls(lab.issuer.issue(.publicLeaf(host, from: -99, until: -9)))) { _ in
                .text("")
            }
        case .dead: nil
        case .silent: try FixtureServer.start(behaviour: .bytes([.awaitClose]))
        }
    }

    /// Probes an address behind which these take turns.
    private func probe(_ members: [Member], _ options: String...) async throws -> ProbeRecord {
        // The same member is the same server.
        var servers: [Member: FixtureServer] = [:]
        for member in Set(members) { servers[member] = try server(member) }
        let relay = try DialogueRelay(inTurn: members.map { servers[$0]?.port ?? 0 }, connections: 20)
        let arguments = ["\(host)@127.0.0.1:\(relay.port)"] + options
        let outcome = try await SNIProbeTests.probe(arguments, trusting: lab.root.rootPEM)
        withExtendedLifetime(servers) {}
        return try #require(outcome.record)
    }

    @Test("Of two servers in turn, one of which is wrong, neither is taken for both")
    func two() async throws {
        for good in [Member.good, .needing] {
            for bad in [Member.stranger, .expired, .dead] {
                for members in [[good, bad], [bad, good]] {
                    let record = try await probe(members)
                    #expect(record.faults.map(\.id) == [.answersVary], "\(members)")
                    #expect(record.faults.first?.text.contains(" of ") == true)
                    #expect(record.hint?.text.contains("several servers") == true)
                    #expect(record.hint?.text.contains("few connections at once") == (bad == .dead))
                    #expect(JSONRecord(record).value["answers"]?.elements?.count == 2)
                }
            }
        }
    }

    @Test(
        "Of three or four servers in turn none is taken for all, in no order, and the name is for nothing in it",
        arguments: 3...4
    )
    func severalInTurn(size: Int) async throws {
        for (good, bad) in [Member.good, .needing].flatMap({ good in
            [Member.stranger, .expired, .dead].map { (good, $0) }
        }) {
            for (count, place) in (1..<size).flatMap({ count in (0..<size).map { (count, $0) } }) {
                let members = (0..<size).map { ($0 + place) % size < count ? bad : good }
                let record = try await probe(members)
                let said = record.faults.map(\.id.rawValue) + record.warnings.map(\.id.rawValue)
                // The first two meet the same, so the others are not asked.
                let isAlike = members[0] == .good && members[1] == .good
                #expect(said == (isAlike ? [] : ["answers_vary"]), "\(members)")
                #expect(record.sni.verdict == (isAlike ? .noDifference : .varies), "\(members)")
            }
        }
    }

    @Test(
        "Whichever of the first two comes first, two servers in turn are not taken for an effect of the name"
    )
    func eitherOrder() async throws {
        for good in [Member.good, .needing] {
            for bad in [Member.stranger, .expired, .dead] {
                // The first two swapped, and then in turn.
                for members in [
                    [bad, good, good, bad, good, bad, good, bad],
                    [good, bad, bad, good, bad, good, bad, good],
                ] {
                    let record = try await probe(members)
                    #expect(record.sni.verdict == .varies, "\(members)")
                    let said = record.faults.map(\.id.rawValue) + record.warnings.map(\.id.rawValue)
                    #expect(said == ["answers_vary"], "\(members)")
                }
            }
        }
    }

    @Test("Different answers without the name end the proof of a cause, though all with it are alike")
    func otherDefault() async throws {
        let record = try await probe(
            [.stranger, .foreigner, .needing, .needing, .needing, .stranger, .stranger, .stranger]
        )
        #expect(record.faults.map(\.id) == [.answersVary])
        #expect(record.faults.first?.text.hasPrefix("answers vary without SNI: ") == true)
    }

    @Test("A certificate that has expired is confirmed, though it comes without the name as well")
    func twoOfOneKind() async throws {
        let record = try await probe([.expired, .expired, .good, .good, .good])
        #expect(record.faults.map(\.id) == [.answersVary])
        let alone = try await probe([.expired])
        #expect(alone.faults.map(\.id) == [.expired] && alone.observation.firsts.count == 4)
        #expect(alone.hint?.text.contains(", in 4 of 4 handshakes") == true)
    }

    @Test(
        "Servers that are alike do not vary, and a name that is needed costs eight connections, the next two"
    )
    func alike() async throws {
        let pair = try await probe([.needing, .needing])
        #expect(pair.passed && pair.warnings.isEmpty && pair.sni.verdict == .needed)
        let server = try lab.server(right)
        let outcome = try await SNIProbeTests.probe(host, at: server, trusting: lab.root.rootPEM)
        #expect(outcome.record?.sni.verdict == .needed && outcome.record?.passed == true)
        #expect(
            server.records.map(\.serverName).map { $0 ?? "" }.sorted() == [
                "", "", "", "", host, host, host, host,
            ]
        )
        // What the address serves without a name is known then.
        let place = "\(host)@\(server.authority)"
        let list = try await SNIProbeTests.probe(
            [place, place, place, "-j", "1"],
            trusting: lab.root.rootPEM
        )
        #expect(list.records.map(\.sni.verdict) == [.needed, .needed, .needed])
        #expect(list.records.map { $0.observation.firsts.count + $0.observation.seconds.count } == [8, 2, 2])
    }

    @Test("No other probe of a run connects to the address while a result is confirmed")
    func list() async throws {
        for bad in [Member.stranger, .expired, .dead] {
            let servers = try [Member.needing, bad].map(server)
            let relay = try DialogueRelay(inTurn: servers.map { $0?.port ?? 0 }, connections: 400)
            let outcome = try await SNIProbeTests.probe(
                (0..<24).map { _ in "\(host)@127.0.0.1:\(relay.port)" },
                trusting: lab.root.rootPEM
            )
            let said = Set(outcome.records.flatMap { $0.faults.map(\.id) })
            #expect(said.isSubset(of: [.answersVary]), "\(bad)")
            withExtendedLifetime(servers) {}
        }
    }

    @Test("Of four servers in turn, two of which say nothing, the first two are not taken for all")
    func silentPair() async throws {
        let (silent, good) = (try #require(try server(.silent)), try #require(try server(.good)))
        let turns = [silent, silent, good, good].map(\.port)
        let relay = try DialogueRelay(inTurn: turns, connections: 20)
        let (time, roots) = (HeldTime(), lab.root.rootPEM)
        async let probed = SNIProbeTests.probe(
            ["\(host)@127.0.0.1:\(relay.port)", "-t", "100s"],
            trusting: roots,
            on: time.loop
        )
        _ = try await silent.waitUntil { $0.count == 2 }
        // Nothing has been answered for a second.
        try await time.pass(.seconds(1))
        _ = try await good.waitUntil { records in records.count { $0.end != nil } == 2 }
        await time.settle()
        time.advance(by: .seconds(100))
        let record = try #require(try await probed.record)
        #expect(record.faults.map(\.text) == ["answers vary: 1 of 2 do not answer"])
        #expect(record.sni.verdict == .varies)
    }

    @Test(
        "The end of two silences is confirmed where others were answered, and delays no handshake of the series",
        arguments: [[], ["--sni", "other.test"]]
    )
    func endOfSilence(_ options: [String]) async throws {
        let (silent, good) = (try #require(try server(.silent)), try #require(try server(.good)))
        let turns = [good, good, silent, silent, silent, good, good, good].map(\.port)
        let relay = try DialogueRelay(inTurn: turns, connections: 20)
        let (time, roots) = (HeldTime(), lab.root.rootPEM)
        let place = "\(host)@127.0.0.1:\(relay.port)"
        let arguments = [place, place, "-j", "1", "-t", "2s"] + options
        async let probed = SNIProbeTests.probe(arguments, trusting: roots, on: time.loop)
        _ = try await silent.waitUntil { records in records.count { !$0.received.isEmpty } == 2 }
        // All of it at once, as on a machine that is busy elsewhere.
        await time.settle()
        time.advance(by: .seconds(2))
        try await time.pass(.milliseconds(50))
        _ = try await silent.waitUntil { $0.count == 3 }
        try await time.pass(.milliseconds(250))
        for count in 3...5 {
            try await time.pass(.milliseconds(50))
            _ = try await good.waitUntil { records in records.count { $0.end != nil } == count }
        }
        await time.settle()
        time.advance(by: .seconds(2))
        let said = try await probed.records.map { $0.faults.map(\.text) }
        #expect(said == [[], ["answers vary: 1 of 2 do not answer"]])
    }

    @Test(
        "A handshake of the series begins only while there is time for its answer",
        arguments: [300, 500, 700, 900, 1200, 1500, 2000]
    )
    func slow(_ milliseconds: Int64) async {
        let (time, delay) = (HeldTime(), Duration.milliseconds(milliseconds))
        let end = time.moment(after: .seconds(5))
        let answer: @Sendable () -> Handshake = {
            time.advance(by: delay)
            var handshake = Handshake(outcome: .failure(time.now < end ? .reset : .silentTLS))
            handshake.tlsTime = delay
            return handshake
        }
        var compared = compared(
            time,
            until: end,
            first: answer,
            // It takes no time, so that no pause follows.
            second: { Handshake(outcome: .failure(.reset)) },
            again: { _ in answer() }
        ) { $0 == nil || $1 == nil ? [] : Self.series }
        await compared.run()
        let made = compared.firstAgain + compared.secondAgain
        #expect(made.allSatisfy { $0.failure == .reset || $0.wasCutShort })
        #expect(made.count == 6 || milliseconds > 500)
    }

    private static let series: [ComparedHandshakes.Side] = [
        .second, .second, .second, .first, .first, .first,
    ]

    private func compared(
        _ time: HeldTime,
        until end: Instant,
        andMore more: Duration = .zero,
        first: @escaping @Sendable () async -> Handshake,
        second: @escaping @Sendable () async -> Handshake,
        again: @escaping @Sendable (Instant) async -> Handshake,
        confirmations: @escaping @Sendable (Handshake?, Handshake?) -> [ComparedHandshakes.Side]
    ) -> ComparedHandshakes {
        ComparedHandshakes(
            .init(
                loop: time.loop,
                end: end,
                more: more.clampedNanoseconds,
                patience: 1_000_000_000,
                slowest: { 0 },
                turn: AddressTurns().turn(at: Endpoint("192.0.2.1:443"), on: time.loop),
                first: { ComparedHandshakes.Lead(handshake: await first()) },
                second: second,
                again: { _, end in await again(end) },
                confirmations: confirmations,
                vary: { _ in false },
                note: { _, _ in }
            )
        )
    }

    /// Compares the handshakes of an address that answers the first two after a delay, and others after
    /// another one. No probe has more time than until its end.
    private func compare(
        _ delay: Duration,
        again other: Duration,
        for limit: Duration,
        andMore more: Duration = .zero,
        needsSNI: Bool
    ) async -> ComparedHandshakes {
        let time = HeldTime()
        let end = time.moment(after: limit)
        let answer: @Sendable (Duration, Instant) async -> Handshake = { delay, end in
            let moment = time.moment(after: delay)
            try? await time.loop.sleep(until: min(moment, end))
            let failure: HandshakeFailure =
                Task.isCancelled ? .cancelled : moment <= end ? .reset : .silentTLS
            var handshake = Handshake(outcome: .failure(failure))
            (handshake.tcpTime, handshake.tlsTime) = (.zero, delay)
            return handshake
        }
        let begun = Locked(0)
        let compared = compared(
            time,
            until: end,
            andMore: more,
            first: { await answer(delay, end) },
            second: { await answer(delay, end) },
            again: { end in
                begun.withLock { $0 += 1 }
                return await answer(other, end)
            }
        ) {
            if $0 == nil, $1 == nil { return [.first, .second] }
            return $0 != nil && $1 != nil && needsSNI ? Self.series : []
        }
        // On the loop, and before the clock moves, which waits for what is there.
        let run = Task(executorPreference: time.loop) { [compared] in
            var compared = compared
            await compared.run()
            return compared
        }
        let passing = Task {
            // Without an answer for a second both are made once more, the second a quarter later.
            let areSilent = delay > .seconds(1) && other >= delay
            let pauses: [Duration] = areSilent ? [.seconds(1), .milliseconds(250)] : []
            for (count, pause) in pauses.enumerated() {
                try? await time.pass(pause)
                while begun.withLock({ $0 }) <= count { await Task.yield() }
            }
            // Whatever begins later than it could ends at the same moment.
            while !Task.isCancelled {
                await time.settle()
                let rest = time.now < end ? end.since(time.now) : .seconds(1)
                time.advance(by: min(.milliseconds(50), rest))
            }
        }
        let made = await run.value
        passing.cancel()
        await passing.value
        return made
    }

    @Test("One server is never silent to some, however slowly it answers", arguments: [true, false])
    func slowServer(needsSNI: Bool) async {
        // None between 1 and 1.25 s, while the second pair begins.
        for tenths in stride(from: 5, to: 50, by: 4) {
            let delay = Duration.milliseconds(tenths * 100)
            let compared = await compare(delay, again: delay, for: .seconds(5), needsSNI: needsSNI)
            let made = compared.firstAgain + compared.secondAgain
            #expect(made.allSatisfy { $0.failure == .reset || $0.wasCutShort }, "\(delay)")
            #expect(compared.lead?.handshake.failure == .reset && compared.second?.failure == .reset)
            #expect(tenths <= 10 || made.count >= 2, "\(delay)")
        }
    }

    @Test("The handshakes that confirm a result have the time of a probe beside what the first two took")
    func slowAtFirst() async {
        for (first, later, limit) in [(45, 1, 50), (30, 2, 50), (12, 11, 80), (45, 20, 150)] {
            let compared = await compare(
                .milliseconds(first * 100),
                again: .milliseconds(later * 100),
                for: .seconds(5),
                andMore: .milliseconds(limit * 100),
                needsSNI: true
            )
            #expect(!compared.isCutShort)
            let made = compared.firstAgain + compared.secondAgain
            #expect(made.count { $0.failure == .reset } >= 6, "\(first) \(later)")
        }
    }

    @Test("Where there is no time to confirm a cause none is named, and the time that it takes is")
    func tooSlow() async throws {
        let compared = await compare(.seconds(4), again: .seconds(4), for: .seconds(5), needsSNI: true)
        #expect(compared.isCutShort)
        let brief = Duration.milliseconds(300)
        #expect(await !compare(brief, again: brief, for: .seconds(5), needsSNI: true).isCutShort)
        let record = try await probe([.stranger])
        var observation = record.observation
        (observation.firstAgain, observation.secondAgain, observation.isCutShort) = ([], [], true)
        // Connecting, and the other, may have taken a busy machine any time.
        observation.first?.tcpTime = .zero
        observation.first?.tlsTime = .seconds(4)
        observation.second?.tlsTime = .zero
        let judged = Judge(settings: record.settings, now: record.judgedAt).record(of: observation)
        #expect([record, judged].map { $0.faults.map(\.id) } == [[.defaultCertificate], [.nameMismatch]])
        #expect(judged.sni.verdict == .unknown && judged.hint?.text.hasSuffix(": -t 41s is enough") == true)
        let text = LongForm(record: judged, style: Style(), verbose: false).text
        #expect(text.contains("SNI          unknown: it answers too slowly"))
    }

    @Test("A silence among slow answers has the time of the probe, and counts")
    func silentAmongSlow() async {
        let compared = await compare(
            .milliseconds(1300),
            again: .seconds(86_400),
            for: .seconds(20),
            needsSNI: false
        )
        #expect(compared.firstAgain.map(\.failure) == [.silentTLS])
        #expect(compared.secondAgain.map(\.failure) == [.silentTLS])
    }

    @Test("A server that is silent without the name delays the verdict by two seconds, not by the time limit")
    func bounded() async throws {
        let end = DispatchSemaphore(value: 0)
        let server = try FixtureServer.start(
            .tls(right) { settings in
                settings.choose = { name in
                    if name == nil {
                        end.wait()
                        end.signal()
                    }
                    return nil
                }
            }
        ) { _ in .text("") }
        defer { withExtendedLifetime(server) { _ = end.signal() } }
        let (time, roots) = (HeldTime(), lab.root.rootPEM)
        async let probed = SNIProbeTests.probe(
            ["\(host)@\(server.authority)", "-t", "100s"],
            trusting: roots,
            on: time.loop
        )
        _ = try await server.waitUntil { $0.contains { $0.end != nil } }
        await time.settle()
        try await time.pass(.milliseconds(500))
        // Each that is silent delays the next by a quarter of a second, and has a second.
        for count in 2...4 {
            _ = try await server.waitUntil { records in
                records.count { $0.serverName == nil && $0.hello != nil } == count
            }
            try await time.pass(.milliseconds(250))
        }
        _ = try await server.waitUntil { $0.count { $0.serverName != nil && $0.end != nil } == 4 }
        await time.settle()
        time.advance(by: .seconds(1))
        let outcome = try await probed
        #expect(outcome.record?.passed == true && outcome.record?.sni.verdict == .unknown)
    }
}
