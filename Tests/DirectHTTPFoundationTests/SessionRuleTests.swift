import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectIO
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Changes by a session and its delegate")
struct SessionRuleTests {
    @Test("A field that the delegate removes or changes in a redirect is not sent, or sent as changed")
    func editedFields() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/" ? .redirect(to: "/next") : .text("there")
        }
        let delegate = RedirectingDelegate { _, request in
            var request = request
            request.setValue(nil, forHTTPHeaderField: "X-Removed")
            request.setValue("new", forHTTPHeaderField: "X-Changed")
            return request
        }
        let session = session(HTTPClient(), delegate)
        var request = try server.request("GET")
        for name in ["X-Removed", "X-Changed", "X-Kept"] { request.setValue("old", forHTTPHeaderField: name) }
        session.dataTask(with: request).resume()
        _ = try await delegate.text()
        let sent = try #require(server.requests.last?.headers)
        #expect(sent["x-removed"] == nil && sent["x-changed"] == "new" && sent["x-kept"] == "old")
    }

    @Test("A body that the delegate adds to a redirect is sent")
    func editedBody() async throws {
        let server = try FixtureServer.start { request in
            // Before the answer, behind which the test looks at what has arrived.
            _ = try request.body
            return request.path == "/" ? .redirect(to: "/next", status: 307) : .text("there")
        }
        let delegate = RedirectingDelegate { _, request in
            var request = request
            request.httpBody = Data("other".utf8)
            return request
        }
        let session = session(HTTPClient(), delegate)
        var request = try server.request("POST")
        request.httpBody = Data("first".utf8)
        session.dataTask(with: request).resume()
        _ = try await delegate.text()
        #expect(server.requests.last?.body == Array("other".utf8))
    }

    @Test("A session's credential for one host does not replace the client's authenticators for others")
    func foreignCredential() async throws {
        let server = try FixtureServer.start { .text($0.headers["authorization"] ?? "none") }
        let origin = try HTTPURL(server.url()).origin
        let client = HTTPClient { $0.authenticators[origin] = .bearer("token") }
        let session = session(client) {
            $0.setDefaultCredential(Self.credential, for: Self.space("elsewhere.test", 80, "here"))
        }
        let (data, _) = try await session.data(from: server.url())
        #expect(String(decoding: data, as: UTF8.self) == "Bearer token")
    }

    @Test("A challenge for a session's credential is answered with it, before the client's authenticator")
    func ownCredential() async throws {
        let server = try FixtureServer.start { request in
            let said = request.headers["authorization"] ?? ""
            return said.hasPrefix("Basic ")
                ? .text(said) : .text("who?", status: 401, ["WWW-Authenticate": "Basic realm=\"here\""])
        }
        let origin = try HTTPURL(server.url()).origin
        let client = HTTPClient { $0.authenticators[origin] = .bearer("token") }
        let port = try #require(server.url().port)
        let session = session(client) {
            $0.setDefaultCredential(Self.credential, for: Self.space("127.0.0.1", port, "here"))
        }
        let (data, _) = try await session.data(from: server.url())
        #expect(data == Data("Basic \(Data("user:pass".utf8).base64EncodedString())".utf8))
    }

    @Test("Concurrent requests that answer one digest challenge each use their own nonce count")
    func countsOfOneCredential() async throws {
        let server = try FixtureServer.start { request in
            let said = request.headers["authorization"] ?? ""
            let challenge = #"Digest realm="here", nonce="n", qop="auth", algorithm=SHA-256"#
            return said.isEmpty ? .text("who?", status: 401, ["WWW-Authenticate": challenge]) : .text(said)
        }
        for _ in 0..<10 {
            let authenticator = CredentialAuthenticator(Self.credential)
            let client = HTTPClient {
                $0.authenticators = (try? [HTTPURL(server.url()).origin: authenticator]) ?? [:]
            }
            let counts = try await withThrowingTaskGroup(of: Substring?.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        let text = try await client.get(try HTTPURL(server.url()).text).text ?? ""
                        return text.firstMatch(of: /nc=([0-9a-f]+)/)?.output.1
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(counts).count == 16)
        }
    }

    @Test("The description and the dump of a credential's authenticator show neither user nor password")
    func hiddenCredential() async throws {
        let server = try FixtureServer.start { request in
            request.headers["authorization"].map { .text($0) }
                ?? .text("who?", status: 401, ["WWW-Authenticate": "Basic realm=\"here\""])
        }
        let credential = URLCredential(user: "hunter1", password: "hunter2", persistence: .forSession)
        var request = Request(.get, try server.url())
        let authenticator = CredentialAuthenticator(credential)
        request.authenticator = authenticator
        _ = try await HTTPClient().fetch(request)
        var dumped = ""
        dump(authenticator, to: &dumped)
        for text in [dumped, "\(authenticator)", String(reflecting: authenticator)] {
            #expect(!text.contains("hunter"))
        }
    }

    private static let credential = URLCredential(user: "user", password: "pass", persistence: .forSession)

    private static func space(_ host: String, _ port: Int, _ realm: String) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host,
            port: port,
            protocol: "http",
            realm: realm,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
    }

    private func session(
        _ client: HTTPClient,
        _ delegate: RedirectingDelegate? = nil,
        _ fill: (URLCredentialStorage) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [client.urlProtocolClass()]
        configuration.urlCredentialStorage.map(fill)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}

