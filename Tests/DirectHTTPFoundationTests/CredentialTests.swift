import DirectHTTP
import DirectHTTPFoundation
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Credentials")
struct CredentialTests {
    private let credential = URLCredential(user: "user", password: "pass", persistence: .forSession)
    private let basic = "Basic \(Data("user:pass".utf8).base64EncodedString())"

    /// Asks for a password, and tells what it was given.
    private func asking(_ challenge: String = "Basic realm=\"here\"") throws -> FixtureServer {
        try FixtureServer.start { request in
            guard let given = request.headers["authorization"] else {
                return .text("who?", status: 401, ["WWW-Authenticate": challenge])
            }
            return .text(given)
        }
    }

    @Test func aCredentialAnswersWhenItIsAskedForAndFromThenOn() async throws {
        let server = try asking()
        var request = Request(.get, try server.url())
        request.authenticator = CredentialAuthenticator(credential)
        let client = HTTPClient()
        #expect(try await client.fetch(request).text == basic)
        #expect(try await client.fetch(request).text == basic)
        // Refused once, then known.
        #expect(server.requests.count == 3)
    }

    @Test func aDigestIsPreferred() async throws {
        let server = try asking(
            #"Basic realm="here", Digest realm="here", nonce="n", qop="auth", algorithm=SHA-256"#
        )
        var request = Request(.get, try server.url())
        request.authenticator = CredentialAuthenticator(credential)
        #expect(try await HTTPClient().fetch(request).text?.hasPrefix("Digest ") == true)
    }

    @Test func theStorageIsAskedByNameAndRealm() async throws {
        let server = try asking()
        let other = try asking("Basic realm=\"there\"")
        let storage = try #require(URLSessionConfiguration.ephemeral.urlCredentialStorage)
        for server in [server, other] { storage.setDefaultCredential(credential, for: space(server, "here")) }
        let client = HTTPClient { $0.useCredentials(of: storage) }
        #expect(try await client.data(from: server.url()).0 == Data(basic.utf8))
        #expect(try await client.data(from: other.url()).1.statusCode == 401)
    }

    @Test func aSessionsStorageAnswersForOurClass() async throws {
        let server = try asking()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [HTTPClient().urlProtocolClass()]
        configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space(server, "here"))
        let (data, _) = try await URLSession(configuration: configuration).data(from: server.url())
        #expect(data == Data(basic.utf8))
    }

    private func space(_ server: FixtureServer, _ realm: String) -> URLProtectionSpace {
        URLProtectionSpace(
            host: server.address,
            port: Int(server.port),
            protocol: "http",
            realm: realm,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
    }
}
