import DirectCore
import DirectIO
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Requests for http URLs", .idleLimit)
struct ForwarderTests {
    @Test(
        "A request is made anew: the URL's host, path and query as they came, nothing that was for the proxy"
    )
    func request() throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(
            "GET http://www.nowhere.test/a%20b/../c?q=1 HTTP/1.1\r\nHost: other\r\nProxy-Connection: keep-alive\r\n"
                + "Connection: X-Drop, keep-alive\r\nX-Drop: 1\r\nProxy-Authorization: Basic x\r\nTE: trailers\r\n"
                + "X-Keep: 1\r\nKeep-Alive: 5\r\nVia: 1.0 first\r\n\r\n"
        )
        let expected =
            "GET /a%20b/../c?q=1 HTTP/1.1\r\nHost: www.nowhere.test\r\nX-Keep: 1\r\nVia: 1.0 first\r\n"
            + "Via: 1.1 direct-proxy\r\n\r\n"
        #expect(try stage.target.accept().text(expected.utf8.count) == expected)
    }

    @Test("Several requests share both connections, and each is reported")
    func several() async throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(Self.get)
        let far = try stage.target.accept()
        for number in 1...3 {
            #expect(try far.text(Self.sent.utf8.count) == Self.sent)
            let response =
                "HTTP/1.1 200 Fine\r\nConnection: X-Drop\r\nX-Drop: 1\r\nKeep-Alive: timeout=5\r\nA: b\r\n"
                + "Content-Length: 2\r\n\r\nok"
            try far.send(response)
            let expected = "HTTP/1.1 200 Fine\r\nA: b\r\nVia: 1.1 direct-proxy\r\nContent-Length: 2\r\n\r\nok"
            #expect(try program.text(expected.utf8.count) == expected)
            if number < 3 { try program.send(Self.get) }
        }
        let reports = await stage.reports(3)
        #expect(reports.map(\.road) == [.http, .http, .http])
        #expect(reports.allSatisfy { $0.target == "www.nowhere.test:80" && $0.ending == .complete })
    }

    @Test("Content in chunks is chunked anew, without extensions, with its trailers, both ways")
    func chunks() throws {
        let stage = try Self.stage()
        let program = try stage.program()
        let chunked = "Transfer-Encoding: chunked\r\n\r\n"
        try program.send("PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\n\(chunked)")
        let far = try stage.target.accept()
        let head =
            "PUT / HTTP/1.1\r\nHost: www.nowhere.test\r\nVia: 1.1 direct-proxy\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try far.text(head.utf8.count) == head)
        try program.send("5;a=\"b\"\r\nhello\r\n")
        #expect(try far.text(10) == "5\r\nhello\r\n")
        try program.send("0\r\nX-Sum: 1\r\n\r\n")
        #expect(try far.text(15) == "0\r\nX-Sum: 1\r\n\r\n")
        try far.send("HTTP/1.1 200 OK\r\n\(chunked)3;x\r\nabc\r\n0\r\nX-Sum: 2\r\n\r\n")
        let answer =
            "HTTP/1.1 200 OK\r\nVia: 1.1 direct-proxy\r\n\(chunked)3\r\nabc\r\n0\r\nX-Sum: 2\r\n\r\n"
        #expect(try program.text(answer.utf8.count) == answer)
    }

    @Test("Content that ends with the connection ends the program's, and a cut is passed on as one")
    func untilClose() throws {
        for isWhole in [true, false] {
            let stage = try Self.stage()
            let program = try stage.program()
            try program.send(Self.get)
            let far = try stage.target.accept()
            try far.send("HTTP/1.1 200 OK\r\n\(isWhole ? "" : "Content-Length: 9\r\n")\r\nbody")
            let head = "HTTP/1.1 200 OK\r\nVia: 1.1 direct-proxy\r\n"
            let rest = isWhole ? "Connection: close\r\n\r\nbody" : "Content-Length: 9\r\n\r\nbody"
            #expect(try program.text((head + rest).utf8.count) == head + rest)
            far.finishSending()
            if isWhole {
                #expect(try program.rest() == "")
            } else {
                #expect(throws: SystemError("recv", code: ECONNRESET)) { try program.receive() }
            }
        }
    }

    @Test("A program that waits for 100 gets it from the target, and then sends its content")
    func expect() throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(
            "PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        )
        let far = try stage.target.accept()
        let head =
            "PUT / HTTP/1.1\r\nHost: www.nowhere.test\r\nVia: 1.1 direct-proxy\r\nContent-Length: 4\r\n"
            + "Expect: 100-continue\r\n\r\n"
        #expect(try far.text(head.utf8.count) == head)
        try far.send("HTTP/1.1 100 Continue\r\n\r\n")
        let interim = "HTTP/1.1 100 Continue\r\nVia: 1.1 direct-proxy\r\n\r\n"
        #expect(try program.text(interim.utf8.count) == interim)
        try program.send("body")
        #expect(try far.text(4) == "body")
    }

    @Test("After 101 both sides speak their own protocol, what came with the heads first")
    func upgrade() throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(
            "GET http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: thing\r\n\r\n"
        )
        let far = try stage.target.accept()
        let head =
            "GET / HTTP/1.1\r\nHost: www.nowhere.test\r\nUpgrade: thing\r\nVia: 1.1 direct-proxy\r\n"
            + "Connection: upgrade\r\n\r\n"
        #expect(try far.text(head.utf8.count) == head)
        try far.send("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: thing\r\n\r\nhello")
        let answer =
            "HTTP/1.1 101 Switching\r\nUpgrade: thing\r\nVia: 1.1 direct-proxy\r\nConnection: upgrade\r\n\r\nhello"
        #expect(try program.text(answer.utf8.count) == answer)
        try program.send("anything\r\n\r\n")
        #expect(try far.text(12) == "anything\r\n\r\n")
        program.finishSending()
        #expect(try far.rest() == "")
    }

    @Test(
        "What could hide another request is refused, and nothing is dialled",
        arguments: [
            ("GET", "http://www.nowhere.test/", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400),
            ("GET", "http://www.nowhere.test/", "Content-Length: 5\r\nContent-Length: 6\r\n", 400),
            (
                "GET", "http://www.nowhere.test/",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400
            ),
            ("GET", "http://www.nowhere.test/", "Transfer-Encoding: x, chunked\r\n", 400),
            ("GET", "http://www.nowhere.test/", "Transfer-Encoding:\u{b}chunked\r\n", 400),
            ("GET", "http://www.nowhere.test/", "Host: b\r\n", 400), ("GET", "/", "", 400),
            ("GET", "*", "", 400),
            ("GET", "https://www.nowhere.test/", "", 400), ("GET", "http://u:p@www.nowhere.test/", "", 400),
            ("GET", "http://www.nowhere.test/#a", "", 400), ("GET", "http:///", "", 400),
            ("GET", "http://www.nowhere.test\\@evil.test/", "", 400), ("GET", "www.nowhere.test:80", "", 400),
            ("GET", "ftp://www.nowhere.test/", "", 400), ("TRACE", "http://www.nowhere.test/", "", 501),
            ("GET", "http://www.nowhere.test:0/", "", 400), ("GET", "http://127.0.0.1/", "", 403),
            ("OPTIONS", "http://www.nowhere.test", "Max-Forwards: 0\r\n", 501),
        ]
    )
    func refused(method: String, target: String, fields: String, status: UInt16) async throws {
        let stage = try Self.stage()
        let answer = try stage.answer("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        let report = try #require(await stage.reports(1).first)
        #expect(report.endpoint == nil)
    }

    @Test(
        "A response that recipients read in different ways becomes 502, and its target is not asked again",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\nContent-Length: 5\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n",
            "SSH-2.0-x\r\n", "", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\na\r\n",
        ]
    )
    func badResponse(_ response: String) throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(Self.get)
        let far = try stage.target.accept()
        #expect(try far.text(Self.sent.utf8.count) == Self.sent)
        try far.send(response)
        far.finishSending()
        #expect(try program.rest().hasPrefix("HTTP/1.1 502 "))
    }

    @Test("A target that answers half a request and reads on gets the rest, and then the next request")
    func earlyAnswer() async throws {
        let (stage, program, far) = try Self.halfRequest()
        try far.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        let answer = "HTTP/1.1 413 Too Large\r\nVia: 1.1 direct-proxy\r\nContent-Length: 0\r\n\r\n"
        #expect(try program.text(answer.utf8.count) == answer)
        try program.send("-rest\(Self.get)")
        #expect(try far.text(5 + Self.sent.utf8.count) == "-rest\(Self.sent)")
        let next = "HTTP/1.1 204 No Content\r\n"
        try far.send("\(next)\r\n")
        #expect(try program.text(next.utf8.count) == next)
        let reports = await stage.reports(2)
        #expect(reports.map(\.ending) == [.complete, .complete])
        #expect(reports.map(\.sent) == [UInt64(Self.half.utf8.count + 5), UInt64(Self.sent.utf8.count)])
    }

    @Test(
        "A target that answers half a request and breaks off ends both connections, which it may have said",
        arguments: [
            "HTTP/1.1 413 Too Large\r\nConnection: close", "HTTP/1.0 413 Too Large", "HTTP/1.1 413 Too Large",
        ]
    )
    func earlyEnd(answer: String) async throws {
        let (stage, program, far) = try Self.halfRequest()
        try far.send("\(answer)\r\nContent-Length: 0\r\n\r\n")
        let isTold = answer != "HTTP/1.1 413 Too Large"
        let told =
            "HTTP/1.1 413 Too Large\r\nVia: 1.1 direct-proxy\r\nContent-Length: 0\r\n"
            + (isTold ? "Connection: close\r\n\r\n" : "\r\n")
        #expect(try program.text(told.utf8.count) == told)
        far.reset()
        #expect(try program.rest() == "")
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: true))
    }

    @Test(
        "A target that answers half a request and ends its sending gets the rest, and the program the end",
        arguments: [
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ]
    )
    func earlyHalfClose(answer: String) async throws {
        let (stage, program, far) = try Self.halfRequest()
        try far.send(answer)
        far.finishSending()
        #expect(try program.rest().hasSuffix("\r\n\r\nok"))
        try program.send("-rest")
        #expect(try far.text(5) == "-rest")
        let report = try #require(await stage.reports(1).first)
        #expect(report.ending == .complete)
        #expect(report.sent == UInt64(Self.half.utf8.count + 5))
    }

    @Test("Behind an early answer the rest of a request may come as late as any bytes")
    func earlyPause() async throws {
        let (time, idle) = (HeldTime(), LocalProxy.Limits().idle)
        let (stage, program, far) = try Self.halfRequest { $0.loop = time.loop }
        try await time.waitBegins(for: idle)
        time.advance(by: .seconds(1))
        try far.send("HTTP/1.1 204 No Content\r\n\r\n")
        // Of the wait behind the answer, as the one before it ends a second earlier.
        try await time.waitBegins(for: idle)
        time.advance(by: idle - .seconds(1))
        try program.send("-rest")
        #expect(try far.text(5) == "-rest")
        #expect(await stage.reports(1).first?.ending == .complete)
    }

    @Test("An empty line behind a request begins no other one")
    func emptyLine() async throws {
        let time = HeldTime()
        let stage = try Self.stage { $0.loop = time.loop }
        let program = try stage.program()
        try program.send("\(Self.get)\r\n")
        let far = try stage.target.accept()
        #expect(try far.text(Self.sent.utf8.count) == Self.sent)
        let answer = "HTTP/1.1 204 No Content\r\n"
        try far.send("\(answer)\r\n")
        #expect(try program.text(answer.utf8.count) == answer)
        // The time of a program that rests, and not that of a request that has begun.
        try await time.waitBegins(for: .seconds(60))
        try program.send(Self.get)
        #expect(try far.text(Self.sent.utf8.count) == Self.sent)
        withExtendedLifetime(stage) {}
    }

    @Test("After a final answer a program that has waited for 100 need not send its content")
    func expectInVain() async throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(
            "PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        )
        let far = try stage.target.accept()
        try far.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        let told =
            "HTTP/1.1 417 Expectation Failed\r\nVia: 1.1 direct-proxy\r\nContent-Length: 0\r\n"
            + "Connection: close\r\n\r\n"
        // It would take its next request for the content.
        #expect(try program.rest() == told)
        program.finishSending()
        #expect(await stage.reports(1).first?.ending == .complete)
    }

    @Test(
        "A target that answers half a request, says that it will close and reads on gets the rest",
        arguments: ["HTTP/1.1 204 No Content\r\nConnection: close", "HTTP/1.0 204 No Content"]
    )
    func earlyGoodbye(answer: String) async throws {
        let (stage, program, far) = try Self.halfRequest()
        try far.send("\(answer)\r\n\r\n")
        let told = "HTTP/1.1 204 No Content\r\nVia: 1.1 direct-proxy\r\nConnection: close\r\n\r\n"
        #expect(try program.text(told.utf8.count) == told)
        try program.send("-rest\(Self.get)")
        #expect(try far.text(5) == "-rest")
        // The next request is dropped, as the answer has said.
        #expect(try program.rest() == "")
        #expect(try far.rest() == "")
        #expect(await stage.reports(1).map(\.sent) == [UInt64(Self.half.utf8.count + 5)])
    }

    #if os(Linux)
    @Test("An answer to half a request that the program has not read yet survives a stop")
    func stopBehindAnswer() async throws {
        let (stage, program, far) = try Self.halfRequest { $0.limits.drain = .seconds(100_000) }
        // More than the program's system takes while the program reads nothing, less than the proxy's takes.
        let body = String(repeating: "x", count: 500_000)
        try far.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 500000\r\n\r\n\(body)")
        far.waitUntilDelivered()
        far.reset()
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: true))
        try program.send("more")
        async let stop: Void = stage.proxy.stop()
        #expect(try program.rest().hasSuffix("\r\n\r\n\(body)"))
        await stop
    }

    @Test("A request that was answered is reported while its rest is to come, which delays no stop")
    func earlyReport() async throws {
        // A stop that waited would not end.
        let (stage, program, far) = try Self.halfRequest {
            $0.limits.drain = .seconds(100_000)
            $0.limits.halfClosed = .seconds(100_000)
        }
        try far.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        far.waitUntilDelivered()
        far.reset()
        #expect(try program.rest().hasPrefix("HTTP/1.1 413 "))
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: true))
        await stage.proxy.stop()
    }

    @Test("An answer to half a request arrives whole, however much is still sent of the request")
    func longAnswer() throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(
            "PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"
        )
        let far = try stage.target.accept()
        let body = String(repeating: "x", count: 100_000)
        try far.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n\(body)")
        far.waitUntilDelivered()
        far.reset()
        try program.send([UInt8](repeating: 0x61, count: 4 << 20))
        program.finishSending()
        #expect(try program.rest().hasSuffix("\r\n\r\n\(body)"))
    }
    #endif

    @Test("A program that goes takes its request with it, at once", arguments: [true, false])
    func programGone(byReset: Bool) async throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(Self.get)
        let far = try stage.target.accept()
        #expect(try far.text(Self.sent.utf8.count) == Self.sent)
        if byReset { program.reset() } else { program.finishSending() }
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try far.receive() }
        #expect(await stage.reports(1).first?.ending == .reset(byTarget: false))
    }

    @Test(
        "Chunks that are read in different ways are refused with 400",
        arguments: ["5\n", "5 \r\n", "+5\r\n"]
    )
    func badChunk(_ line: String) throws {
        let answer = try Self.stage().answer(
            "PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\nab\r\n\(line)hello\r\n0\r\n\r\n"
        )
        #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
    }

    @Test("Of the trailers those are left out that are not for trailers, both ways")
    func trailers() throws {
        let stage = try Self.stage()
        let program = try stage.program()
        let (chunked, last) = ("Transfer-Encoding: chunked\r\n\r\n", "0\r\nX-A: 1\r\nX-B: 2\r\n\r\n")
        let sent = "0\r\nX-A: 1\r\nContent-Length: 9\r\nX-B: 2\r\nHost: b\r\n\r\n"
        try program.send("PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\n\(chunked)\(sent)")
        let far = try stage.target.accept()
        let head = "PUT / HTTP/1.1\r\nHost: www.nowhere.test\r\nVia: 1.1 direct-proxy\r\n\(chunked)\(last)"
        #expect(try far.text(head.utf8.count) == head)
        try far.send("HTTP/1.1 200 OK\r\n\(chunked)\(sent)")
        let answer = "HTTP/1.1 200 OK\r\nVia: 1.1 direct-proxy\r\n\(chunked)\(last)"
        #expect(try program.text(answer.utf8.count) == answer)
    }

    @Test("A HEAD is refused with a head alone")
    func head() throws {
        let answer = try Self.stage().answer("HEAD http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 "))
        #expect(answer.contains("\r\nContent-Length: "))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test("A tunnel may follow requests on their connection")
    func connectAfterwards() throws {
        let stage = try Self.stage()
        let program = try stage.program()
        try program.send(Self.get + "CONNECT www.nowhere.test:80 HTTP/1.1\r\n\r\nearly")
        let first = try stage.target.accept()
        #expect(try first.text(Self.sent.utf8.count) == Self.sent)
        try first.send("HTTP/1.1 204 No Content\r\n\r\n")
        let answer =
            "HTTP/1.1 204 No Content\r\nVia: 1.1 direct-proxy\r\n\r\nHTTP/1.1 200 Connection established\r\n\r\n"
        try #require(try program.text(answer.utf8.count) == answer)
        #expect(try stage.target.accept().text(5) == "early")
        #expect(stage.proxy.tunnelCount == 1)
    }

    @Test("Neither a program without a request in work nor one that has sent none delays the stop")
    func stop() async throws {
        let time = HeldTime()
        let stage = try Self.stage { $0.loop = time.loop }
        let (silent, program) = (try stage.program(), try stage.program())
        try program.send(Self.get)
        let far = try stage.target.accept()
        #expect(try far.text(Self.sent.utf8.count) == Self.sent)
        try far.send("HTTP/1.1 204 No Content\r\n\r\n")
        _ = await stage.reports(1)
        try await time.waitBegins(for: .seconds(60))
        await stage.proxy.stop()
        #expect(try program.rest().hasPrefix("HTTP/1.1 204 "))
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try silent.receive() }
    }

    @Test("A program that sends all of its request first reads the refusal, however much that is")
    func longRefused() throws {
        let time = HeldTime()
        let stage = try Self.stage { $0.loop = time.loop }
        let program = try stage.program()
        try program.send("PUT http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\n")
        try program.send([UInt8](repeating: 0x61, count: 8 << 20))
        #expect(try program.rest().hasPrefix("HTTP/1.1 403 "))
    }

    @Test("A program that has been refused and stays delays no stop")
    func stopBehindRefusal() async throws {
        let time = HeldTime()
        let stage = try Self.stage { $0.loop = time.loop }
        let program = try stage.program()
        try program.send("GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try program.rest().hasPrefix("HTTP/1.1 403 "))
        await stage.proxy.stop()
        withExtendedLifetime(program) {}
    }

    static let get = "GET http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\n\r\n"
    static let sent = "GET / HTTP/1.1\r\nHost: www.nowhere.test\r\nVia: 1.1 direct-proxy\r\n\r\n"

    static let half =
        "PUT / HTTP/1.1\r\nHost: www.nowhere.test\r\nVia: 1.1 direct-proxy\r\nContent-Length: 9\r\n\r\nhalf"

    /// A program that has sent half a request, and the target that has got it.
    static func halfRequest(
        _ change: (inout LocalProxySettings) -> Void = { _ in }
    ) throws -> (Stage, program: Peer, far: Peer) {
        let stage = try stage(change)
        let program = try stage.program()
        try program.send("PUT http://www.nowhere.test/ HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
        let far = try stage.target.accept()
        #expect(try far.text(half.utf8.count) == half)
        return (stage, program, far)
    }

    static func stage(_ change: (inout LocalProxySettings) -> Void = { _ in }) throws -> Stage {
        try Stage { configuration, target in
            change(&configuration)
            configuration.addresses = try StaticMap(curl: [
                "*.nowhere.test:80:\(target.address):\(target.port)"
            ])
        }
    }
}
