import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("The HTTP server", .idleLimit)
struct HTTPServerTests {
    @Test("A connection is kept for several requests, which are numbered")
    func keepAlive() async throws {
        let server = try FixtureServer.start { request in
            let reply = FixtureReply.text("\(request.numberOnConnection)")
            return request.numberOnConnection == 2 ? reply.then(.close) : reply
        }
        let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        let outcome = await talk(to: server, sending: get + get + get)
        #expect(outcome.text.components(separatedBy: "HTTP/1.1 200 OK").count == 4)
        #expect(outcome.text.components(separatedBy: "Connection: close").count == 2)
        let record = try await server.nextRecord()
        #expect(record.requests.count == 3)
        #expect(record.requests.map(\.order) == record.requests.map(\.order).sorted())
    }

    @Test("A response is sent as written: status line, fields in order, content")
    func exactReply() async throws {
        let server = try FixtureServer.start { _ in
            var reply = FixtureReply.bytes(Array("hi".utf8), status: 299, ["B": "2", "A": "1", "a": "3"])
            reply.reason = "Odd"
            return reply.then(.closeUnannounced)
        }
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(outcome.text == "HTTP/1.1 299 Odd\r\nB: 2\r\nA: 1\r\na: 3\r\nContent-Length: 2\r\n\r\nhi")
    }

