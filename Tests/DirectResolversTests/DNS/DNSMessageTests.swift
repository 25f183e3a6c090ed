import DirectHTTP
import DirectTestData
import Testing

@testable import DirectResolvers

@Suite("DNS messages")
struct DNSMessageTests {
    private let host = DomainName.test("a.test")

    private func answer(_ reply: DNSReply, type: UInt16 = 1) throws -> DNSAnswer {
        try DNSAnswer(reply.bytes, to: host, type: type)
    }

    private func addresses(_ reply: DNSReply, type: UInt16 = 1) throws -> [String] {
        try answer(reply, type: type).addresses.map { "\($0.address) \($0.timeToLive)" }
    }

    private func fault(_ reply: DNSReply, _ sourceLocation: SourceLocation = #_sourceLocation) throws
        -> DNSMessageError.Kind
    {
        try #require(
            #expect(throws: DNSMessageError.self, sourceLocation: sourceLocation) { try answer(reply) },
            sourceLocation: sourceLocation
        ).kind
    }

    @Test("A question has number 0, one name, and asks for recursion")
    func question() throws {
        let bytes = DNSQuery.message(.test("www.example.com"), type: 28, isPadded: false)
        let message = try DNSMessage(bytes)
        #expect(message.id == 0 && !message.isResponse && message.questionCount == 1)
        #expect(message.question?.type == 28 && bytes[2] == 1)
        let isName = bytes.span.isName(12, text: Array("www.example.com".utf8))
        #expect(isName)
        for length in 1...63 {
            let name = DomainName.test(String(repeating: "a", count: length) + ".test")
            let padded = DNSQuery.message(name, type: 1, isPadded: true)
            #expect(padded.count % 128 == 0)
            _ = try DNSMessage(padded)
        }
    }

    @Test("Addresses of both families are read, with their times to live")
    func addresses() throws {
        let v4 = DNSReply(answers: [
            .a(DNSReply.question, "192.0.2.1", 60), .a(DNSReply.name("A.tEst"), "192.0.2.2", 0x8000_0000),
            .a(DNSReply.question, "2001:db8::1"),
        ])
        #expect(try addresses(v4) == ["192.0.2.1 60", "192.0.2.2 0"])
        let v6 = DNSReply(type: 28, answers: [.a(DNSReply.question, "2001:db8::1", 0x7FFF_FFFF)])
        #expect(try addresses(v6, type: 28) == ["2001:db8::1 2147483647"])
    }

    @Test("Aliases are followed in any order, and the shortest time to live counts")
    func aliases() throws {
        let reply = DNSReply(answers: [
            .a(DNSReply.name("c.test"), "192.0.2.1", 100),
            .alias(DNSReply.name("B.test"), DNSReply.name("C.test"), 50),
            .alias(DNSReply.question, DNSReply.name("b.test"), 70),
            .alias(DNSReply.question, DNSReply.name("B.TEST"), 70),
        ])
        let answer = try answer(reply)
        #expect(answer.addresses.map(\.timeToLive) == [50])
        #expect(answer.canonicalName == .test("c.test"))
    }

    @Test("A label with a dot in it is no two labels, neither in the question nor in an alias")
    func dottedLabels() throws {
        let dotted = [6] + Array("a.test".utf8) + [0]
        var question = DNSReply(answers: [.a(DNSReply.question, "192.0.2.1")])
        question.name = dotted
        #expect(try fault(question) == .notTheAnswer)
        let alias = DNSReply(answers: [.alias(DNSReply.question, dotted), .a(dotted, "192.0.2.2")])
        #expect(try answer(alias).canonicalName == nil)
        #expect(try addresses(alias).count == 1)
    }

    @Test("Records of other names do not count")
    func bailiwick() throws {
        let reply = DNSReply(answers: [
            .a(DNSReply.name("b.test"), "192.0.2.1"), .a(DNSReply.name("a.tes"), "192.0.2.2"),
            .a(DNSReply.name("x.a.test"), "192.0.2.3"), .a(DNSReply.name("a.test.x"), "192.0.2.4"),
        ])
        #expect(try addresses(reply).isEmpty)
        var other = DNSReply(answers: [.a(DNSReply.question, "192.0.2.5")])
        other.answers[0].dataClass = 3
        #expect(try addresses(other).isEmpty)
        let elsewhere = DNSReply(
            authority: [.a(DNSReply.question, "192.0.2.6")],
            additional: [.a(DNSReply.question, "192.0.2.7")]
        )
        #expect(try addresses(elsewhere).isEmpty)
    }

