import DirectCore
import DirectHTTP
@testable import DirectIO
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
import TLSFixtures
import Testing

#if os(Linux)
import Glibc

@Suite("Ends of requests for http URLs", .idleLimit)
struct ForwarderEndTests {
    @Test("Behind an early answer and the end of the stream a program that pauses costs nothing")
    func earlyRest() async throws {
        let time = HeldTime()
        let (stage, program, far) = try ForwarderTests.halfRequest { $0.loop = time.loop }
        try far.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        far.finishSending()
        #expect(try program.rest().hasSuffix("\r\n\r\nok"))
        try await Self.expectRest(of: program, time)
        try program.send("-rest")
        #expect(try far.text(5) == "-rest")
        #expect(await stage.reports(1).first?.ending == .complete)
    }

    @Test("A program that was refused before its content, and keeps its connection, costs nothing")
    func expectRest() async throws {
        let time = HeldTime()
        let stage = try ForwarderTests.stage { $0.loop = time.loop }
        let program = try stage.program()
        try program.send(
            "PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        )
        let far = try stage.target.accept()
        try far.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        #expect(try program.rest().hasPrefix("HTTP/1.1 417 "))
        try await Self.expectRest(of: program, time)
        program.finishSending()
        #expect(await stage.reports(1).first?.ending == .complete)
    }

    /// Expects that the system tells next to nothing of the proxy's end of the program's connection, while
    /// the loop goes round a hundred times and nobody says a word. The proxy looks at both ends at each event.
    private static func expectRest(of program: Peer, _ time: HeldTime) async throws {
        let endpoint = try #require(localEndpoint(of: program.descriptor))
        let near = try #require(try descriptors(connectedTo: endpoint).first)
        let copy = try #require(duplicate(near, atLeast: 0))
        defer { close(copy) }
        let watch = LoopHandle(loop: time.loop)
        try time.loop.add(watch, descriptor: copy)
        defer { time.loop.remove(watch, descriptor: copy) }
        var count = 0
        for _ in 0..<100 {
            await time.settle()
            if watch.output.isReady { count += 1 }
            watch.output.clear()
        }
        // The first tells how the connection is, and one may tell that the program's system has the end.
        #expect(count < 10)
    }

    @Test(
        "What a program has sent of its content before it goes arrives, and then the end of its kind",
        arguments: [true, false]
    )
    func cutUpload(byReset: Bool) async throws {
        let (stage, program, far) = try Self.upload(of: 999_999)
        // More than the target's system takes while the target reads nothing, less than the proxy's takes.
        try program.send([UInt8](repeating: 7, count: 500_000))
        try Self.leave(program, byReset: byReset)
        #expect(try far.receive(exactly: 500_000).count == 500_000)
        if byReset {
            #expect(throws: SystemError("recv", code: ECONNRESET)) { try far.receive() }
        } else {
            #expect(try far.rest() == "")
        }
        let report = try #require(await stage.reports(1).first)
        #expect(report.ending == .reset(byTarget: false))
        #expect(report.sent == UInt64(Self.head(of: 999_999).utf8.count + 500_000))
    }

    @Test("A whole request arrives, although its program goes without the answer", arguments: [true, false])
    func wholeUpload(byReset: Bool) async throws {
        let (stage, program, far) = try Self.upload(of: 500_000)
        try program.send([UInt8](repeating: 7, count: 500_000))
        try Self.leave(program, byReset: byReset)
        #expect(try far.receive(exactly: 500_000).count == 500_000)
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try far.receive() }
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: false))
    }

    @Test("So does the part of it that still waits in the proxy for room")
    func waitingUpload() async throws {
        let (stage, program, far) = try Self.upload(of: 200_000) { try limitReceiving(at: $0) }
        try limitSending(to: Endpoint(stage.target.address, port: stage.target.port))
        try program.send([UInt8](repeating: 7, count: 200_000))
        program.finishSending()
        #expect(try far.receive(exactly: 200_000).count == 200_000)
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: false))
    }

    @Test(
        "So does its last record, which TLS to an upstream proxy holds until there is room",
        arguments: [true, false]
    )
    func heldRecord(byReset: Bool) async throws {
        let (authority, target) = (TestAuthority(), try Listener.atOwnAddress())
        let place = Endpoint(target.address, port: target.port)
        let gate = try FixtureServer.start(
            .tls(authority.certificate(for: "proxy.test")),
            behaviour: .proxy(FixtureProxy(["192.0.2.9:80": "\(place)"]))
        )
        let stage = try Stage { configuration, _ in
            var upstream = try Proxy("https://proxy.test:\(gate.port)")
            upstream.addresses = [try Endpoint("127.0.0.1:\(gate.port)")]
            upstream.tls = TLSSettings()
            upstream.tls?.roots = .only([.der(authority.rootDER)])
            configuration.upstream = upstream
            configuration.addresses = try StaticMap(curl: ["*.nowhere.test:80:192.0.2.9"])
        }
        let (size, program) = (1 << 20, try stage.program())
        try program.send(
            "PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nContent-Length: \(size + 1)\r\n\r\n"
        )
        let far = try target.accept()
        let head = Self.head(of: size + 1)
        #expect(try far.text(head.utf8.count) == head)
        // Less than a record.
        try limitSending(to: Endpoint("127.0.0.1:\(gate.port)"))
        let sending = Task {
            try await onOwnThread {
                try program.send([UInt8](repeating: 7, count: size))
                guard byReset else { return program.finishSending() }
                program.waitUntilDelivered()
                program.reset()
            }
        }
        let received = try await onOwnThread { try far.receive(exactly: size) }
        #expect(received.count == size)
        try await sending.value
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: false))
    }

    /// Ends the program's side, and waits until the proxy has seen that: it breaks off the program's first.
    private static func leave(_ program: Peer, byReset: Bool) throws {
        if byReset {
            program.waitUntilDelivered()
            program.reset()
        } else {
            program.finishSending()
            #expect(throws: SystemError("recv", code: ECONNRESET)) { try program.receive() }
        }
    }

    private static func head(of length: Int) -> String {
        "PUT / HTTP/1.1\r\nHost: www.nowhere.test\r\nVia: 1.1 direct-proxy\r\nContent-Length: \(length)\r\n\r\n"
    }

    /// A program that is about to send content, and the target that has got the head.
    private static func upload(
        of length: Int,
        to change: (Endpoint) throws -> Void = { _ in }
    ) throws -> (Stage, program: Peer, far: Peer) {
        let stage = try ForwarderTests.stage()
        try change(Endpoint(stage.target.address, port: stage.target.port))
        let program = try stage.program()
        try program.send(
            "PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
        )
        let far = try stage.target.accept()
        #expect(try far.text(head(of: length).utf8.count) == head(of: length))
        return (stage, program, far)
    }
}
#endif
