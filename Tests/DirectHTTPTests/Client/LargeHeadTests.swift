import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Large request heads", .idleLimit)
struct LargeHeadTests {
    @Test(
        "A head larger than one TLS record is sent once and completely",
        arguments: [10_000, 16_300, 40_000]
    )
    func largerThanARecord(size: Int) async throws {
        let server = try FixtureServer.secure("a.test")
        var request = server.request(server.https("a.test"), .post, body: .text("the body"))
        request.headers["X-Large"] = String(repeating: "x", count: size)
        _ = try await HTTPClient.trusting().fetch(request)
        let record = try await server.nextRequest()
        #expect(record.headers["x-large"]?.utf8.count == size)
        #expect(record.bodyText == "the body")
    }
}