    @Test("HEAD, 204 and 304 have no content")
    func noContent() async throws {
        let server = try FixtureServer.start { request in
            .text("hi", status: Int(request.path.dropFirst()) ?? 200).then(.closeUnannounced)
        }
        let head = await talk(to: server, sending: "HEAD /200 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(head.text.hasSuffix("Content-Length: 2\r\n\r\n"))
        for status in ["204", "304"] {
            let outcome = await talk(to: server, sending: "GET /\(status) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(outcome.text.hasSuffix("charset=utf-8\r\n\r\n"))
        }
    }

    @Test("Chunks are sent unchanged, with trailers")
    func chunkedReply() async throws {
        let server = try FixtureServer.start { _ in
            .chunked([Array("hello".utf8), Array("0123456789abcdef".utf8)], trailers: ["X-Sum": "7"]).then(
                .closeUnannounced
            )
        }
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(
            outcome.text == """
                HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r
                5\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nX-Sum: 7\r\n\r\n
                """
        )
    }

    @Test("Chunked content is read with extensions and trailers, and the next request after it")
    func chunkedRequest() async throws {
        let server = try FixtureServer.start { request in
            // Whoever asks a second time gets the same.
            let count = try request.body.count
            return .text("\(count)|\(try request.text)|\(try request.trailers["x-sum"] ?? "-")")
        }
        let outcome = await talk(
            to: server,
            sending:
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 7\r\n\r\n"
                + "GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        #expect(outcome.text.contains("11|hello world|7"))
        #expect(outcome.text.hasSuffix("|-"))
        let requests = server.requests
        #expect(requests.map(\.target) == ["/", "/next"])
        #expect(requests[0].bodyText == "hello world")
        #expect(requests[0].trailers["x-sum"] == "7")
        #expect(requests.map(\.isComplete) == [true, true])
    }

    @Test("100 (Continue) is sent when the handler reads the content, and otherwise the connection closes")
    func expectContinue() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/take" ? .text(try request.text) : .status(417)
        }
        let head =
            "HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        let taken = await talk(to: server, sending: "PUT /take \(head)ok")
        #expect(taken.text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
        let refused = await talk(
            to: server,
            sending: "PUT /no HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        )
        #expect(refused.text.hasPrefix("HTTP/1.1 417 Expectation Failed\r\n"))
        #expect(refused.text.contains("Connection: close"))
        #expect(refused.end == .fin)
    }

    @Test("Content that the handler did not read is skipped before the next request")
    func unreadContent() async throws {
        let server = try FixtureServer.start { request in .text(request.path) }
        let outcome = await talk(
            to: server,
            sending:
                "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        #expect(server.requests.map(\.target) == ["/a", "/b"])
        #expect(server.requests[0].bodyText == "GET /")
        #expect(outcome.text.hasSuffix("/b"))
    }

    @Test("An interim response is sent at once")
    func interim() async throws {
        let server = try FixtureServer.start { request in
            try request.sendInterim(103, headers: ["Link": "</a>"])
            return .text("x").then(.closeUnannounced)
        }
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(outcome.text.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n"))
    }

    @Test("A framing field of the handler replaces the server's own, right or wrong")
    func wrongFraming() async throws {
        let server = try FixtureServer.start { _ in
            .bytes(Array("abc".utf8), ["Content-Length": "10"]).then(.cut)
        }
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(outcome.text == "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        #expect(try await server.nextRecord().end == .serverCut)
    }

    @Test("Content without a length ends with the connection")
    func untilClose() async throws {
        let server = try FixtureServer.start { _ in .bytes(Array("abc".utf8), framing: .untilClose) }
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(outcome.text == "HTTP/1.1 200 OK\r\n\r\nabc")
    }

    @Test("Raw bytes and scripts can replace a response")
    func rawAndScript() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/raw"
                ? .raw("nonsense\n", then: .close) : .script([.send("HTTP/1.1 200"), .reset])
        }
        #expect(await talk(to: server, sending: "GET /raw HTTP/1.1\r\nHost: x\r\n\r\n").text == "nonsense\n")
        #expect(
            await talk(to: server, sending: "GET /x HTTP/1.1\r\nHost: x\r\n\r\n").end == .failed(ECONNRESET)
        )
    }

    @Test(
        "A malformed request is answered by 400 and ends the connection, with the reason in the record",
        arguments: [
            "nonsense\r\n\r\n", "\r\n\r\n", "\r\n\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\nx",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n",
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nA : 1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\n b: 2\r\n\r\n", " / HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /\ra HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;a\rb\r\nx\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\rc\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chun\u{212A}ed\r\n\r\n0\r\n\r\n",
            "GET / HTTP/1.xyz\r\nHost: x\r\n\r\n", "GET / HTTP/1.\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nX(: 1\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n: 1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nCoo\u{212A}ie: a=b\r\n\r\n",
        ]
    )
    func badRequests(text: String) async throws {
        let server = try FixtureServer.start { request in .text(try request.text) }
        let outcome = await talk(to: server, sending: text)
        #expect(outcome.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(outcome.text.contains("\r\nConnection: close\r\n"))
        #expect(outcome.end == .fin)
        guard case .badRequest = try await server.nextRecord().end else {
            Issue.record("\(server.records.map(\.end))")
            return
        }
    }

    @Test(
        "A client that asks for the end of the connection gets it, whatever the reply is made of",
        arguments: [
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: TE,\tClose , a\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
            "GET / HTTP/1.0\r\nConnection: \u{212A}eep-alive\r\n\r\n",
            // It asks for nothing, but it may have been framed otherwise before it came here.
            "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ]
    )
    func askedToClose(request: String) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let raw = try FixtureServer.start { _ in .raw(answer) }
        #expect(await talk(to: raw, sending: request + request).bytes == Array(answer.utf8))
        let own = try FixtureServer.start { _ in .text("ok") }
        let reply = await talk(to: own, sending: request + request)
        #expect(reply.text.components(separatedBy: "ok").count == 2 && reply.end == .fin)
        #expect(reply.text.contains("\r\nConnection: close\r\n"))
        let again = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nagain"
        let script = ByteScript([.awaitHead, .send(answer), .closeIfAsked, .awaitHead, .send(again)])
        let scripted = try FixtureServer.start(behaviour: .bytes(script))
        #expect(await talk(to: scripted, sending: request + request).bytes == Array(answer.utf8))
    }

    @Test("A reply leaves the connection open if it says so, whatever the request asks for")
    func leftOpen() async throws {
        let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        let server = try FixtureServer.start { .text("ok").then($0.target == "/" ? .leaveOpen : .keep) }
        let reply = await talk(to: server, sending: request + request.replacing("/ ", with: "/last "))
        #expect(reply.text.components(separatedBy: "\r\n\r\nok").count == 3 && reply.end == .fin)
    }

    @Test("A server that has announced the end of the connection serves no more on it")
    func announcedClose() async throws {
        let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        let fields = "Content-Length: 0\r\nConnection: a,\tClose\r\n\r\n"
        let answer = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\(fields)"
        let raw = try FixtureServer.start { _ in .raw(answer) }
        #expect(await talk(to: raw, sending: get + get).bytes == Array(answer.utf8))
        let own = try FixtureServer.start { _ in .status(200, ["Connection": "close"]) }
        #expect(await talk(to: own, sending: get + get).text.components(separatedBy: "200 OK").count == 2)
        // In content it announces nothing.
        let other = "HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\nConnection: close\r\n\r\n1\r\n"
        let kept = try FixtureServer.start { request in
            .raw(other, then: request.numberOnConnection == 1 ? .close : .keep)
        }
        #expect(await talk(to: kept, sending: get + get).text == other + other)
    }

    @Test("A client of HTTP/1.0 gets no transfer coding and no 100 (Continue)")
    func oldClient() async throws {
        let server = try FixtureServer.start { request in
            .chunked([Array(try request.text.utf8), Array("!".utf8)])
        }
        let head = "POST / HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n"
        let outcome = await talk(to: server, sending: head + "Content-Length: 2\r\n\r\nhi")
        #expect(outcome.text == "HTTP/1.1 200 OK\r\n\r\nhi!")
        #expect(outcome.end == .fin)
    }

    @Test("A success of CONNECT has no framing and no content, and a refusal has both")
    func noTunnel() async throws {
        let server = try FixtureServer.start { request in
            switch request.target {
            case "a.test:1": .bytes(Array("hi".utf8))
            case "a.test:2": .chunked([Array("hi".utf8)])
            default: .bytes(Array("no".utf8), status: 407).then(.close)
            }
        }
        for target in ["a.test:1", "a.test:2"] {
            let connect = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n"
            let outcome = await talk(to: server, sending: connect + connect)
            #expect(outcome.text == "HTTP/1.1 200 OK\r\n\r\n" && outcome.end == .fin)
        }
        let refused = await talk(to: server, sending: "CONNECT b.test:1 HTTP/1.1\r\nHost: b.test:1\r\n\r\n")
        #expect(refused.text.hasSuffix("Content-Length: 2\r\nConnection: close\r\n\r\nno"))
    }

    @Test("The names of fields have the case of ASCII")
    func fieldNames() {
        let headers: FixtureHeaders = ["Coo\u{212A}ie": "Kelvin", "COOKIE": "a", "cookie": "b"]
        #expect(headers["Cookie"] == "a" && headers.all("Cookie") == ["a", "b"])
    }

    @Test("Line ends before a request, blanks before chunk extensions and an absolute target are understood")
    func leniencies() async throws {
        let server = try FixtureServer.start { request in
            .text("\(request.target) \(try request.text)").then(.close)
        }
        let outcome = await talk(
            to: server,
            sending: "\r\nPOST http://y/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
                + "2 \t; a=b\r\nhi\r\n0\r\n\r\n"
        )
        #expect(outcome.text.hasSuffix("http://y/ hi"))
    }

    @Test("A handler that throws resets the connection, with its error in the record")
    func throwingHandler() async throws {
        struct Broken: Error {}
        let server = try FixtureServer.start { _ in throw Broken() }
        #expect(
            await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n").end == .failed(ECONNRESET)
        )
        #expect(try await server.nextRecord().end == .handlerFailed("Broken()"))
    }

    @Test("A handler can wait for the test")
    func handlerGate() async throws {
        let gate = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: gate)
            return .text("opened").then(.close)
        }
        let outcome = Task { await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
        _ = try await server.nextRequest()
        gate.open()
        #expect(await outcome.value.text.hasSuffix("opened"))
    }

