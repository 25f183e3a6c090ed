import DirectHTTP
import DirectHTTPFoundation
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Bridge")
struct BridgeTests {
    @Test func dataComesWithItsHead() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let url = try #require(URL(string: "http://\(server.authority)/"))
        let (data, response) = try await HTTPClient().data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect(response.statusCode == 200)
    }
}
