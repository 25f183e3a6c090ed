import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("A byte script", .idleLimit)
struct ByteScriptTests {
    @Test("A script sends exactly its bytes, after the head of the request, and closes")
    func exactBytes() async throws {
        let server = try FixtureServer.start(behaviour: .bytes(.answer("HTTP/1.1 200 OK\nodd \u{0}\r")))
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(outcome.text == "HTTP/1.1 200 OK\nodd \u{0}\r")
        #expect(outcome.end == .fin)
        let record = try await server.nextRecord()
        #expect(record.end == .serverClosed)
        #expect(record.receivedText == "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    }

    @Test("A script waits for a number of bytes, wherever they were read")
    func awaitBytes() async throws {
        let server = try FixtureServer.start(
            behaviour: .bytes([.awaitBytes(3), .send("three"), .awaitBytes(4), .send("four")])
        )
        let outcome = await talk(to: server, sending: "abcdefg")
        #expect(outcome.text == "threefour")
    }

    @Test("A script waits at a gate until the test opens it")
    func gate() async throws {
        let gate = Gate()
        let server = try FixtureServer.start(
            behaviour: .bytes([.send("before "), .wait(gate), .send("after")])
        )
        let outcome = Task { await talk(to: server) }
        try await server.waitUntil { $0.count == 1 }
        #expect(server.records[0].end == nil)
        gate.open()
        #expect(await outcome.value.text == "before after")
    }

    @Test("A script pauses between its bytes")
    func pause() async throws {
        let server = try FixtureServer.start(
            behaviour: .bytes([.send("a"), .pause(.milliseconds(120)), .send("b")])
        )
        let clock = ContinuousClock()
        let start = clock.now
        #expect(await talk(to: server).text == "ab")
        #expect(clock.now - start >= .milliseconds(120))
    }

    @Test("A script sends bytes slowly and without end")
    func dripAndFlood() async throws {
        let server = try FixtureServer.start(
            behaviour: .bytes([
                .drip(Array("slow".utf8), every: .milliseconds(5)), .flood(Array("ab".utf8), times: 50_000),
            ])
        )
        let outcome = await talk(to: server)
        #expect(outcome.text.hasPrefix("slowabab"))
        #expect(outcome.bytes.count == 100_004)
    }

    @Test("A script resets the connection")
    func reset() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitHead, .reset]))
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(outcome.end == .failed(ECONNRESET))
        #expect(try await server.nextRecord().end == .serverReset)
    }

    @Test("A script cuts the connection with FIN even if the client's bytes were not read")
    func cutWithUnreadBytes() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitBytes(1), .send("partial"), .cut]))
        let outcome = await talk(to: server, sending: String(repeating: "x", count: 200_000))
        #expect(outcome.text == "partial")
        #expect(outcome.end == .fin)
        #expect(try await server.nextRecord().end == .serverCut)
    }

    @Test("A script half-closes the connection and continues to read")
    func halfClose() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.send("x"), .halfClose, .awaitBytes(5)]))
        #expect(await talk(to: server, sending: "hello").end == .fin)
        let record = try await server.nextRecord()
        #expect(record.receivedText == "hello")
    }

    @Test("Each connection gets its own script, and later ones the last")
    func sequence() async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.send("first")]), .http { _ in .text("second").then(.close) },
                .bytes([.send("last")]),
            ])
        )
        #expect(await talk(to: server).text == "first")
        #expect(await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n").text.hasSuffix("second"))
        #expect(await talk(to: server).text == "last")
        #expect(await talk(to: server).text == "last")
    }

    @Test("The record distinguishes clients that close, reset or are silent")
    func clientEnds() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitClose]))
        _ = await talk(to: server, sending: "bye", closingAfter: true)
        let record = try await server.nextRecord()
        #expect(record.end == .clientClosed)
        #expect(record.receivedText == "bye")
    }
}

@Suite("A byte script under TLS", .idleLimit, .enabled(if: isInstalled("openssl")))
struct TLSByteScriptTests {
    private let authority = TestAuthority()
    private var security: FixtureSecurity { .tls(authority.certificate(for: "a.test")) }

