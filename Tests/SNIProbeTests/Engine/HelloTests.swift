import DirectHello
import DirectTestCommands
import DirectTestTime
import Foundation
import Synchronization
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Hellos written by hand", .idleLimit)
struct HelloTests {
    private let root = TestAuthority()

    private func server() throws -> FixtureServer {
        try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
    }

    private func probe(_ port: UInt16, _ options: String..., pause: Duration = .milliseconds(1)) async throws
        -> ProbeRecord
    {
        let outcome = try await SNIProbeTests.probe(
            ["a.test@127.0.0.1:\(port)", "--skip-default"] + options,
            trusting: root.rootPEM,
            pauseOfPieces: pause
        )
        return try #require(outcome.record)
    }

    // MARK: The bytes

    @Test(
        "Every hello is read as one, whatever its pieces, and has the size that it is to have",
        arguments: HelloForm.allCases
    )
    func written(_ form: HelloForm) throws {
        let pieces = form.pieces(of: WrittenHello(to: "a.test"))
        var flight = FirstFlight()
        guard case .hello(let read) = flight.add(Array(pieces.joined()).span) else {
            return #expect(Bool(false), "no hello")
        }
        #expect(read.serverName == "a.test")
        let isLong = form == .long || form == .longInTwo
        #expect((pieces.joined().count == HelloForm.longSize + 5) == isLong)
        #expect((pieces.count == 2) == [.longInTwo, .fiveBytesFirst].contains(form))
        #expect(form != .fiveBytesFirst || pieces[0].count == 5)
        // One head of a record for each record, and none is empty.
        let bytes = Array(pieces.joined())
        let first = 5 + (Int(bytes[3]) << 8 | Int(bytes[4]))
        #expect((first < bytes.count) == (form == .twoRecords))
    }

