import TLSFixtures
import Testing

@testable import DirectCore
@testable import DirectHTTP

@Suite("Logins by the strongest scheme")
struct LoginTests {
    private let basic = "Basic realm=\"r\""

    private func digest(_ nonce: String, algorithm: String = "SHA-256") -> String {
        "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=\(algorithm)"
    }

    private func refusing(_ challenges: String...) -> (HTTPStatus, HTTPHeaders) {
        (401, HTTPHeaders(challenges.map { ("WWW-Authenticate", $0) }))
    }

    private var login: LoginAuthenticator {
        LoginAuthenticator { _, _ in Login(user: "user", password: "secret") }
    }

    /// The schemes of the requests, by the words before their credentials.
    private func schemes(_ script: Script) -> [String?] {
        script.requests.map { $0.headers["Authorization"].map { String($0.prefix { $0 != " " }) } }
    }

    @Test("A password that Digest has answered with never goes out as Basic, whatever the server says then")
    func noDowngrade() async throws {
        let (first, second) = (digest("n1"), digest("n2"))
        // Servers that share no nonces; then somebody who offers nothing but Basic.
        let script = Script(refusing(first, basic), refusing(basic, second), refusing(basic))
        var request = Request(.get, "http://a.test/")
        request.authenticator = login
        let client = script.client()
        for _ in 0..<3 { #expect(try await client.fetch(request).status == 401) }
        #expect(schemes(script).contains("Digest") && !schemes(script).contains("Basic"))
        #expect(script.urls.count == 4)
    }

    @Test("A login is known at the origins that it has answered, and a stronger scheme replaces a weaker one")
    func upgrade() async throws {
        let script = Script(
            refusing(basic),
            (200, [:]),
            refusing(basic, digest("n1")),
            (200, [:]),
            refusing(basic),
            (200, [:])
        )
        let login = login
        let client = script.client()
        for host in ["a", "a", "b"] {
            var request = Request(.get, "http://\(host).test/")
            request.authenticator = login
            #expect(try await client.fetch(request).status == 200)
        }
        #expect(schemes(script) == [nil, "Basic", "Basic", "Digest", nil, "Basic"])
    }

    @Test("A challenge by an unknown algorithm is no offer, and one without a login is passed over")
    func offers() async throws {
        let unknown = digest("n1", algorithm: "SHA3-256")
        let script = Script(refusing(unknown, basic), (200, [:]))
        var request = Request(.get, "http://a.test/")
        request.authenticator = login
        #expect(try await script.client().fetch(request).status == 200)
        #expect(schemes(script) == [nil, "Basic"])
        // The realm decides which challenge the answer is for.
        let other = "Digest realm=\"other\", nonce=\"n0\", qop=\"auth\""
        let both = Script(refusing(other, digest("n1")), (200, [:]))
        request.authenticator = LoginAuthenticator { challenge, _ in
            challenge.realm == "r" ? Login(user: "user", password: "secret") : nil
        }
        #expect(try await both.client().fetch(request).status == 200)
        #expect(both.requests.last?.headers["Authorization"]?.contains("realm=\"r\"") == true)
    }

    @Test("A login that has changed is not sent in advance, and picks its scheme anew")
    func changedLogin() async throws {
        let password = Locked("old")
        let script = Script(refusing(digest("n1")), (200, [:]), refusing(basic), (200, [:]))
        var request = Request(.get, "http://a.test/")
        request.authenticator = LoginAuthenticator { _, _ in
            Login(user: "user", password: password.withLock { $0 })
        }
        let client = script.client()
        #expect(try await client.fetch(request).status == 200)
        password.withLock { $0 = "new" }
        #expect(try await client.fetch(request).status == 200)
        #expect(schemes(script) == [nil, "Digest", nil, "Basic"])
    }

    @Test("A body that Digest would have to hash and cannot is an error, although Basic is offered")
    func unhashedBody() async throws {
        let whole = "Digest realm=\"r\", nonce=\"n1\", qop=\"auth-int\""
        let script = Script(refusing(whole, basic))
        var request = Request(
            .post,
            "http://a.test/",
            body: .replayable { AsyncStream<[UInt8]> { $0.finish() } }
        )
        request.authenticator = login
        let error = try await httpError { [request] in try await script.client().fetch(request) }
        #expect(error.authenticationError == .bodyNotInMemory)
        #expect(schemes(script) == [nil])
    }
}
