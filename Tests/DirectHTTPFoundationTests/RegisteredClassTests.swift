import DirectHTTP
import DirectHTTPFoundation
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking

/// Registered classes belong to the process, so each test has its own.
@Suite("Registered classes")
struct RegisteredClassTests {
    @Test("A registered class sends the requests of URLSession.shared, and none of another session")
    func theSharedSession() async {
        await #expect(processExitsWith: .success) {
            let (server, client, url) = try knownName()
            #expect(URLProtocol.registerClass(client.urlProtocolClass()))
            #expect(try await URLSession.shared.data(from: url).0 == Data("found".utf8))
            let other = URLSession(configuration: .default)
            #expect(await urlError { _ = try await other.data(from: url) } != nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test("URLSession.shared does not ask a class that is registered after its first use")
    func tooLate() async {
        await #expect(processExitsWith: .success) {
            let (server, client, url) = try knownName()
            let shared = URLSession.shared
            #expect(URLProtocol.registerClass(client.urlProtocolClass()))
            #expect(await urlError { _ = try await shared.data(from: url) } != nil)
            #expect(server.requests.isEmpty)
        }
    }
}

/// A server at a name that only its client can find.
private func knownName() throws -> (FixtureServer, HTTPClient, URL) {
    let server = try FixtureServer.start { _ in .text("found") }
    var addresses = StaticMap()
    try addresses.set([Endpoint(stringLiteral: server.authority)], for: HostPattern("shop.invalid"))
    let client = HTTPClient.untimed { [addresses] in $0.addresses = addresses }
    return (server, client, try #require(URL(string: "http://shop.invalid:\(server.port)/")))
}
#endif
