import DirectCore
import DirectIO
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import DirectTestResolvers
import DirectTestTime
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Tunnels", .idleLimit)
struct TunnelTests {
    private let time = HeldTime()

    @Test("Bytes pass both ways, those behind the head of CONNECT first, and the target may speak first")
    func bytes() throws {
        let stage = try Stage()
        let program = try stage.program()
        try program.send("CONNECT \(Stage.name) HTTP/1.1\r\nHost: other\r\n\r\nearly ")
        let far = try stage.target.accept()
        try far.send("220 hello\r\n")
        #expect(try program.text(39 + 11).hasSuffix("\r\n\r\n220 hello\r\n"))
        try program.send("late")
        #expect(try far.text(10) == "early late")
        try far.send("answer")
        #expect(try program.text(6) == "answer")
    }

    @Test("The end of one direction is passed on, and the other goes on")
    func halfClose() async throws {
        let stage = try Stage()
        let (program, far) = try stage.tunnel()
        try program.send("question")
        program.finishSending()
        #expect(try far.rest() == "question")
        try far.send("answer")
        far.finishSending()
        #expect(try program.rest() == "answer")
        let report = try #require(await stage.reports(1).first)
        #expect(report.ending == .complete)
        #expect((report.sent, report.received) == (8, 6))
        #expect(report.target == Stage.name)
        #expect(report.endpoint == Endpoint(stage.target.address, port: stage.target.port))
        #expect(report.source == .staticMap)
    }

