import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestResolvers
import DirectTestPeers
import DirectTestTime
import Dispatch
import Foundation
import TLSFixtures
import Testing

@testable import DirectResolvers

@Suite("Plain DNS", .idleLimit)
struct PlainDNSTests {
    private let time = HeldTime()
    private static let four: [UInt8] = [192, 0, 2, 1]
    private static let six: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + Array(repeating: 0, count: 11) + [1]

    /// An answer without its question.
    private static func header(of question: DNSPeer.Question, code: UInt8) -> [UInt8] {
        question.message.prefix(2) + [0x81, 0x80 | code, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    private func resolver(
        _ peers: DNSPeer...,
        subnet: PlainDNS.ClientSubnet? = nil,
        families: ServiceSettings.Families = .v4
    ) -> PlainDNS {
        var settings = ServiceSettings()
        settings.families = families
        settings.loop = .still
        let servers = peers.map { Endpoint(IPAddress(.v4, high: 0, low: 0x7F00_0001), port: $0.port) }
        return PlainDNS(servers, clientSubnet: subnet, settings)
    }

    @Test("Both families are asked for over UDP, with identifiers of their own")
    func bothFamilies() async throws {
        let peer = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four, Self.six])] }
        defer { peer.stop() }
        let answer = try await resolver(peer, families: .both).answer()
        #expect(answer.endpoints == ["2001:db8::1", "192.0.2.1"])
        #expect(answer.timeToLive == .seconds(60))
        #expect(answer.source == .resolver("DNS"))
        #expect(peer.questions.count == 2)
        #expect(peer.questions.allSatisfy { !$0.isStream })
        // Twenty questions with the same identifier are as likely as a forged answer.
        let names = resolver(peer)
        for _ in 0..<18 { _ = try await names.answer() }
        #expect(Set(peer.questions.map { Array($0.message.prefix(2)) }).count > 1)
    }

    @Test("A truncated answer is asked for again over TCP")
    func truncation() async throws {
        let peer = try DNSPeer { question in
            [
                DNSPeer.reply(
                    to: question,
                    question.isStream ? [Self.four] : [],
                    isTruncated: !question.isStream
                )
            ]
        }
        defer { peer.stop() }
        #expect(try await resolver(peer).endpoints() == ["192.0.2.1"])
        #expect(peer.questions.map(\.isStream) == [false, true])
    }

    @Test("Datagrams that are not the answer are ignored")
    func forgeries() async throws {
        let peer = try DNSPeer { question in
            let good = DNSPeer.reply(to: question, [Self.four])
            var otherID = DNSPeer.reply(to: question, [[203, 0, 113, 9]])
            otherID[1] ^= 1
            var otherName = DNSPeer.reply(to: question, [[203, 0, 113, 9]])
            otherName[13] ^= 1
            var noResponse = DNSPeer.reply(to: question, [[203, 0, 113, 9]])
            noResponse[2] = 1
            let cutOff = Array(DNSPeer.reply(to: question, [[203, 0, 113, 9]]).dropLast(2))
            return [otherID, otherName, noResponse, cutOff, [], [0], good]
        }
        defer { peer.stop() }
        #expect(try await resolver(peer).endpoints() == ["192.0.2.1"])
    }

    @Test("A flood of datagrams that are no answer is not read for ever")
    func flood() async throws {
        let peer = try DNSPeer { question in Array(repeating: Array(question.message.prefix(2)), count: 70) }
        defer { peer.stop() }
        #expect(try await resolver(peer).complaint().contains("more than 64 datagrams"))
    }

    @Test("A lost datagram is sent again after a second")
    func loss() async throws {
        let peer = try DNSPeer { $0.number == 0 ? [] : [DNSPeer.reply(to: $0, [Self.four])] }
        defer { peer.stop() }
        let resolver = resolver(peer)
        async let answer = resolver.answer(on: time.loop)
        try await time.pass(.seconds(1))
        #expect(try await answer.endpoints == ["192.0.2.1"])
        #expect(peer.questions.count == 2)
    }

    @Test("A server with little time is asked three times as well")
    func shortTime() async throws {
        let peer = try DNSPeer { $0.number < 2 ? [] : [DNSPeer.reply(to: $0, [Self.four])] }
        defer { peer.stop() }
        let context = ResolveContext(within: .milliseconds(1500), on: time.loop)
        async let answer = resolver(peer).resolve(.test("a.test"), port: 443, context: context)
        for _ in 0..<2 { try await time.pass(.milliseconds(500)) }
        #expect(try await answer.endpoints == ["192.0.2.1"])
    }

    @Test("A silent server is left for the next one when its time is over")
    func nextServer() async throws {
        let silent = try DNSPeer { _ in [] }
        let good = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four])] }
        defer { for peer in [silent, good] { peer.stop() } }
        let resolver = resolver(silent, good)
        async let answer = resolver.answer(on: time.loop)
        for _ in 0..<3 { try await time.pass(.seconds(1)) }
        #expect(try await answer.endpoints == ["192.0.2.1"])
    }

    @Test("A failing server is left for the next one, and no such name is an answer")
    func codes() async throws {
        let failing = try DNSPeer { [DNSPeer.reply(to: $0, [], code: 2)] }
        let good = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four])] }
        let nameless = try DNSPeer { [DNSPeer.reply(to: $0, [], code: 3)] }
        defer { for peer in [failing, good, nameless] { peer.stop() } }
        #expect(try await resolver(failing, good).endpoints() == ["192.0.2.1"])
        #expect(try await resolver(nameless, good).complaint() == "the name does not exist")
        #expect(try await resolver(failing).complaint().contains("SERVFAIL"))
    }

    @Test("A server that failed comes last until all is forgotten")
    func forgetting() async throws {
        let failing = try DNSPeer { [DNSPeer.reply(to: $0, [], code: 2)] }
        let good = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four])] }
        defer { for peer in [failing, good] { peer.stop() } }
        let resolver = resolver(failing, good)
        for _ in 0..<2 { #expect(try await resolver.endpoints() == ["192.0.2.1"]) }
        #expect(failing.questions.count == 2 && good.questions.count == 2)
        resolver.forgetAll()
        #expect(try await resolver.endpoints() == ["192.0.2.1"])
        #expect(failing.questions.count == 4 && good.questions.count == 3)
        #expect(resolver.name == "DNS" && !resolver.dependsOnPort)
    }

    @Test("A port where nothing listens is an error at once")
    func refusal() async throws {
        let peer = try DNSPeer { _ in [] }
        let resolver = resolver(peer)
        peer.stop()
        // Ends by the report of the system, or, if the peer's sockets are not closed yet, after another
        // question.
        let error = await #expect(throws: ResolverError.self) {
            _ = try await time.passing(repeatedly: .seconds(1)) { try await resolver.answer(on: time.loop) }
        }
        #expect(error != nil)
    }

    @Test(
        "A server that calls a question with EDNS malformed or not implemented, or fails, is asked without it",
        arguments: [1, 2, 4]
    )
    func withoutEDNS(_ code: UInt8) async throws {
        let peer = try DNSPeer { question in
            let hasOptions = question.message[11] == 1
            return [DNSPeer.reply(to: question, hasOptions ? [] : [Self.four], code: hasOptions ? code : 0)]
        }
        defer { peer.stop() }
        #expect(try await resolver(peer).endpoints() == ["192.0.2.1"])
        #expect(peer.questions.map { $0.message[11] } == [1, 0])
    }

    @Test("A server may call a question malformed without returning it")
    func formatErrorWithoutQuestion() async throws {
        let peer = try DNSPeer { question in
            guard question.message[11] == 1 else { return [DNSPeer.reply(to: question, [Self.four])] }
            return [Self.header(of: question, code: 1)]
        }
        defer { peer.stop() }
        #expect(try await resolver(peer).endpoints() == ["192.0.2.1"])
        #expect(peer.questions.map { $0.message[11] } == [1, 0])
    }

    @Test("A server that only refers to others is followed by the next one")
    func referral() async throws {
        let lame = try DNSPeer { question in
            var reply = DNSReply.reply(to: question.message)
            reply.flags = 0x8100
            return [Array(question.message.prefix(2) + reply.bytes.dropFirst(2))]
        }
        let good = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four])] }
        defer { for peer in [lame, good] { peer.stop() } }
        #expect(try await resolver(lame, good).endpoints() == ["192.0.2.1"])
    }

    @Test("A server may refuse a question without returning it", arguments: [2, 4, 5, 9])
    func refusalWithoutQuestion(_ code: UInt8) async throws {
        let refusing = try DNSPeer { question in
            [Self.header(of: question, code: code)]
        }
        let good = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four])] }
        defer { for peer in [refusing, good] { peer.stop() } }
        // The time stands still: the next server is asked at once.
        #expect(try await resolver(refusing, good).endpoints() == ["192.0.2.1"])
    }

    @Test("A header alone does not say that a name does not exist, or has no address", arguments: [0, 3])
    func headerOnly(_ code: UInt8) async throws {
        let peer = try DNSPeer { question in
            [
                Self.header(of: question, code: code),
                DNSPeer.reply(to: question, [Self.four]),
            ]
        }
        defer { peer.stop() }
        #expect(try await resolver(peer).endpoints() == ["192.0.2.1"])
    }

    @Test("Where questions with EDNS are lost, the last one without it is answered")
    func lostEDNS() async throws {
        let peer = try DNSPeer { question in
            question.message[11] == 1 ? [] : [DNSPeer.reply(to: question, [Self.four])]
        }
        defer { peer.stop() }
        let resolver = resolver(peer)
        async let answer = resolver.answer(on: time.loop)
        for _ in 0..<2 { try await time.pass(.seconds(1)) }
        #expect(try await answer.endpoints == ["192.0.2.1"])
        #expect(peer.questions.map { $0.message[11] } == [1, 1, 0])
    }

    @Test("A name that does not exist for A does not exist, even if the question for AAAA is lost")
    func lostDenial() async throws {
        let peer = try DNSPeer { question in
            question.isForIPv6 ? [] : [DNSPeer.reply(to: question, [], code: 3)]
        }
        defer { peer.stop() }
        let resolver = resolver(peer, families: .both)
        async let error = resolverError { try await resolver.answer(on: time.loop) }
        while peer.questions.count < 2 { await time.settle() }
        await time.settle()
        for _ in 0..<3 { try await time.pass(.seconds(1)) }
        guard case .noSuchName = try await error.reason else {
            Issue.record("\(try await error)")
            return
        }
    }

    @Test("The error for a name without addresses has the server that said so", arguments: [0, 3] as [UInt8])
    func denier(code: UInt8) async throws {
        let peer = try DNSPeer { [DNSPeer.reply(to: $0, [], code: code)] }
        defer { peer.stop() }
        for families in [ServiceSettings.Families.v4, .both] {
            let resolver = resolver(peer, families: families)
            let error = try await resolverError { try await resolver.answer(on: time.loop) }
            #expect(error.server?.port == peer.port && error.earlier.isEmpty, "\(error)")
        }
    }

    @Test("IPv4 addresses are waited for, even if the server says that the name does not exist for AAAA")
    func falseDenial() async throws {
        let peer = try DNSPeer { question in
            if question.isForIPv6 { return [DNSPeer.reply(to: question, [], code: 3)] }
            // The first one is lost.
            return question.number < 2 ? [] : [DNSPeer.reply(to: question, [Self.four])]
        }
        defer { peer.stop() }
        let resolver = resolver(peer, families: .both)
        async let answer = resolver.answer(on: time.loop)
        // Both questions have their limit from here, whichever is asked first.
        while peer.questions.count < 2 { await time.settle() }
        await time.settle()
        try await time.pass(.seconds(1))
        #expect(try await answer.endpoints == ["192.0.2.1"])
    }

    @Test("Questions wait for a free descriptor, and idle connections make room", .ownProcess)
    func fewDescriptors() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let peer = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four])] }
        defer { peer.stop() }
        await #expect(processExitsWith: .success) { [ports = [server.port, peer.port] as [UInt16]] in
            allowDescriptors(40)
            let client = HTTPClient {
                $0.maximumConnectionsPerOrigin = nil
                $0.maximumConnections = nil
            }
            // Idle connections take all that is free.
            for number in 0..<40 {
                var request = Request(.get, "http://n\(number).test/")
                request.addresses = [Endpoint(stringLiteral: "127.0.0.1:\(ports[0])")]
                guard try await client.fetch(request).text == "hello" else { exit(100) }
            }
            let resolver = PlainDNS([Endpoint(stringLiteral: "127.0.0.1:\(ports[1])")])
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        try await resolver.answer("n\(number).test", on: .shared).endpoints.count
                    }
                }
                return try await group.reduce(0, +)
            }
            guard answers == 100 else { exit(99) }
        }
    }

    @Test("Where questions with EDNS are lost, it is left out over TCP as well")
    func lostEDNSOverTCP() async throws {
        let peer = try DNSPeer { question in
            guard question.message[11] == 0 else { return [] }
            return [
                DNSPeer.reply(
                    to: question,
                    question.isStream ? [Self.four] : [],
                    isTruncated: !question.isStream
                )
            ]
        }
        defer { peer.stop() }
        let resolver = resolver(peer)
        async let answer = resolver.answer(on: time.loop)
        for _ in 0..<2 { try await time.pass(.seconds(1)) }
        #expect(try await answer.endpoints == ["192.0.2.1"])
        #expect(peer.questions.map(\.isStream) == [false, false, false, true])
    }

    @Test("The client subnet is sent without the bits beyond its length")
    func clientSubnet() async throws {
        let peer = try DNSPeer { [DNSPeer.reply(to: $0, [Self.four])] }
        defer { peer.stop() }
        let address = try #require(IPAddress("203.0.113.255"))
        let subnet = try #require(PlainDNS.ClientSubnet(address, prefixLength: 20))
        _ = try await resolver(peer, subnet: subnet).answer()
        #expect(peer.questions.first?.message.suffix(11) == [0, 8, 0, 7, 0, 1, 20, 0, 203, 0, 112])
        #expect(PlainDNS.ClientSubnet(address, prefixLength: 33) == nil)
    }

    @Test("A cancelled question ends at once")
    func cancellation() async throws {
        let silent = try DNSPeer { _ in [] }
        defer { silent.stop() }
        let resolver = resolver(silent)
        let asking = Task { [time] in try await resolver.answer(on: time.loop) }
        try await time.waitBegins(for: .seconds(1))
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }

    @Test("A deadline of the caller ends the wait")
    func deadline() async throws {
        let silent = try DNSPeer { _ in [] }
        defer { silent.stop() }
        let resolver = resolver(silent)
        let (result, elapsed) = await time.passing(.milliseconds(200)) { [time] in
            try await resolver.resolve(
                DomainName("a.test"),
                port: 443,
                context: ResolveContext(within: .milliseconds(200), on: time.loop)
            )
        }
        #expect(throws: ResolverError.self) { try result.get() }
        #expect(elapsed == .milliseconds(200))
    }

    @Test("A server that is silent over TCP is given up in time, and the error has the time of the wait")
    func silentStream() async throws {
        let (asked, signal) = AsyncStream.makeStream(of: Void.self)
        let end = DispatchSemaphore(value: 0)
        let peer = try DNSPeer { question in
            guard question.isStream else { return [DNSPeer.reply(to: question, [], isTruncated: true)] }
            signal.yield()
            // Keeps the connection open: its end would be an answer of another kind.
            end.wait()
            return []
        }
        defer {
            end.signal()
            peer.stop()
        }
        let resolver = resolver(peer)
        async let answer = resolver.resolve(
            .test("a.test"),
            port: 443,
            context: ResolveContext(within: .milliseconds(200), on: time.loop)
        )
        for await _ in asked { break }
        time.advance(by: .milliseconds(200))
        do {
            _ = try await answer
            Issue.record("a silent server gave an answer")
        } catch let error as ResolverError {
            #expect("\(error.reason)" == "no answer within 200 ms")
        }
    }
}
