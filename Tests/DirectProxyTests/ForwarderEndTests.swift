import DirectCore
@testable import DirectIO
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
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
}
#endif
