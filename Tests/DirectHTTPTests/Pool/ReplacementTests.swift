import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Replacements of dead connections", .idleLimit)
struct ReplacementTests {
    private static let ok: ByteScript.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("A dead connection is replaced by a new one in its place, not by another kept one")
    func keepsItsPlace() async throws {
        let mayDie = Gate(), mayAnswer = Gate()
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, Self.ok, .awaitHead, .wait(mayDie), .cut]),
                .bytes([.awaitHead, .wait(mayAnswer), Self.ok]),
                .bytes([.awaitHead, Self.ok, .awaitHead, .cut]),
                .bytes([.awaitHead, Self.ok, .awaitHead, .cut]),
                .http { _ in .text("ok") },
            ])
        )
        let client = HTTPClient { $0.maximumConnectionsPerOrigin = 2 }
        #expect(try await client.get(server.http("/0")).text == "ok")
        let once = server.records[0].receivedCount
        async let onDead = client.get(server.http("/1"))
        try await server.waitUntil { $0[0].receivedCount > once }
        async let busy = client.get(server.http("/2"))
        try await server.waitUntil { $0.count == 2 && $0[1].receivedCount > 0 }
        async let waiting = client.get(server.http("/3"))
        try await waitUntil { client.connections.first?.waiting == 1 }
        mayDie.open()
        #expect(try await onDead.text == "ok")
        #expect(try await waiting.text == "ok")
        mayAnswer.open()
        #expect(try await busy.text == "ok")
    }

    @Test("A dead connection that cannot be replaced gives its place to the next request")
    func givesUpItsPlace() async throws {
        let mayDie = Gate()
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, Self.ok, .awaitHead, .wait(mayDie), .cut]),
                .bytes([.awaitHead, .cut]),
                .http { _ in .text("ok") },
            ])
        )
        let client = HTTPClient { $0.maximumConnectionsPerOrigin = 1 }
        #expect(try await client.get(server.http("/0")).text == "ok")
        let once = server.records[0].receivedCount
        async let failing = httpError { try await client.get(server.http("/1")) }
        try await server.waitUntil { $0[0].receivedCount > once }
        async let waiting = client.get(server.http("/2"))
        try await waitUntil { client.connections.first?.waiting == 1 }
        mayDie.open()
        // A replay is not replayed.
        #expect(try await failing.protocolError == .closedBeforeResponse)
        #expect(try await waiting.text == "ok")
    }
}

/// Waits for something of which no event tells, on a loop that has other tasks to run.
func waitUntil(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