    @Test("An answer is read the same however it is cut; what asks again says its group")
    func answers() throws {
        let bytes = [UInt8].alert(112, isFatal: false) + .serverHello(version: 0x0304, group: 4588)
        for cut in 0...bytes.count {
            var answer = FirstAnswer()
            let first = answer.add(bytes[..<cut])
            #expect((first == .needsMore) == (cut < bytes.count))
            guard case .hello(let hello) = answer.add(bytes[cut...]) else { return #expect(Bool(false)) }
            #expect(hello.version == .tls13)
            #expect(hello.group == WireGroup.x25519MLKEM768.rawValue)
            #expect(!hello.asksAgain)
        }
    }

    @Test(
        "What is no answer of TLS is known, and never read beyond its end",
        arguments: [
            (Array("HTTP/1.1 400".utf8), FirstAnswer.Verdict.other), ([22, 4], .other),
            ([22, 3, 3, 0, 0], .other),
            ([22, 3, 3, 0x40, 1], .other), ([22, 3, 3, 0, 1, 1], .other),
            ([22, 3, 3, 0, 4, 2, 0, 0, 0], .other),
            ([21, 3, 3, 0, 2, 3, 40], .other), ([21, 3, 3, 0, 2, 2, 40], .alert(40)),
            ([21, 3, 3, 0, 2, 1, 0], .alert(0)), ([21, 3, 3, 0, 2, 1, 112], .needsMore),
            ([22, 3, 3], .needsMore),
        ] as [([UInt8], FirstAnswer.Verdict)]
    )
    func others(_ bytes: [UInt8], _ verdict: FirstAnswer.Verdict) {
        var answer = FirstAnswer()
        #expect(answer.add(bytes) == verdict)
    }

    @Test("Any bytes are read without a trap, whole, cut and with one byte changed")
    func anyBytes() {
        let bytes: [UInt8] = .serverHello(version: 0x0304, group: 29)
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                var changed = bytes
                changed[index] = value
                var answer = FirstAnswer()
                _ = answer.add(changed)
                _ = answer.add(changed.prefix(index))
            }
        }
    }

    // MARK: What follows from the replies

    /// The finding of a survey of a pool that is asked in turn.
    private func finding(
        _ survey: HelloSurvey,
        from start: Int = 0,
        _ reply: (HelloForm, _ number: Int) -> HelloReply
    ) -> HelloFinding {
        var finding = HelloFinding(survey)
        while let form = finding.next {
            #expect(finding.replies.count < 40)
            finding.add(reply(form, start + finding.replies.count))
        }
        return finding
    }

    private static func good(_ form: HelloForm) throws -> HelloReply {
        let version = form.version ?? .tls13
        var answer = FirstAnswer()
        let group: UInt16? = version == .tls13 ? form == .hybrid ? 4588 : 29 : nil
        let bytes: [UInt8] = .serverHello(
            legacy: min(version, .tls12).rawValue,
            version: version == .tls13 ? 0x0304 : nil,
            group: group
        )
        guard case .hello(let hello) = answer.add(bytes) else { throw CancellationError() }
        return .hello(hello)
    }

    @Test(
        "A member of a pool in turn that is silent or loses long hellos is never a cause for all",
        arguments: 2...10
    )
    func pools(members: Int) throws {
        for survey in HelloSurvey.allCases {
            let good = Dictionary(
                uniqueKeysWithValues: try HelloForm.allCases.map { ($0, try Self.good($0)) }
            )
            for start in 0..<members {
                for isDead in [true, false] {
                    let finding = finding(survey, from: start) { form, number in
                        let isBad = number % members == 0 && (isDead || form == .long || form == .longInTwo)
                        return isBad ? .silent : good[form] ?? .other
                    }
                    for form in survey.forms {
                        #expect(
                            finding.verdict(on: form) != .no,
                            "\(survey) \(form) of \(members) from \(start)"
                        )
                    }
                }
            }
        }
    }

    @Test("Where the control is not answered each time, nothing is said")
    func noControl() throws {
        let good = try Self.good(.short)
        var count = 0
        let last = finding(.sizes) { form, number in
            count = number
            return form == .long ? .reset : good
        }
        #expect(last.verdict(on: .long) == .no)
        #expect(count > 7)
        for bad in 0...count where last.replies[bad].form == .short {
            let finding = finding(.sizes) { form, number in
                form == .long || number == bad ? .reset : good
            }
            #expect(finding.verdict(on: .long) == .unknown)
        }
        let lost = finding(.versions) { _, _ in .unconnected }
        #expect(HelloWords(finding: lost).text == "unknown: 1.3, 1.2, 1.1, 1.0 (no connection)")
    }

    @Test("A server that has had enough of this client says nothing of further versions", arguments: 1...3)
    func limitedClient(answers: Int) throws {
        let good = Dictionary(uniqueKeysWithValues: try HelloForm.allCases.map { ($0, try Self.good($0)) })
        let finding = finding(.versions) { form, number in
            number < answers ? good[form] ?? .other : .reset
        }
        let forms = HelloSurvey.versions.forms
        #expect(forms.dropFirst(answers).allSatisfy { finding.verdict(on: $0) == .unknown })
        // What was answered is proved by that.
        #expect(forms.prefix(answers).allSatisfy { finding.verdict(on: $0) == .yes })
        // One that speaks 1.2 and nothing else answers the control.
        let old = self.finding(.versions) { form, _ in form == .tls12 ? good[form] ?? .other : .alert(70) }
        #expect(forms.map(old.verdict) == [.no, .yes, .no, .no])
    }

    @Test("A limit that ends between two hellos hides no version", arguments: [HelloReply.reset, .closed])
    func limitThatEnds(refusal: HelloReply) throws {
        let good = Dictionary(uniqueKeysWithValues: try HelloForm.allCases.map { ($0, try Self.good($0)) })
        for survey in HelloSurvey.allCases {
            for (begin, length) in (0..<30).flatMap({ begin in (1...20).map { (begin, $0) } }) {
                let finding = finding(survey) { form, number in
                    begin..<begin + length ~= number ? refusal : good[form] ?? .other
                }
                #expect(
                    survey.forms.allSatisfy { finding.verdict(on: $0) != .no },
                    "\(survey) \(begin) \(length)"
                )
            }
        }
        // One that speaks 1.1 and nothing else is asked again, and says no.
        let old = finding(.versions) { form, _ in form == .tls11 ? good[form] ?? .other : refusal }
        #expect(HelloSurvey.versions.forms.map(old.verdict) == [.no, .no, .yes, .no])
        #expect(old.replies(to: .tls13).count == 7)
    }

    @Test("Old versions that one of two servers in turn speaks are found, whichever is asked first")
    func versionsOfTwo() throws {
        let good = Dictionary(uniqueKeysWithValues: try HelloForm.allCases.map { ($0, try Self.good($0)) })
        let spoken: [[HelloForm]] = [[.tls13, .tls12], [.tls12, .tls11, .tls10]]
        for start in 0..<2 {
            let finding = finding(.versions, from: start) { form, number in
                spoken[number % 2].contains(form) ? good[form] ?? .other : .alert(70)
            }
            let verdicts = HelloSurvey.versions.forms.map(finding.verdict)
            #expect(verdicts.allSatisfy { $0 == .yes || $0 == .varies })
            #expect(verdicts.last == .varies && verdicts[1] == .yes)
        }
    }

    @Test("What is sent by hand offers all groups and signatures that the first handshake does")
    func offers() async throws {
        let first = Mutex<[UInt8]>([])
        let server = try server()
        let port = server.port
        let peer = try HelloPeer { _, hello in
            first.withLock { $0 = hello ?? [] }
            return .pass(to: port)
        }
        defer { peer.stop() }
        #expect(try await probe(peer.port).passed)
        let written = WrittenHello(to: "a.test").records()
        for number: UInt16 in [10, 13] {
            // What current clients add, the hybrid groups and signatures of ML-DSA, is asked about by itself.
            let usual = Self.list(number, in: first.withLock { $0 }).filter { $0 < 0x0900 }
            #expect(!usual.isEmpty && usual.isSubset(of: Self.list(number, in: written)))
        }
        withExtendedLifetime(server) {}
    }

    /// The numbers of two bytes in an extension of a hello in one record.
    private static func list(_ number: UInt16, in hello: [UInt8]) -> Set<UInt16> {
        func pair(_ place: Int) -> Int { Int(hello[place]) << 8 | Int(hello[place + 1]) }
        // Behind the heads, the version and the random: the session, the suites and the compressions.
        var place = 43 + 1 + Int(hello[43])
        place += 2 + pair(place)
        place += 1 + Int(hello[place]) + 2
        while place < hello.count, pair(place) != Int(number) { place += 4 + pair(place + 2) }
        guard place < hello.count else { return [] }
        return Set(stride(from: place + 6, to: place + 4 + pair(place + 2), by: 2).map { UInt16(pair($0)) })
    }

    @Test("Three tries in a row decide, and one that is answered is enough")
    func counts() throws {
        let good = Dictionary(uniqueKeysWithValues: try HelloForm.allCases.map { ($0, try Self.good($0)) })
        let fine = finding(.sizes) { form, _ in good[form] ?? .other }
        #expect(
            fine.replies.map(\.form) == [.short, .long, .longInTwo, .fiveBytesFirst, .twoRecords, .short]
        )
        let lost = finding(.sizes) { form, _ in form == .longInTwo ? .closed : good[form] ?? .other }
        #expect(lost.replies(to: .longInTwo).count == 4)
        #expect(
            HelloWords(finding: lost).lost
                == "a ClientHello of 1,900 bytes in two pieces fails (closed), in 4 of 4 tries"
        )
        #expect(
            HelloWords(finding: lost).text
                == "arrives: 1,900 bytes, cut after 5 bytes, in two records; not 1,900 bytes in two pieces (closed)"
        )
    }

    // MARK: Servers

    @Test("OpenSSL's server speaks 1.2 and 1.3, and takes hellos of every form")
    func openSSL() async throws {
        let server = try server()
        let record = try await probe(server.port, "--versions", "--post-quantum", "--long-hello")
        #expect(record.passed)
        let texts = record.observation.hellos.map { HelloWords(finding: $0).text }
        #expect(texts.count == 3)
        #expect(texts[0].hasPrefix("1.3, 1.2; not 1.1"))
        #expect(texts[1].contains("X25519MLKEM768"))
        #expect(
            texts[2] == "arrives: 1,900 bytes, 1,900 bytes in two pieces, cut after 5 bytes, in two records"
        )
        #expect(record.warnings.isEmpty)
    }

    @Test("Nothing more is sent where nothing was asked for")
    func off() async throws {
        let server = try server()
        #expect(try await probe(server.port).observation.hellos.isEmpty)
        #expect(server.records.count == 1)
    }

    /// Hands the first handshake on, and answers what follows by a script.
    private func scripted(
        _ server: FixtureServer,
        _ script: @escaping @Sendable ([UInt8]) -> HelloPeer.Answer
    ) throws -> HelloPeer {
        let port = server.port
        return try HelloPeer { number, hello in number == 0 ? .pass(to: port) : script(hello ?? []) }
    }

    @Test("Versions that this OpenSSL does not speak are found, and what the server says of the others")
    func oldVersions() async throws {
        let server = try server()
        let peer = try scripted(server) { hello in
            // The version of the message, unless it is one that offers 1.3.
            switch hello[10] {
            case 1, 2: .send(.serverHello(legacy: 0x0300 | UInt16(hello[10])))
            default: hello.contains([0, 43, 0, 3, 2, 3, 4]) ? .close : .send(.serverHello(legacy: 0x0302))
            }
        }
        defer { peer.stop() }
        let record = try await probe(peer.port, "--versions")
        let finding = try #require(record.observation.hellos.first)
        let words = HelloWords(finding: finding).text
        #expect(
            // The first handshake has shown that 1.3 is spoken.
            words == "1.1, 1.0; not 1.2 (it chooses TLS 1.1); sometimes 1.3 (1 of 4)"
        )
        #expect(finding.verdict(on: .tls10) == .yes && finding.verdict(on: .tls12) == .no)
    }

    @Test(
        "A server of X25519MLKEM768 asks for a share of it, another refuses or goes on without",
        arguments: [0, 1, 2]
    )
    func postQuantum(_ kind: Int) async throws {
        let server = try server()
        let peer = try scripted(server) { hello in
            let isHybrid = hello.contains([0, 10, 0, 4, 0, 2, 0x11, 0xEC])
            #expect(hello.contains([0, 51, 0, 2, 0, 0]))
            guard isHybrid, kind > 0 else {
                return .send(.serverHello(version: 0x0304, group: isHybrid ? 4588 : 29))
            }
            return .send(kind == 1 ? .alert(40) : .serverHello())
        }
        defer { peer.stop() }
        let record = try await probe(peer.port, "--post-quantum")
        let words = try #require(record.observation.hellos.first.map { HelloWords(finding: $0).text })
        let expected = [
            "X25519MLKEM768, else X25519", "not X25519MLKEM768 (handshake_failure), but X25519",
            "not X25519MLKEM768 (it chooses TLS 1.2), but X25519",
        ]
        #expect(words == expected[kind])
        #expect(record.passed)
    }

    @Test("What takes one segment for the whole hello is a fault, with the cause")
    func oneSegment() async throws {
        let server = try server()
        let port = server.port
        let peer = try HelloPeer(.oneSegment) { _, hello in hello == nil ? .close : .pass(to: port) }
        defer { peer.stop() }
        // It ends the connection after the first piece, so the pause is never waited for.
        let record = try await probe(peer.port, "--long-hello", pause: .seconds(3600))
        #expect(record.faults.map(\.id) == [.helloLost])
        #expect(record.exitCode == 35)
        #expect(record.hint?.text.contains("takes the first segment for the whole hello") == true)
        let finding = try #require(record.observation.hellos.first)
        #expect(finding.verdict(on: .long) == .yes)
        #expect(finding.verdict(on: .longInTwo) == .no && finding.verdict(on: .fiveBytesFirst) == .no)
    }

    @Test("What takes 512 or 1,400 bytes loses both long hellos, and no short one", arguments: [512, 1_400])
    func fewBytes(_ most: Int) async throws {
        let server = try server()
        let port = server.port
        let peer = try HelloPeer(.bytes(most)) { _, hello in hello == nil ? .close : .pass(to: port) }
        defer { peer.stop() }
        let record = try await probe(peer.port, "--long-hello")
        #expect(record.faults.map(\.id) == [.helloLost])
        #expect(record.faults.first?.text.hasSuffix("in 8 of 8 tries") == true)
        #expect(record.hint?.text.contains("takes no hello of that length") == true)
        let finding = try #require(record.observation.hellos.first)
        #expect(finding.verdict(on: .long) == .no && finding.verdict(on: .longInTwo) == .no)
        #expect(finding.verdict(on: .fiveBytesFirst) == .yes && finding.verdict(on: .twoRecords) == .yes)
    }

    @Test("What takes one record is a warning: browsers send no others")
    func oneRecord() async throws {
        let server = try server()
        let port = server.port
        let peer = try HelloPeer(.oneRecord) { _, hello in hello == nil ? .close : .pass(to: port) }
        defer { peer.stop() }
        let record = try await probe(peer.port, "--long-hello")
        #expect(record.passed)
        #expect(record.warnings.map(\.id) == [.helloPieces])
        #expect(record.warnings.first?.text == "a ClientHello fails in two records")
    }

    @Test("A first handshake with a long hello that is lost gets its cause without being asked")
    func unasked() async throws {
        let server = try server()
        let port = server.port
        let peer = try HelloPeer(.bytes(1_400)) { _, hello in hello == nil ? .close : .pass(to: port) }
        defer { peer.stop() }
        let long = (0..<8).map { "\($0)" + String(repeating: "x", count: 200) }.joined(separator: ",")
        let record = try await probe(peer.port, "--alpn", long)
        #expect([.closed, .reset].contains(record.observation.firstFailure))
        #expect(record.observation.hellos.map(\.survey) == [.sizes])
        #expect(record.hint?.text.contains("takes no hello of that length") == true)
        #expect(record.faults.map(\.id) == [.reset])
        // Not so where a hello of any length meets the same end.
        let deaf = try HelloPeer { _, _ in .close }
        defer { deaf.stop() }
        let other = try await probe(deaf.port, "--alpn", long)
        #expect(other.observation.hellos.first?.verdict(on: .long) == .unknown)
        #expect(other.hint?.text.contains("no hello of that length") == false)
    }

    @Test("Silence is told from an answer, however long it takes: a hello has its time")
    func silence() async throws {
        let server = try server()
        let port = server.port
        let time = HeldTime()
        let peer = try HelloPeer(.bytes(512)) { _, hello in hello == nil ? .hold : .pass(to: port) }
        defer { peer.stop() }
        async let outcome = SNIProbeTests.probe(
            ["a.test@127.0.0.1:\(peer.port)", "--skip-default", "--long-hello", "-t", "3600ms"],
            trusting: root.rootPEM,
            on: time.loop,
            pauseOfPieces: .zero
        )
        for count in 1...6 {
            while peer.holds < count { await Task.yield() }
            await time.settle()
            time.advance(by: .milliseconds(300))
        }
        let record = try #require(try await outcome.record)
        #expect(
            record.faults.first?.text == "a ClientHello of 1,900 bytes fails (no answer), in 6 of 6 tries"
        )
    }

    @Test("The line, the JSON object and the metrics say the same")
    func outputs() async throws {
        let server = try server()
        let record = try await probe(server.port, "--versions")
        let text = LongForm(record: record, style: Style(), verbose: false).text
        #expect(text.contains("\nversions     1.3, 1.2; not 1.1"))
        let line = JSONRecord(record).line
        let json = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        let hellos = try #require(json["hellos"] as? [[String: Any]])
        let forms = try #require(hellos.first?["forms"] as? [[String: Any]])
        #expect(forms.map { $0["form"] as? String } == ["1.3", "1.2", "1.1", "1.0"])
        #expect(forms.map { $0["verdict"] as? String } == ["yes", "yes", "no", "no"])
        let sink = OutputSink.memory
        let output = PrometheusOutput(to: sink)
        output.add(record, isOnlyOne: true)
        output.finish(Digest(), interrupted: false)
        _ = output.flush()
        let metrics = String(decoding: sink.bytes, as: UTF8.self)
        #expect(metrics.contains("form=\"1.3\"} 1\n") && metrics.contains("form=\"1.0\"} 0\n"))
    }

    @Test("Hellos that are not answered have the time of one probe together")
    func onlySilence() async throws {
        let server = try server()
        let port = server.port
        let time = HeldTime()
        let peer = try HelloPeer { number, _ in number == 0 ? .pass(to: port) : .hold }
        defer { peer.stop() }
        async let outcome = SNIProbeTests.probe(
            [
                "a.test@127.0.0.1:\(peer.port)", "--skip-default", "--versions", "--post-quantum",
                "--long-hello",
            ]
                + ["-t", "1200ms"],
            trusting: root.rootPEM,
            on: time.loop,
            pauseOfPieces: .zero
        )
        for count in 1...12 {
            while peer.holds < count { await Task.yield() }
            await time.settle()
            time.advance(by: .milliseconds(100))
        }
        let hellos = try #require(try await outcome.record).observation.hellos
        #expect(peer.holds == 12)
        #expect(hellos.map { HelloWords(finding: $0).text }.filter { $0.contains("unknown: ") }.count == 3)
        #expect(hellos.last.map { HelloWords(finding: $0).text.hasSuffix("(not asked in time)") } == true)
    }

    @Test("A survey that is not over says no to nothing")
    func unfinished() throws {
        let good = Dictionary(uniqueKeysWithValues: try HelloForm.allCases.map { ($0, try Self.good($0)) })
        var finding = HelloFinding(.sizes)
        while let form = finding.next {
            if finding.replies(to: .long).count == 3 { break }
            finding.add(form == .long ? .silent : good[form] ?? .other)
        }
        #expect(finding.verdict(on: .long) == .unknown && finding.verdict(on: .longInTwo) == .unknown)
    }

    @Test("A server that takes X25519MLKEM768 alone is told by that, and its refusal gets this cause")
    func hybridAlone() async throws {
        let peer = try HelloPeer { number, hello in
            let isHybrid = (hello ?? []).contains([0, 10, 0, 4, 0, 2, 0x11, 0xEC])
            return .send(number > 0 && isHybrid ? .serverHello(version: 0x0304, group: 4588) : .alert(40))
        }
        defer { peer.stop() }
        let record = try await probe(peer.port, "--post-quantum")
        let finding = try #require(record.observation.hellos.first)
        #expect(finding.verdict(on: .hybrid) == .yes)
        #expect(HelloWords(finding: finding).text == "X25519MLKEM768, and no other (handshake_failure)")
        #expect(record.hint?.text.contains("takes X25519MLKEM768 only") == true)
        // One that refuses both is said to refuse the control.
        let deaf = try HelloPeer { _, _ in .send(.alert(40)) }
        defer { deaf.stop() }
        let other = try await probe(deaf.port, "--post-quantum")
        let words = other.observation.hellos.first.map { HelloWords(finding: $0).text }
        #expect(words == "unknown: X25519MLKEM768 (the control gets handshake_failure)")
        #expect(other.hint?.text.contains("X25519MLKEM768") == false)
    }

    @Test("One that refuses each version as unknown is not called too old", arguments: [true, false])
    func noVersion(_ isOld: Bool) async throws {
        let peer = try HelloPeer { _, hello in
            let isOldest = hello?[10] == 1
            return .send(isOld && isOldest ? .serverHello(legacy: 0x0301) : .alert(70))
        }
        defer { peer.stop() }
        let record = try await probe(peer.port, "--versions")
        #expect(record.hint?.text.contains("too old") == isOld)
        #expect(record.hint?.text.contains("each version from 1.0 to 1.3") == !isOld)
    }
}