@Suite("The URL and source of a response")
struct ResponseOriginTests {
    @Test("The URL of a response is the requested one, with https if the host demands TLS")
    func upgraded() async throws {
        let hsts = HSTSStore()
        hsts.add(.init(try DomainName("a.test"), until: UnixTime(seconds: UnixTime.now.seconds + 1000)))
        let client = HTTPClient {
            $0.hsts = hsts
            $0.transport = { try Response(to: $0, 200) }
        }
        for (asked, answered) in [
            ("http://a.test/x?y", "https://a.test/x?y"), ("HTTP://b.test:80/%7e", "HTTP://b.test:80/%7e"),
            ("http://u:p@b.test/#z", "http://u:p@b.test/#z"),
        ] {
            let (_, response) = try await client.data(from: try #require(URL(string: asked)))
            #expect(response.url?.absoluteString == answered)
        }
    }

    @Test(
        "A request that ignores local copies is answered by the origin, and its response is stored",
        arguments: [
            URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
        ]
    )
    func reload(_ policy: URLRequest.CachePolicy) async throws {
        let (asked, isDown) = (Locked<[String?]>([]), Locked(false))
        let client = HTTPClient {
            $0.cache = .memory()
            $0.transport = { request in
                let number = asked.withLock { asked in
                    asked.append(request.headers["If-None-Match"])
                    return asked.count
                }
                if isDown.withLock({ $0 }) { return try Response(to: request, 503) }
                if request.headers.contains("If-None-Match") {
                    return try Response(to: request, 304, headers: ["ETag": "\"1\""])
                }
                let fields: HTTPHeaders = [
                    "ETag": "\"1\"", "Cache-Control": "max-age=60, stale-if-error=600", "Content-Length": "1",
                ]
                return try Response(to: request, 200, headers: fields, body: Array("\(number)".utf8))
            }
        }
        let url = try #require(URL(string: "http://a.test/"))
        var reload = URLRequest(url: url, cachePolicy: policy)
        #expect(try await client.data(from: url).0 == Data("1".utf8))
        #expect(try await client.data(for: reload).0 == Data("2".utf8))
        #expect(try await client.data(from: url).0 == Data("2".utf8))
        #expect(asked.withLock { $0 } == [nil, nil])
        isDown.withLock { $0 = true }
        // Directives of the caller's own change nothing about that.
        reload.setValue("stale-if-error=600", forHTTPHeaderField: "Cache-Control")
        #expect(try await client.data(for: reload).1.statusCode == 503)
    }
}
