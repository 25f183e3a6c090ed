import DirectIO
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectCore
@testable import DirectHTTP
@testable import DirectTransport

@Suite("Dead connections on the way of a retry", .idleLimit)
struct DetourReplacementTests {
    private static let busy: ByteScript.Step = .send(
        "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
    )
    private static let ok: ByteScript.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    /// The retry has found out the addresses to choose its connection; the connection that it dials in place
    /// of a dead one needs no other answer, which may not come.
    @Test("A retry whose kept connection is dead dials at the addresses that it knows")
    func knownAddresses() async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, Self.busy, .awaitHead, .cut]),
                .bytes([.awaitHead, Self.ok]),
            ])
        )
        let queries = Locked(0)
        let address = server.endpoint.address
        let elsewhere = Endpoint(stringLiteral: "127.0.0.9").address
        let lookups = SystemLookups { _ in
            let count = queries.withLock { count in
                count += 1
                return count
            }
            return .success(count <= 2 ? [address] : [elsewhere])
        }
        var settings = HTTPClient.trusting().configuration
        settings.retries = RetryPolicy()
        settings.retries?.delay = .zero
        settings.retries?.attempts = 2
        let client = HTTPClient(settings, network: Network(lookups))
        let response = try await client.get("http://a.test:\(server.port)/")
        #expect(response.text == "ok" && response.history.map(\.status) == [503])
        #expect(queries.withLock { $0 } == 2)
    }
}