    @Test("A reset is passed on as a reset", arguments: [true, false])
    func reset(byTarget: Bool) async throws {
        let stage = try Stage()
        let (program, far) = try stage.tunnel()
        (byTarget ? far : program).reset()
        #expect(throws: SystemError("recv", code: ECONNRESET)) {
            try (byTarget ? program : far).receive()
        }
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: byTarget))
    }

    @Test("A target that does not read slows the program down, and gets every byte in the end")
    func backpressure() async throws {
        let stage = try Stage()
        let (program, far) = try stage.tunnel()
        // A piece whose length is no power of two, so that bytes in the wrong order are seen.
        let piece = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        var sent: [UInt8] = []
        for _ in 0..<512 { sent += piece }
        let sending = Task { [sent] in try await onOwnThread { try program.send(sent) } }
        // The proxy has taken what it may, and waits: the far side has been sent no more than its buffers
        // hold.
        let received = try await onOwnThread { [count = sent.count] in try far.receive(exactly: count) }
        try await sending.value
        #expect(received == sent)
        program.finishSending()
        #expect(try far.rest() == "")
        far.finishSending()
        #expect(await stage.reports(1).first?.sent == UInt64(sent.count))
    }

    @Test("In a busy tunnel what follows urgent data arrives, and the end", arguments: [true, false])
    func urgentData(fromProgram: Bool) async throws {
        let stage = try Stage()
        let (program, far) = try stage.tunnel()
        let (source, sink) = fromProgram ? (program, far) : (far, program)
        let sending = Task {
            try await onOwnThread { try source.send([UInt8](repeating: 1, count: 8 << 20)) }
        }
        _ = try await onOwnThread { try sink.receive(exactly: 8 << 20) }
        try await sending.value
        #expect(send(source.descriptor, "!", 1, Int32(truncatingIfNeeded: MSG_OOB)) == 1)
        try source.send("later")
        #expect(try sink.text(5) == "later")
        #expect(send(source.descriptor, "!", 1, Int32(truncatingIfNeeded: MSG_OOB)) == 1)
        try source.send("last")
        source.finishSending()
        #expect(try sink.rest() == "last")
    }

    @Test("A target that goes in the midst of many bytes ends the tunnel, and not the process")
    func goneTarget() async throws {
        let stage = try Stage()
        let (program, far) = try stage.tunnel()
        let sending = Task {
            try await onOwnThread {
                while true { try program.send([UInt8](repeating: 1, count: 1 << 20)) }
            }
        }
        _ = try await onOwnThread { try far.receive(exactly: 8 << 20) }
        far.reset()
        await #expect(throws: SystemError.self) { try await sending.value }
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: true))
    }

    @Test("A tunnel without a byte for the idle limit ends, and a byte puts that off")
    func idle() async throws {
        let stage = try Stage { configuration, _ in
            configuration.loop = time.loop
            configuration.limits.idle = .seconds(77)
        }
        let (program, far) = try stage.tunnel()
        try await time.waitBegins(for: .seconds(77))
        time.advance(by: .seconds(50))
        try program.send("x")
        #expect(try far.text(1) == "x")
        try await time.waitBegins(for: .seconds(77))
        time.advance(by: .seconds(76))
        #expect(stage.proxy.tunnelCount == 1)
        time.advance(by: .seconds(1))
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try program.receive() }
        #expect(await stage.reports(1).first?.ending == .idle)
    }

    @Test(
        "A target that ignores the program's end keeps its tunnel for less, one that waits for it for as long"
    )
    func halfClosed() async throws {
        let stage = try Stage { configuration, _ in
            configuration.loop = time.loop
            (configuration.limits.idle, configuration.limits.halfClosed) = (.seconds(77), .seconds(55))
        }
        let (program, far) = try stage.tunnel()
        far.finishSending()
        #expect(try program.rest() == "")
        try await time.waitBegins(for: .seconds(77))
        program.finishSending()
        #expect(await stage.reports(1).first?.ending == .complete)
        let (second, secondFar) = try stage.tunnel()
        second.finishSending()
        #expect(try secondFar.rest() == "")
        try await time.waitBegins(for: .seconds(55))
        time.advance(by: .seconds(55))
        #expect(await stage.reports(2).last?.ending == .idle)
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try second.receive() }
    }

    @Test("A program that leaves while its target is dialled gives its place back, once")
    func left() async throws {
        let (asked, asking) = AsyncStream.makeStream(of: Void.self)
        let (answers, answering) = AsyncStream.makeStream(of: Void.self)
        let stage = try Stage { configuration, target in
            configuration.limits.tunnels = 1
            configuration.vetting = nil
            let endpoint = Endpoint(target.address, port: target.port)
            configuration.resolver = ScriptedResolver { _, _ in
                asking.yield()
                for await _ in answers { break }
                return Resolution([endpoint], source: .resolver("slow"))
            }
        }
        let program = try stage.program()
        try program.send("CONNECT slow.test:443 HTTP/1.1\r\n\r\n")
        for await _ in asked { break }
        #expect(stage.proxy.tunnelCount == 1)
        program.reset()
        answering.yield()
        let report = try #require(await stage.reports(1).first)
        #expect(report.ending == .refused(502, "the program has gone"))
        #expect(report.target == "slow.test:443")
        #expect(stage.proxy.tunnelCount == 0)
        let first = try stage.target.accept()
        _ = try stage.tunnel()
        withExtendedLifetime(first) {}
    }

    @Test(
        "A proxy that stops accepts nothing, waits for its tunnels, and breaks off those that outlast the limit"
    )
    func stop() async throws {
        let stage = try Stage { configuration, _ in
            configuration.loop = time.loop
            configuration.limits.drain = .seconds(33)
        }
        let endpoint = try #require(stage.proxy.endpoints.first)
        let (first, firstFar) = try stage.tunnel()
        let (second, secondFar) = try stage.tunnel(to: "b.nowhere.test:443")
        let stopping = Task { await stage.proxy.stop() }
        try await time.waitBegins(for: .seconds(33))
        while (try? Peer.connected(to: endpoint)) != nil { await Task.yield() }
        first.finishSending()
        #expect(try firstFar.rest() == "")
        firstFar.finishSending()
        #expect(try first.rest() == "")
        _ = await stage.reports(1)
        time.advance(by: .seconds(33))
        await stopping.value
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try second.receive() }
        #expect(await stage.reports(2).map(\.ending) == [.complete, .stopped])
        withExtendedLifetime(secondFar) {}
    }

    @Test(
        "Whoever gives up the wait for the stop breaks the tunnels off, and still waits until they have ended"
    )
    func cancelledStop() async throws {
        let stage = try Stage { configuration, _ in
            configuration.loop = time.loop
            configuration.limits.drain = .seconds(33)
        }
        let (program, far) = try stage.tunnel()
        let stopping = Task {
            await stage.proxy.stop()
            return stage.reported.map(\.ending)
        }
        try await time.waitBegins(for: .seconds(33))
        stopping.cancel()
        #expect(await stopping.value == [.stopped])
        for peer in [program, far] {
            #expect(throws: SystemError("recv", code: ECONNRESET)) { try peer.receive() }
        }
    }

    @Test("A proxy that is let go ends its tunnels")
    func letGo() throws {
        var stage: Stage? = try Stage()
        let (program, far) = try #require(try stage?.tunnel())
        stage = nil
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try program.receive() }
        withExtendedLifetime(far) {}
    }

    @Test("The next address is dialled when one refuses, and no byte of the program goes to two")
    func failover() async throws {
        let dead = try Listener(listening: false)
        let stage = try Stage { configuration, target in
            configuration.addresses = try StaticMap(
                curl: ["*:443:\(dead.address):\(dead.port),\(target.address):\(target.port)"]
            )
        }
        let (program, far) = try stage.tunnel()
        try program.send("once")
        #expect(try far.text(4) == "once")
        program.finishSending()
        far.finishSending()
        #expect(await stage.reports(1).first?.failed == [Endpoint(dead.address, port: dead.port)])
    }

    @Test("The first words of a target that come with the answer of an upstream proxy belong to the tunnel")
    func firstWords() throws {
        let stage = try Self.behindUpstream()
        let program = try stage.program()
        try program.send("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n")
        let upstream = try stage.target.accept()
        let request = "CONNECT 192.0.2.9:443 HTTP/1.1\r\nHost: 192.0.2.9:443\r\n\r\n"
        #expect(try upstream.text(request.utf8.count) == request)
        // One piece of a connection within this machine arrives as one.
        try upstream.send("HTTP/1.1 200 OK\r\n\r\n220 hello\r\n")
        #expect(try program.text(39 + 11).hasSuffix("\r\n\r\n220 hello\r\n"))
        try upstream.send("more")
        #expect(try program.text(4) == "more")
        try program.send("EHLO")
        #expect(try upstream.text(4) == "EHLO")
    }

    @Test("Words of a target that come before its request are no answer to it")
    func wordsBeforeRequest() throws {
        let stage = try Self.behindUpstream()
        let program = try stage.program()
        try program.send("GET http://www.nowhere.test:443/ HTTP/1.1\r\nHost: a\r\n\r\n")
        let upstream = try stage.target.accept()
        _ = try upstream.receive()
        try upstream.send("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
        #expect(try program.rest().hasPrefix("HTTP/1.1 502 "))
    }

    /// A proxy with an upstream proxy, which the stage's target is.
    private static func behindUpstream() throws -> Stage {
        try Stage { configuration, target in
            configuration.addresses = try StaticMap(curl: ["*.nowhere.test:443:192.0.2.9"])
            configuration.upstream = try Proxy("http://\(target.address):\(target.port)")
        }
    }

    #if os(Linux)
    @Test(
        "What a target has said before it breaks off arrives, and then the break",
        arguments: [true, false]
    )
    func lastWords(inTunnel: Bool) async throws {
        let stage = try Stage()
        let program = try stage.program()
        try program.send(
            inTunnel
                ? "CONNECT \(Stage.name) HTTP/1.1\r\n\r\n"
                : "GET http://\(Stage.name)/ HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        let far = try stage.target.accept()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"
        if !inTunnel { try far.send(answer) }
        // More than the program's system takes while the program reads nothing, less than the proxy's takes.
        try far.send([UInt8](repeating: 7, count: 500_000))
        far.waitUntilDelivered()
        far.reset()
        // The proxy has seen the break when it has served another program.
        let other = try stage.tunnel()
        let head =
            inTunnel
            ? "HTTP/1.1 200 Connection established\r\n\r\n"
            : "HTTP/1.1 200 OK\r\nVia: 1.1 direct-proxy\r\nContent-Length: 999999\r\n\r\n"
        #expect(try program.text(head.utf8.count) == head)
        #expect(try program.receive(exactly: 500_000).count == 500_000)
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try program.receive() }
        let report = try #require(await stage.reports(1).first)
        #expect(report.ending == .reset(byTarget: true))
        #expect(report.received == UInt64(500_000 + (inTunnel ? 0 : head.utf8.count)))
        withExtendedLifetime(other) {}
    }
    #endif

    @Test("The refusal of an upstream proxy says what it has to allow")
    func upstreamRefusal() throws {
        // It refuses the target, which is an address of loopback.
        let upstream = try Stage()
        let stage = try Stage { configuration, _ in
            configuration.upstream = try Proxy(try #require(upstream.proxy.proxyURL))
        }
        let answer = try stage.answer("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n")
        #expect(answer.contains("CONNECT with 403; it has to allow CONNECT to the address and port"))
    }

    @Test("An upstream proxy is asked for the chosen address, and is told no name")
    func upstream() async throws {
        let upstream = try Stage { configuration, _ in configuration.vetting = nil }
        let stage = try Stage { configuration, _ in
            configuration.upstream = try Proxy(try #require(upstream.proxy.proxyURL))
        }
        let (program, far) = try stage.tunnel()
        try program.send("question")
        #expect(try far.text(8) == "question")
        far.finishSending()
        program.finishSending()
        #expect(await upstream.reports(1).first?.target == "\(stage.target.address):\(stage.target.port)")
        let place = try #require(upstream.proxy.endpoints.first)
        await upstream.proxy.stop()
        let answer = try stage.answer("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
        // Refused, or reset: a process that another test starts has the port until it executes its program.
        #expect(answer.contains("\(Stage.name): upstream proxy at \(place): "), "\(answer)")
    }
}
