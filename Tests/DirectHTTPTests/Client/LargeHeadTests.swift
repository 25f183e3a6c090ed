import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Large heads", .idleLimit)
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

    @Test(
        "A response head larger than the buffer arrives whole, also behind an interim one",
        arguments: [true, false]
    )
    func response(isSecure: Bool) async throws {
        let values = (0..<50).map { String(repeating: "\($0 % 10)", count: 990) }
        let interim = "HTTP/1.1 103 Early Hints\r\nX-Hint: \(values[7].prefix(900))\r\n\r\n"
        let fields = values.enumerated().map { "X-Large-\($0): \($1)\r\n" }.joined()
        let final = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\(fields)\r\nbody"
        let server = try FixtureServer.scripted(
            [.awaitHead, .send(interim + interim + interim + final)],
            isSecure ? .tls(testAuthority.certificate(for: "a.test")) : .plain
        )
        let url = isSecure ? server.https("a.test") : server.http()
        let response = try await HTTPClient.trusting { $0.limits.headBytes = 1 << 20 }.fetch(
            server.request(url)
        )
        #expect(response.text == "body" && response.headers["Content-Length"] == "4")
        #expect(values.indices.map { response.headers["X-Large-\($0)"] } == values)
    }
}
