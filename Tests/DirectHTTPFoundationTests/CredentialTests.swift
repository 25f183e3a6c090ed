import DirectHTTP
import DirectHTTPFoundation
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Credentials of Foundation")
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

    @Test("A credential answers a challenge, and later requests send it at once")
    func aCredentialAnswersWhenItIsAskedForAndFromThenOn() async throws {
        let server = try asking()
        var request = Request(.get, try server.url())
        request.authenticator = CredentialAuthenticator(credential)
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(request).text == basic)
        #expect(try await client.fetch(request).text == basic)
        // Refused once, then known.
        #expect(server.requests.count == 3)
    }

    @Test("Digest authentication is preferred to Basic")
    func aDigestIsPreferred() async throws {
        let server = try asking(
            #"Basic realm="here", Digest realm="here", nonce="n", qop="auth", algorithm=SHA-256"#
        )
        var request = Request(.get, try server.url())
        request.authenticator = CredentialAuthenticator(credential)
        #expect(try await HTTPClient.untimed().fetch(request).text?.hasPrefix("Digest ") == true)
    }

    @Test("A password for Digest stays out of the clear where servers share no nonces, also in a session")
    func noDowngrade() async throws {
        let server = try FixtureServer.start { request in
            let nonce = "n\(request.headers["authorization"]?.hashValue ?? 0)"
            return .status(
                401,
                [
                    "WWW-Authenticate":
                        "Digest realm=\"here\", nonce=\"\(nonce)\", qop=\"auth\", Basic realm=\"here\""
                ]
            )
        }
        var request = Request(.get, try server.url())
        request.authenticator = CredentialAuthenticator(credential)
        let client = HTTPClient.untimed()
        for _ in 0..<2 { #expect(try await client.fetch(request).status == 401) }
        let configuration = configuration()
        configuration.urlCredentialStorage?.setDefaultCredential(
            credential,
            for: space(server, "here", method: NSURLAuthenticationMethodDefault)
        )
        _ = try await URLSession(configuration: configuration).data(from: server.url())
        let answers = server.requests.compactMap { $0.headers["authorization"] }
        #expect(answers.count >= 3 && answers.allSatisfy { $0.hasPrefix("Digest ") })
    }

    @Test("A credential of the storage is used only for its realm")
    func theStorageIsAskedByNameAndRealm() async throws {
        let server = try asking()
        let other = try asking("Basic realm=\"there\"")
        let storage = try #require(URLSessionConfiguration.ephemeral.urlCredentialStorage)
        for server in [server, other] { storage.setDefaultCredential(credential, for: space(server, "here")) }
        let authenticator = CredentialAuthenticator(storage)
        let client = try HTTPClient.untimed {
            for server in [server, other] {
                $0.authenticators[try HTTPURL(server.url()).origin] = authenticator
            }
        }
        #expect(try await client.data(from: server.url()).0 == Data(basic.utf8))
        #expect(try await client.data(from: other.url()).1.statusCode == 401)
    }

    @Test(
        "A storage that does not tell which of several users is meant answers nothing; a default counts first",
        arguments: [
            ("ann", "bob", false, nil), ("ann", "ann", false, "ann"), ("ann", "bob", true, "bob"),
        ] as [(String, String, Bool, String?)]
    )
    func severalUsers(_ first: String, _ second: String, share: Bool, _ sent: String?) async throws {
        let server = try asking()
        let storage = try #require(URLSessionConfiguration.ephemeral.urlCredentialStorage)
        func user(_ name: String) -> URLCredential {
            URLCredential(user: name, password: "pass", persistence: .forSession)
        }
        // Two that are made alike are the same space to a reader, and on Linux not to Foundation.
        let here = space(server, "here")
        storage.setDefaultCredential(user(first), for: here)
        storage.setDefaultCredential(user(second), for: share ? here : space(server, "here"))
        for _ in 0..<8 {
            var request = Request(.get, try server.url())
            request.authenticator = CredentialAuthenticator(storage)
            let text = try await HTTPClient.untimed().fetch(request).text
            let login = sent.map { "Basic \(Data("\($0):pass".utf8).base64EncodedString())" }
            #expect(text == login ?? "who?")
        }
    }

    @Test("A user's new password takes the place of the former one")
    func newPassword() async throws {
        let server = try asking()
        let storage = try #require(URLSessionConfiguration.ephemeral.urlCredentialStorage)
        let here = space(server, "here")
        for password in ["old", "new"] {
            storage.set(URLCredential(user: "ann", password: password, persistence: .forSession), for: here)
        }
        var request = Request(.get, try server.url())
        request.authenticator = CredentialAuthenticator(storage)
        let text = try await HTTPClient.untimed().fetch(request).text
        #expect(text == "Basic \(Data("ann:new".utf8).base64EncodedString())")
    }

    @Test("A password that was stored for another method is not sent in the clear")
    func otherMethod() async throws {
        let server = try asking()
        let storage = try #require(URLSessionConfiguration.ephemeral.urlCredentialStorage)
        for method in [NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodHTMLForm] {
            storage.setDefaultCredential(credential, for: space(server, "here", method: method))
        }
        var request = Request(.get, try server.url())
        request.authenticator = CredentialAuthenticator(storage)
        #expect(try await HTTPClient.untimed().fetch(request).status == 401)
    }

    @Test("A session's credential storage answers challenges of requests that the client carries")
    func aSessionsStorageAnswersForOurClass() async throws {
        let server = try asking()
        let configuration = configuration()
        configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space(server, "here"))
        let (data, _) = try await URLSession(configuration: configuration).data(from: server.url())
        #expect(data == Data(basic.utf8))
    }

    @Test("A session's credentials answer where redirects lead, each its own origin, and go nowhere else")
    func redirected() async throws {
        let (b, c) = (try asking("Basic realm=\"b\""), try asking("Basic realm=\"c\""))
        let a = try FixtureServer.start { request in
            guard request.headers["authorization"] != nil else {
                return .text("who?", status: 401, ["WWW-Authenticate": "Basic realm=\"a\""])
            }
            return .redirect(to: "http://\(request.path == "/b" ? b.authority : c.authority)/")
        }
        let configuration = configuration()
        for (server, user) in [(a, "a"), (b, "b")] {
            configuration.urlCredentialStorage?.setDefaultCredential(
                URLCredential(user: user, password: "pass", persistence: .forSession),
                for: space(server, user)
            )
        }
        let session = URLSession(configuration: configuration)
        func basic(_ user: String) -> String { "Basic \(Data("\(user):pass".utf8).base64EncodedString())" }
        for _ in 0..<2 {
            #expect(try await session.data(from: a.url("/b")).0 == Data(basic("b").utf8))
            // Nothing is stored for the third origin.
            #expect(try await session.data(from: a.url("/c")).0 == Data("who?".utf8))
            let url = try #require(URL(string: "http://me:pass@\(a.authority)/b"))
            #expect(try await session.data(from: url).0 == Data(basic("b").utf8))
        }
        let sent = [a, b, c].map { Set($0.requests.compactMap { $0.headers["authorization"] }) }
        #expect(sent == [[basic("a"), basic("me")], [basic("b")], []])
    }

    @Test("Tasks of a session share the count of a nonce")
    func nonceCount() async throws {
        let server = try asking(#"Digest realm="here", nonce="n", qop="auth", algorithm=SHA-256"#)
        let configuration = configuration()
        let storage = try #require(configuration.urlCredentialStorage)
        storage.setDefaultCredential(
            credential,
            for: space(server, "here", method: NSURLAuthenticationMethodHTTPDigest)
        )
        let session = URLSession(configuration: configuration)
        for count in 1...3 {
            let (data, _) = try await session.data(from: server.url())
            #expect(String(decoding: data, as: UTF8.self).contains("nc=0000000\(count)"))
        }
        // Refused once, then known.
        #expect(server.requests.count == 4)
    }

    @Test("A credential that has left the storage of a session is no longer sent")
    func removedCredential() async throws {
        let server = try asking()
        let configuration = configuration()
        let storage = try #require(configuration.urlCredentialStorage)
        let (here, there) = (space(server, "here"), space(server, "there"))
        for space in [here, there] { storage.setDefaultCredential(credential, for: space) }
        let session = URLSession(configuration: configuration)
        let url = try server.url()
        #expect(try await session.data(from: url).0 == Data(basic.utf8))
        storage.remove(credential, for: here)
        let (_, head) = try await session.data(from: url)
        #expect((head as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test("A user and a password in the URL come before the credentials of the session")
    func userInURL() async throws {
        let server = try asking()
        let configuration = configuration()
        configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space(server, "there"))
        let url = try #require(URL(string: "http://me:secret@\(server.authority)/"))
        let (data, _) = try await URLSession(configuration: configuration).data(from: url)
        #expect(data == Data("Basic \(Data("me:secret".utf8).base64EncodedString())".utf8))
    }

    @Test("Basic answers where the server offers Digest with an unknown algorithm as well")
    func unknownDigest() async throws {
        let server = try asking(
            #"Digest realm="here", nonce="n", qop="auth", algorithm=OTHER, Basic realm="here""#
        )
        var request = Request(.get, try server.url())
        request.authenticator = CredentialAuthenticator(credential)
        #expect(try await HTTPClient.untimed().fetch(request).text == basic)
    }

    @Test(
        "Credentials and cookies belong to the name of the URL, not to the address",
        arguments: [Way.bridge, .urlProtocol]
    )
    func credentialsAndCookiesBelongToTheNameWhereverItIs(_ way: Way) async throws {
        let server = try FixtureServer.start { request in
            guard let given = request.headers["authorization"] else {
                return .text("who?", status: 401, ["WWW-Authenticate": "Basic realm=\"here\""])
            }
            return .text(given + (request.headers["cookie"] ?? ""), ["Set-Cookie": "a=1; Path=/"])
        }
        let configuration = URLSessionConfiguration.ephemeral
        let credentials = try #require(configuration.urlCredentialStorage)
        let cookies = try #require(configuration.httpCookieStorage)
        credentials.setDefaultCredential(credential, for: space(server, "here", host: "www.example"))
        let addresses = try StaticMap(curl: ["www.example:\(server.port):\(server.address)"])
        let url = try #require(URL(string: "http://www.example:\(server.port)/"))
        let client = try HTTPClient.untimed {
            $0.addresses = addresses
            guard way == .bridge else { return }
            $0.authenticators[try HTTPURL(url).origin] = CredentialAuthenticator(credentials)
            $0.useCookies(of: cookies)
        }
        configuration.protocolClasses = [client.urlProtocolClass()]
        let session = URLSession(configuration: configuration)
        for expected in [basic, basic + "a=1"] {
            let data =
                way == .bridge ? try await client.data(from: url).0 : try await session.data(from: url).0
            #expect(data == Data(expected.utf8))
        }
        #expect(cookies.cookies?.map(\.domain) == ["www.example"])
        // The address is another name: it gets neither.
        let bare = try server.url()
        let refused =
            way == .bridge ? try await client.data(from: bare).0 : try await session.data(from: bare).0
        #expect(refused == Data("who?".utf8))
        #expect(server.requests.last?.headers["cookie"] == nil)
    }

    /// The settings of a session whose requests the client carries.
    private func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [HTTPClient.untimed().urlProtocolClass()]
        return configuration
    }

    private func space(
        _ server: FixtureServer,
        _ realm: String,
        host: String? = nil,
        method: String = NSURLAuthenticationMethodHTTPBasic
    ) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host ?? server.address,
            port: Int(server.port),
            protocol: "http",
            realm: realm,
            authenticationMethod: method
        )
    }
}
