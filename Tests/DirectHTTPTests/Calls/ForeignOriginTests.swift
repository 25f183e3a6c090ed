@testable import DirectCore
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Secrets and other origins")
struct ForeignOriginTests {
    @Test(
        "CVE-2026-40490, CVE-2026-11856: a challenge after a redirect to another origin is not answered",
        arguments: [
            "Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256", "Bearer",
        ]
    )
    func foreignChallenge(_ challenge: String) async throws {
        let authenticators: [any Authenticator] = [
            .basic(user: "u", password: "p"), .digest(user: "u", password: "p"), .bearer("token"),
        ]
        for authenticator in authenticators {
            let script = Script(
                (302, ["Location": "https://b.test/"]),
                (401, ["WWW-Authenticate": challenge])
            )
            var request = Request(.get, "https://a.test/")
            request.authenticator = authenticator
            #expect(try await script.client().fetch(request).status == 401)
            #expect(script.urls == ["https://a.test/", "https://b.test/"])
            #expect(!script.requests[1].headers.contains("Authorization"))
        }
        let ofURL = Script((302, ["Location": "https://b.test/"]), (401, ["WWW-Authenticate": challenge]))
        #expect(try await ofURL.client().get("https://u:p@a.test/").status == 401)
        #expect(ofURL.requests.map { $0.headers.contains("Authorization") } == [true, false])
    }

    @Test("CVE-2026-7168: a nonce is used only for its origin, and no client nonce is used twice")
    func digestState() async throws {
        let challenge = "Digest realm=\"r\", nonce=\"theirs\", qop=\"auth\", algorithm=SHA-256"
        let authenticator: StandardAuthenticator = .digest(user: "u", password: "p")
        func ask(_ url: String, _ script: Script) async throws -> [String] {
            var request = Request(.get, url)
            request.authenticator = authenticator
            _ = try await script.client().fetch(request)
            return script.requests.map { $0.headers["Authorization"] ?? "none" }
        }
        let first = try await ask(
            "https://a.test/",
            Script((401, ["WWW-Authenticate": challenge]), (200, [:]))
        )
        #expect(first[0] == "none" && first[1].contains("nonce=\"theirs\""))
        for other in ["https://b.test/", "https://a.test:444/", "http://a.test/"] {
            #expect(try await ask(other, Script((200, [:]))) == ["none"])
        }
        var ours = Set<Substring>()
        for _ in 0..<20 {
            let said = try await ask("https://a.test/", Script((200, [:])))[0]
            let nonce = try #require(said.split(separator: "cnonce=\"").last?.prefix { $0 != "\"" })
            #expect(nonce.count == 32)
            ours.insert(nonce)
        }
        #expect(ours.count == 20)
    }

    @Test("The client's certificate is shown to the requested host, and not after a redirect to another")
    func clientCertificate() async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3"])
        var asking = FixtureTLSSettings(certificates: [testAuthority.certificate(for: "a.test", "b.test")])
        asking.clientCertificates = .requested
        let b = try FixtureServer.start(.tls(asking), on: "127.0.0.3", port: port.number) { request in
            request.path == "/home" ? .redirect(to: "https://a.test:\(port.number)/end") : .text("b")
        }
        let a = try FixtureServer.start(.tls(asking), on: "127.0.0.2", port: port.number) { request in
            request.path == "/" ? .redirect(to: "https://b.test:\(port.number)/home") : .text("a")
        }
        let own = testAuthority.certificate(for: "me.test")
        let client = HTTPClient.trusting {
            $0.tls.clientIdentity = ClientIdentity(
                certificateChain: Array(own.pem.utf8),
                privateKey: Array(own.keyPEM.utf8)
            )
            try? $0.addresses.set(["127.0.0.2"], for: HostPattern("a.test"))
            try? $0.addresses.set(["127.0.0.3"], for: HostPattern("b.test"))
        }
        #expect(try await client.get("https://a.test:\(port.number)/").text == "a")
        #expect(a.records.map { $0.tls?.clientCertificate != nil } == [true])
        #expect(b.records.map { $0.tls?.clientCertificate != nil } == [false])
        // A direct request to B shows it, and does not use the connection that was made without it.
        #expect(try await client.get("https://b.test:\(port.number)/").text == "b")
        #expect(b.records.map { $0.tls?.clientCertificate != nil } == [false, true])
    }

    @Test("CVE-2023-32681, CVE-2024-37891: Proxy-Authorization is never sent to a server")
    func proxyAuthorization() async throws {
        let server = try FixtureServer.start { .text($0.headers["proxy-authorization"] ?? "none") }
        let client = HTTPClient.untimed { $0.headers = ["Proxy-Authorization": "secret", "X-Other": "1"] }
        #expect(try await client.get(server.http()).text == "none")
        let own: HTTPHeaders = ["Proxy-Authorization": "secret", "X-Own": "1"]
        #expect(try await client.get(server.http(), headers: own).text == "none")
        #expect(server.requests.map { $0.headers["x-own"] } == [nil, "1"])
    }

    @Test(
        "CVE-2023-38545 and similar: a name that breaks a proxy's request is refused before dialling",
        arguments: [
            "https://a.test\r\nX: 1/", "https://a.test%0d%0aX:%201/", "https://a test/",
            "https://a.test HTTP/1.1/",
            "https://\(String(repeating: "a.", count: 127))test/",
        ],
        ["http", "socks5h"]
    )
    func proxyLine(_ url: String, _ scheme: String) async throws {
        let server = try FixtureServer.start { _ in .text("ok") }
        var proxy = try Proxy("\(scheme)://proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        let client = HTTPClient.untimed { [proxy] in $0.proxy = ProxySettings(proxy) }
        #expect(try await httpError { try await client.get(url) }.phase == .request)
        #expect(server.records.isEmpty)
    }

    @Test("A Location of 8000 bytes is followed, one beyond the limit is not (RFC 9110, section 4.1)")
    func longLocations() async throws {
        let long = "/" + String(repeating: "x", count: 7999)
        let script = Script.redirecting(302, long)
        #expect(try await script.client().get("http://a.test/").url.path == long)
        let endless = Script.redirecting(302, "/" + String(repeating: "x", count: 70_000))
        let error = try await httpError { try await endless.client().get("http://a.test/") }
        guard case .redirect(.location) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(endless.urls.count == 1)
    }
}
