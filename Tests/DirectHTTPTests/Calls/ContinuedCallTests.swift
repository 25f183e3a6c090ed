import DirectCore
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("A call that continues the redirects of other code", .idleLimit)
struct ContinuedCallTests {
    @Test("It sends no credentials, neither those of its URL nor an authenticator's", arguments: [0, 1, 2])
    func credentials(interceptorCount: Int) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let interceptors = [copying { $0.headers["X-A"] = "b" }, anew { _ in }]
        let client = HTTPClient.untimed { $0.interceptors = Array(interceptors.prefix(interceptorCount)) }
        let url = server.http().replacing("://", with: "://user:secret@")
        var request = Request(.get, url)
        _ = try await client.sendContinued(request).body.collect(upTo: 1 << 16)
        request.authenticator = .basic(user: "user", password: "secret")
        _ = try await client.sendContinued(request).body.collect(upTo: 1 << 16)
        #expect(server.requests.map { $0.headers["Authorization"] } == [nil, nil])
    }

    @Test("An interceptor may set an authenticator for it")
    func interceptor() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let client = HTTPClient.untimed {
            $0.interceptors = [copying { $0.authenticator = .basic(user: "a", password: "b") }]
        }
        _ = try await client.sendContinued(Request(.get, server.http())).body.collect(upTo: 1 << 16)
        #expect(server.requests.map { $0.headers["Authorization"] != nil } == [true])
    }
}