    @Test("A wait that times out ends with the records so far")
    func waitingInVain() async throws {
        let server = try FixtureServer.start { _ in .text("").then(.close) }
        _ = await talk(to: server, sending: "GET /seen HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try await server.nextRecord()
        let error = await #expect(throws: FixtureError.self) {
            try await server.nextRecord(within: .milliseconds(50))
        }
        #expect("\(try #require(error))".contains("GET /seen"))
    }

    @Test("A wait ends with an error when the server stops or the task is cancelled")
    func waitingEnds() async throws {
        let server = try FixtureServer.start { _ in .text("") }
        let cancelled = Task { try await server.nextRecord() }
        cancelled.cancel()
        let error = await #expect(throws: FixtureError.self) { try await cancelled.value }
        #expect("\(try #require(error))".contains("the end of a connection; seen: no connection"))
        let waiting = Task { try await server.nextRecord() }
        server.stop()
        await #expect(throws: FixtureError.stopped) { try await waiting.value }
    }
}

@Suite("The HTTP server with curl", .idleLimit, .enabled(if: isInstalled("curl")))
struct CurlTests {
    private let authority = TestAuthority()

    /// Curl's last output line is what `-w` writes.
    private func curl(_ server: FixtureServer, _ path: String, _ arguments: String...) async throws
        -> CommandResult
    {
        let root = try TemporaryFile(authority.rootPEM)
        return try await run(
            "curl",
            ["-sS", "--cacert", root.path, "--resolve", "a.test:\(server.port):\(server.address)"] + arguments
                + ["https://a.test:\(server.port)\(path)"]
        )
    }