    @Test("Aliases that form a loop, or contradict each other, are errors")
    func endlessAliases() throws {
        let round = DNSReply(answers: [
            .alias(DNSReply.question, DNSReply.name("b.test")),
            .alias(DNSReply.name("b.test"), DNSReply.question),
        ])
        #expect(try fault(round) == .endlessAliases)
        #expect(
            try fault(DNSReply(answers: [.alias(DNSReply.question, DNSReply.question)])) == .endlessAliases
        )
        let long = DNSReply(
            answers: [.alias(DNSReply.question, DNSReply.name("n0.test"))]
                + (0..<100).map { .alias(DNSReply.name("n\($0).test"), DNSReply.name("n\($0 + 1).test")) }
        )
        #expect(try fault(long) == .endlessAliases)
        let split = DNSReply(answers: [
            .alias(DNSReply.question, DNSReply.name("b.test")),
            .alias(DNSReply.question, DNSReply.name("c.test")),
        ])
        #expect(try fault(split) == .contradiction)
    }

    @Test("Only a response to the question is accepted")
    func notTheAnswer() throws {
        let good = DNSReply(answers: [.a(DNSReply.question, "192.0.2.1")])
        #expect(try addresses(good).count == 1)
        var wrong = [good, good, good, good, good, good]
        wrong[0].id = 1
        wrong[1].flags = 0x0100
        wrong[2].questions = 0
        wrong[2].answers[0].name = DNSReply.name("a.test")
        wrong[3].questions = 2
        wrong[4].name = DNSReply.name("b.test")
        wrong[5].type = 28
        for reply in wrong { #expect(try fault(reply) == .notTheAnswer) }
        var truncated = good
        truncated.flags |= 0x0200
        #expect(try fault(truncated) == .truncated)
    }

    @Test("Pointers must lead backwards, and their number is limited")
    func pointers() throws {
        // The answer's name begins at byte 24.
        for target: UInt8 in [24, 25, 26, 40, 11, 0] {
            let reply = DNSReply(answers: [.a([0xC0, target], "192.0.2.1")])
            #expect(try fault(reply) == .badPointer)
        }
        #expect(try fault(DNSReply(answers: [.a([1, 0x61, 0xC0, 24], "192.0.2.1")])) == .badPointer)
        #expect(try fault(DNSReply(answers: [.a([0x40, 0], "192.0.2.1")])) == .reservedLabel)
        #expect(try fault(DNSReply(answers: [.a([0x80, 0], "192.0.2.1")])) == .reservedLabel)
        // Each name points to the one before.
        var reply = DNSReply(answers: [.a(DNSReply.question, "192.0.2.1")])
        for number in 0..<40 {
            let before = 24 + 16 * number
            reply.answers.append(.a([0xC0 | UInt8(before >> 8), UInt8(before & 0xFF)], "192.0.2.1"))
        }
        #expect(try fault(reply) == .badPointer)
        reply.answers.removeLast(15)
        #expect(try addresses(reply).count == 26)
    }

    @Test("A name has at most 255 bytes, however it is composed")
    func longNames() throws {
        let label = [63] + [UInt8](repeating: 0x61, count: 63)
        var reply = DNSReply(answers: [
            .a(label + label + label + [60] + label[1...60] + DNSReply.question, "192.0.2.1")
        ])
        #expect(try fault(reply) == .longName)
        reply.answers[0].name = label + label + label + [53] + label[1...53] + DNSReply.question
        #expect(try addresses(reply).isEmpty)
    }

    @Test("Data of an answer has the length of its type")
    func lengths() throws {
        var reply = DNSReply(answers: [.a(DNSReply.question, "192.0.2.1")])
        reply.answers[0].data.append(1)
        #expect(try fault(reply) == .dataLength(1))
        reply.answers[0] = .alias(DNSReply.question, DNSReply.name("b.test") + [0])
        #expect(try fault(reply) == .dataLength(5))
        reply.answers = []
        reply.answerCount = 65535
        #expect(try fault(reply) == .cutOff(.name))
        #expect(throws: DNSMessageError(.tooLong, at: 65535)) {
            try DNSMessage([UInt8](repeating: 0, count: 65536))
        }
    }

    @Test("What is wrong behind the answers leaves them good")
    func behindAnswers() throws {
        let good = DNSReply(answers: [.a(DNSReply.question, "192.0.2.1")])
        var replies = [good, good, good, good]
        replies[0].behind = [0]
        // Two records that are counted and not there.
        replies[1].authority = [DNSReply.Record(name: [], type: 0, seconds: 0, data: [])]
        replies[2].additional = [DNSReply.Record(name: [0x80], type: 41, seconds: 0, data: [])]
        replies[3].additional = [DNSReply.Record(name: [63], type: 41, seconds: 0, data: [])]
        for reply in replies { #expect(try addresses(reply).count == 1) }
        var counted = good.bytes
        counted[11] = 1
        #expect(try DNSMessage(counted).answers.count == 1)
    }

    @Test("A server that only refers to others has not said that there are no addresses")
    func referral() throws {
        let servers = DNSReply.Record(name: [0], type: 2, seconds: 9, data: DNSReply.name("a.root.test"))
        let denial = DNSReply.Record(name: [0], type: 6, seconds: 9, data: Array(repeating: 0, count: 22))
        #expect(try answer(DNSReply(flags: 0x8000)).code == 5)
        #expect(try answer(DNSReply(flags: 0x8100, authority: [servers])).code == 5)
        let options = DNSReply.Record(name: [0], type: 41, seconds: 0, data: [], dataClass: 4096)
        #expect(try answer(DNSReply(flags: 0x8100, additional: [options])).code == 0)
        #expect(try answer(DNSReply(flags: 0x8100, authority: [servers], additional: [options])).code == 5)
        #expect(try answer(DNSReply(flags: 0x8400)).code == 0)
        #expect(try answer(DNSReply(flags: 0x8180, authority: [servers])).code == 0)
        #expect(try answer(DNSReply(flags: 0x8000, authority: [denial])).code == 0)
    }

    @Test("A message that is cut off before the end of its answers is an error")
    func cutOff() throws {
        let reply = DNSReply(
            answers: [
                .alias(DNSReply.question, DNSReply.name("b.test")), .a(DNSReply.name("b.test"), "192.0.2.1"),
            ]
        )
        #expect(try addresses(reply).count == 1)
        for count in 0..<reply.bytes.count {
            #expect(throws: DNSMessageError.self) { try DNSMessage(Array(reply.bytes.prefix(count))) }
        }
    }

    @Test("The upper bits of the code are read from EDNS")
    func codes() throws {
        #expect(try answer(DNSReply(flags: 0x8183)).code == 3)
        let extended = DNSReply(
            additional: [
                DNSReply.Record(name: [0], type: 41, seconds: 0x0100_0000, data: [], dataClass: 4096)
            ]
        )
        #expect(try answer(extended).code == 16)
    }

    @Test("30,000 mutated messages are read or refused")
    func mutations() async {
        let seeds = [
            DNSReply(answers: [.a(DNSReply.question, "192.0.2.1"), .a(DNSReply.question, "192.0.2.2")]),
            DNSReply(answers: [
                .alias(DNSReply.question, DNSReply.name("b.c.test")),
                .alias([0xC0, 36], DNSReply.name("c.test")),
                .a(DNSReply.name("c.test"), "192.0.2.1"),
            ]),
            DNSReply(
                flags: 0x8183,
                authority: [DNSReply.Record(name: [0], type: 6, seconds: 1, data: [0, 0, 1, 2])]
            ),
        ].map(\.bytes)
        var random = SplitMix64(seed: 42)
        var read = 0
        for round in 0..<30_000 {
            await Task.yield()
            var bytes = seeds[round % seeds.count]
            for _ in 0...random.below(4) {
                guard !bytes.isEmpty else { break }
                switch random.below(4) {
                case 0: bytes.remove(at: random.below(bytes.count))
                case 1: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count))
                case 2: bytes[random.below(bytes.count)] = [0, 0xC0, 0xFF, 12, 63, 64, 1, 5][random.below(8)]
                default: bytes[random.below(bytes.count)] = UInt8(random.below(256))
                }
            }
            guard let message = try? DNSMessage(bytes) else { continue }
            if let answer = try? DNSAnswer(message, type: 1) { read += answer.addresses.count >= 0 ? 1 : 0 }
        }
        #expect(read > 300)
    }
}