    @Test("A script performs the handshake before the first step that needs it")
    func implicitHandshake() async throws {
        let server = try FixtureServer.start(
            security,
            behaviour: .bytes([.send("hello"), .closeNotify, .awaitClose])
        )
        let result = try await openSSLClient(server, "-servername", "a.test", "-quiet")
        #expect(result.output == "hello")
        #expect(try await server.nextRecord().end == .clientClosed)
    }

    @Test("Garbage before the handshake is not TLS for the client")
    func garbageBefore() async throws {
        let server = try FixtureServer.start(
            security,
            behaviour: .bytes([.rawBytes(Array("HTTP/1.1 400 Bad\r\n\r\n".utf8)), .awaitClose])
        )
        let result = try await openSSLClient(server)
        #expect(result.errors.contains("wrong version number"))
    }

    @Test("Garbage after the handshake breaks the client's stream")
    func garbageAfter() async throws {
        let garbage = [UInt8](repeating: 0x17, count: 5) + [UInt8](repeating: 0, count: 64)
        let server = try FixtureServer.start(
            security,
            behaviour: .bytes([.handshake, .rawBytes(garbage), .awaitClose])
        )
        let result = try await openSSLClient(server, "-quiet")
        #expect(result.errors.contains("error:"))
        let end = try await server.nextRecord().end
        guard case .clientAlert = end else {
            Issue.record("\(String(describing: end))")
            return
        }
    }

    @Test("A plain alert reaches the client", arguments: [UInt8(40), 80, 112])
    func alert(number: UInt8) async throws {
        let server = try FixtureServer.start(
            security,
            behaviour: .bytes([.awaitArrival, .alert(number), .awaitClose])
        )
        let result = try await openSSLClient(server)
        #expect(result.errors.contains("SSL alert number \(number)"))
    }

    @Test("A muted handshake leaves the client waiting, with its hello in the record")
    func muted() async throws {
        let server = try FixtureServer.start(
            security,
            behaviour: .bytes([.mute(afterBytes: 100), .handshake])
        )
        let client = Task { try await openSSLClient(server, "-servername", "a.test") }
        let records = try await server.waitUntil { $0.first?.hello != nil }
        #expect(records[0].serverName == "a.test")
        #expect(records[0].tls == nil)
        server.stop()
        #expect(try await client.value.output.contains("CONNECTED"))
        #expect(server.records[0].end == .serverStopped)
    }

    @Test("A cut omits close_notify, and an orderly end sends it")
    func cutAndClose() async throws {
        let server = try FixtureServer.start(
            security,
            behaviour: .sequence([.bytes([.send("x"), .cut]), .bytes([.send("y")])])
        )
        let cut = try await openSSLClient(server, "-quiet")
        #expect(cut.output == "x")
        #expect(cut.errors.contains("unexpected eof"))
        let orderly = try await openSSLClient(server, "-quiet")
        #expect(orderly.output == "y")
        #expect(!orderly.errors.contains("unexpected eof"))
    }

    @Test(
        "A script requests new keys: a key update in TLS 1.3, renegotiation in TLS 1.2",
        arguments: ["-tls1_3", "-tls1_2"]
    )
    func newKeys(version: String) async throws {
        let server = try FixtureServer.start(
            security,
            // Without `.awaitClose`: a client that has begun to renegotiate waits for the server's end, too.
            behaviour: .bytes([.askForNewKeys, .send("still here"), .closeNotify])
        )
        let result = try await openSSLClient(server, version, "-msg", "-quiet")
        #expect(result.output.contains("still here"))
        #expect(result.output.contains(version == "-tls1_3" ? "KeyUpdate" : "HelloRequest"))
    }
}

/// Runs `openssl s_client` against the server with nothing to say.
func openSSLClient(_ server: FixtureServer, _ arguments: String...) async throws -> CommandResult {
    try await openSSLClient(server, arguments: arguments)
}

func openSSLClient(_ server: FixtureServer, arguments: [String]) async throws -> CommandResult {
    try await run("openssl", ["s_client", "-connect", server.authority] + arguments)
}