    private func start(_ handler: @escaping FixtureHandler) throws -> FixtureServer {
        try FixtureServer.start(.tls(authority.certificate(for: "a.test")), on: "127.0.0.5", handler: handler)
    }

    @Test("Curl follows redirects and sends cookies")
    func redirectsAndCookies() async throws {
        let server = try start { request in
            switch request.path {
            case "/start": .redirect(to: "/end").adding("Set-Cookie", value: "id=7; Path=/")
            default: .text("cookie \(request.cookie("id") ?? "-")")
            }
        }
        let result = try await curl(server, "/start", "-L", "-c", "/dev/null")
        #expect(result.output == "cookie 7")
        #expect(server.requests.map(\.target) == ["/start", "/end"])
        #expect(server.records.count == 1)
    }

    @Test("A validator turns a repeated request into 304")
    func caching() async throws {
        let server = try start { request in
            request.headers["if-none-match"] == "\"v1\""
                ? .status(304, ["ETag": "\"v1\""]) : .text("x", ["ETag": "\"v1\""])
        }
        #expect(try await curl(server, "/", "-w", "%{http_code}").output == "x200")
        #expect(
            try await curl(server, "/", "-w", "%{http_code}", "-H", "If-None-Match: \"v1\"").output == "304"
        )
    }

    @Test(
        "Large contents are streamed both ways under TLS",
        arguments: [FixtureReply.Framing.length, .chunked, .untilClose]
    )
    func largeContents(framing: FixtureReply.Framing) async throws {
        let size = 32 << 20
        let server = try start { request in
            guard request.method == "PUT" else { return .pattern(count: size, framing: framing) }
            var (count, fits) = (0, true)
            try request.readBody { piece in
                fits = fits && FixturePattern.matches(piece, at: count)
                count += piece.count
            }
            return .text("\(count) \(fits)")
        }
        let file = try TemporaryFile("")
        let down = try await curl(server, "/", "-o", file.path, "-w", "%{size_download}")
        #expect(down.output == "\(size)")
        let up = try await curl(server, "/", "-T", file.path)
        #expect(up.output == "\(size) true")
        let request = try #require(server.requests.last)
        #expect(request.bodyCount == size)
        #expect(request.body.count == 256 << 10)
    }

    @Test("The server responds 421 if the name and the host differ")
    func misdirected() async throws {
        let server = try start { request in
            request.host?.hasPrefix(request.serverName ?? "-") == true ? .text("") : .status(421)
        }
        #expect(try await curl(server, "/", "-w", "%{http_code}").output == "200")
        #expect(try await curl(server, "/", "-w", "%{http_code}", "-H", "Host: b.test").output == "421")
    }

    @Test("The server sends a response slowly")
    func drip() async throws {
        let server = try start { _ in .drip(Array("slow".utf8), every: .milliseconds(20), framing: .chunked) }
        let result = try await curl(server, "/", "-w", " %{time_total}")
        let parts = result.output.split(separator: " ")
        #expect(parts.first == "slow")
        #expect(parts.last.flatMap { Double($0) }.map { $0 >= 0.08 } == true)
    }
}
