@testable import DirectCore
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

/// The places where code outside of the client rebuilds a request.
private enum Builder: CaseIterable, CustomTestStringConvertible {
    case decide, networkInterceptor, interceptor

    /// All code that the client calls at that place returns what `rebuild` makes of the request it is given.
    func install(
        _ rebuild: @escaping @Sendable (Request) throws -> Request,
        in settings: inout HTTPClient.Configuration
    ) {
        switch self {
        case .decide: settings.redirects.decide = { try rebuild($0.next) }
        case .networkInterceptor: settings.networkInterceptors = [{ try await $1(rebuild($0)) }]
        case .interceptor: settings.interceptors = [{ try await $1(rebuild($0)) }]
        }
    }

    var testDescription: String { "\(self)" }
}

@Suite("Requests rebuilt for a further hop")
struct RebuiltRequestTests {
    private static let secrets: HTTPHeaders = [
        "Authorization": "Bearer secret", "X-Api-Key": "secret", "User-Agent": "me",
    ]

    /// Method, URL, fields and body, and nothing else of it.
    private static func copy(_ request: Request) throws -> Request {
        Request(request.method, try request.url, headers: request.headers, body: request.body)
    }

    @Test(
        "A rebuilt request sends none of the client's secrets to another origin, nor back to the first",
        arguments: Builder.allCases
    )
    fileprivate func clientFields(_ builder: Builder) async throws {
        let script = Script.redirecting(302, "https://b.test/", "/in", "https://a.test/back")
        let client = script.client {
            $0.headers = Self.secrets
            builder.install({ Request($0.method, try $0.url) }, in: &$0)
        }
        _ = try await client.get("https://a.test/")
        let names = script.requests.map { Set($0.headers.map(\.name)) }
        #expect(names[0].isSuperset(of: ["Authorization", "X-Api-Key"]) || builder == .networkInterceptor)
        for names in names[1...] { #expect(names.isDisjoint(with: ["Authorization", "X-Api-Key"])) }
    }

    @Test("A rebuilt request drops copied fields at another origin, and keeps fields written for it")
    func copiedFields() async throws {
        let script = Script.redirecting(302, "https://b.test/")
        let client = script.client {
            $0.redirects.decide = { redirect in
                var headers = redirect.request.headers
                headers["X-Own"] = "for b"
                headers.add("X-Api-Key", "for b")
                return Request(.get, redirect.url, headers: headers)
            }
        }
        let own: HTTPHeaders = ["Cookie": "secret", "X-Api-Key": "secret", "Accept-Language": "de"]
        _ = try await client.get("https://a.test/", headers: own)
        let seen = script.requests[1].headers
        #expect(!seen.contains("Cookie") && seen.values(for: "X-Api-Key") == ["for b"])
        #expect(seen["X-Own"] == "for b" && seen["Accept-Language"] == "de")
    }

    @Test(
        "A request that an interceptor moves to another origin drops the secrets, as on a redirect",
        arguments: [Builder.networkInterceptor, .interceptor]
    )
    fileprivate func movedByInterceptor(_ builder: Builder) async throws {
        let script = Script.redirecting(302, "/in", "https://a.test/back")
        let client = script.client {
            $0.headers = Self.secrets
            builder.install(
                { request in
                    guard try request.url.path == "/" else { return request }
                    var request = try request.replacing(url: "https://b.test/")
                    request.headers["X-Own"] = "for b"
                    return request
                },
                in: &$0
            )
        }
        _ = try await client.get("https://a.test/", headers: ["Cookie": "secret"])
        #expect(script.urls == ["https://b.test/", "https://b.test/in", "https://a.test/back"])
        #expect(script.requests[0].headers["X-Own"] == "for b")
        for request in script.requests {
            let names = Set(request.headers.map(\.name))
            #expect(names.isDisjoint(with: ["Authorization", "X-Api-Key", "Cookie"]), "\(request.url)")
            #expect(request.headers["User-Agent"] == "me")
        }
    }

    @Test(
        "A rebuilt request keeps the addresses given for its host, and uses them for no other",
        arguments: Builder.allCases
    )
    fileprivate func addresses(_ builder: Builder) async throws {
        let script = Script.redirecting(302, "/same", "https://b.test/", "https://a.test/back")
        let client = script.client { builder.install(Self.copy, in: &$0) }
        var request = Request(.get, "https://a.test/")
        request.addresses = ["192.0.2.1"]
        _ = try await client.fetch(request)
        #expect(script.requests.map(\.addresses) == [["192.0.2.1"], ["192.0.2.1"], nil, ["192.0.2.1"]])
    }

    @Test("A rebuilt request uses its own addresses for another host while it stays there")
    func ownAddresses() async throws {
        let script = Script.redirecting(302, "https://b.test/", "/in", "https://c.test/", "https://b.test/")
        let client = script.client {
            $0.redirects.decide = { redirect in
                var next = redirect.next
                // The same as the first host's: the decision counts, not whether the list was seen before.
                if redirect.count == 0 { next.addresses = redirect.request.addresses }
                return next
            }
        }
        var request = Request(.get, "https://a.test/")
        request.addresses = ["192.0.2.1"]
        _ = try await client.fetch(request)
        #expect(script.requests.map(\.addresses) == [["192.0.2.1"], ["192.0.2.1"], ["192.0.2.1"], nil, nil])
    }

    @Test("A request with given addresses is never resolved by the system", arguments: Builder.allCases)
    fileprivate func pinnedRequest(_ builder: Builder) async throws {
        let server = try FixtureServer.start { $0.path == "/" ? .redirect(to: "/next") : .text("pinned") }
        let client = HTTPClient { builder.install(Self.copy, in: &$0) }
        // The system would resolve to this host, where no server listens.
        let response = try await client.fetch(server.request("http://localhost:1/"))
        #expect(response.text == "pinned" && response.transaction?.source == .request)
        var mapped = Request(.get, "http://a.invalid/")
        var map = StaticMap()
        try map.set([server.endpoint], for: HostPattern("a.invalid"))
        mapped.addressMap = map
        #expect(try await client.fetch(mapped).text == "pinned")
    }

    @Test("A rebuilt request keeps the caller's other options", arguments: Builder.allCases)
    fileprivate func options(_ builder: Builder) async throws {
        let refusal: HTTPHeaders = ["WWW-Authenticate": "Basic realm=\"x\""]
        let script = Script((302, ["Location": "/next"]), (503, [:]), (401, refusal), (200, [:]))
        var request = Request(.get, "https://a.test/")
        request.retries = RetryPolicy()
        request.retries?.delay = .zero
        request.authenticator = AskedAuthenticator()
        request.redirects = RedirectPolicy()
        let client = script.client {
            builder.install(Self.copy, in: &$0)
            request.redirects?.decide = $0.redirects.decide
            // A lost policy would show: the client's own follows no redirect.
            $0.redirects = .deliver
        }
        let response = try await client.fetch(request)
        #expect(response.status == 200)
        #expect(response.history.map(\.reason) == [.redirect, .retry, .authentication])
        #expect(script.requests.last?.headers["Authorization"] == "asked")
    }

    @Test("A redirect handler sees no authenticator and may add a new one, which is used")
    func authenticators() async throws {
        let script = Script((302, ["Location": "https://b.test/"]), (302, ["Location": "/in"]), (200, [:]))
        let client = script.client {
            $0.redirects.decide = { redirect in
                #expect(redirect.request.authenticator == nil && redirect.next.authenticator == nil)
                var next = redirect.next
                if redirect.count == 0 { next.authenticator = .bearer("for b") }
                return next
            }
        }
        var request = Request(.get, "https://a.test/")
        request.authenticator = .bearer("for a")
        _ = try await client.fetch(request)
        #expect(
            script.requests.map { $0.headers["Authorization"] } == [
                "Bearer for a", "Bearer for b", "Bearer for b",
            ]
        )
    }

    @Test("A rebuilt request shows no client certificate to another host", arguments: Builder.allCases)
    fileprivate func certificate(_ builder: Builder) async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3"])
        var asking = FixtureTLSSettings(certificates: [testAuthority.certificate(for: "a.test", "b.test")])
        asking.clientCertificates = .requested
        let b = try FixtureServer.start(.tls(asking), on: "127.0.0.3", port: port.number) { _ in .text("b") }
        let a = try FixtureServer.start(.tls(asking), on: "127.0.0.2", port: port.number) { _ in
            .redirect(to: "https://b.test:\(port.number)/")
        }
        let own = testAuthority.certificate(for: "me.test")
        let client = HTTPClient.trusting {
            $0.tls.clientIdentity = ClientIdentity(
                certificateChain: Array(own.pem.utf8),
                privateKey: Array(own.keyPEM.utf8)
            )
            try? $0.addresses.set(["127.0.0.2"], for: HostPattern("a.test"))
            try? $0.addresses.set(["127.0.0.3"], for: HostPattern("b.test"))
            builder.install({ Request($0.method, try $0.url) }, in: &$0)
        }
        #expect(try await client.get("https://a.test:\(port.number)/").text == "b")
        #expect(a.records.map { $0.tls?.clientCertificate != nil } == [true])
        #expect(b.records.map { $0.tls?.clientCertificate != nil } == [false])
    }

    @Test("A rebuilt request sends no body where the policy forbids it")
    func body() async throws {
        let script = Script.redirecting(307, "/same")
        let client = script.client {
            $0.redirects.carriesBodyAcrossOrigins = false
            $0.redirects.decide = { try $0.next.replacing(url: "https://b.test/") }
        }
        let error = try await httpError { try await client.post("https://a.test/", .text("body")) }
        guard case .redirect(.bodyAcrossOrigins) = error.reason else { throw error }
        #expect(script.urls.count == 1)
    }

    @Test("If an interceptor replaces a text that is no URL, the call begins at the new URL")
    func repairedURL() async throws {
        let script = Script((200, [:]))
        let client = script.client {
            $0.headers = Self.secrets
            $0.interceptors = [
                { request, forward in try await forward(Request(.get, "https://a.test/users")) }
            ]
        }
        var request = Request(.get, "/users")
        request.addresses = ["192.0.2.1"]
        request.authenticator = .bearer("token")
        _ = try await client.fetch(request)
        #expect(script.requests[0].headers["X-Api-Key"] == "secret")
        #expect(script.requests[0].headers["Authorization"] == "Bearer token")
        #expect(script.requests[0].addresses == ["192.0.2.1"])
    }

    @Test("A call continued after other redirects sends no fields of the client")
    func continued() async throws {
        let script = Script.redirecting(302, "/next")
        let client = script.client { $0.headers = Self.secrets }
        _ = try await client.pipeline.sendContinued(Request(.get, "https://a.test/"))
        for request in script.requests {
            #expect(Set(request.headers.map(\.name)) == ["Host", "User-Agent", "Accept-Encoding"])
        }
    }
}

@Suite("The URL of a request")
struct RequestURLTests {
    @Test("Another origin as URL drops addresses and authenticator, and keeps the rest")
    func replaced() throws {
        var request = Request(.put, "https://a.test/", headers: ["X": "1"], body: .text("x"))
        request.addresses = ["192.0.2.1"]
        request.authenticator = .bearer("x")
        request.retries = RetryPolicy()
        let same = try request.replacing(url: "https://a.test/other")
        #expect(try same.url.path == "/other")
        #expect(same.addresses == ["192.0.2.1"] && same.authenticator != nil && same.headers["X"] == "1")
        let insecure = try request.replacing(url: "http://a.test/")
        #expect(insecure.addresses == ["192.0.2.1"] && insecure.authenticator == nil)
        for other in ["https://b.test/", "https://a.test:444/"] {
            let moved = try request.replacing(url: other)
            #expect(moved.addresses == nil && moved.authenticator == nil)
            #expect(
                moved.retries != nil && moved.method == .put && !moved.body.isNone
                    && moved.headers["X"] == "1"
            )
        }
    }

    @Test("A URL is replaced by a valid one only, and a valid one may replace an invalid one")
    func refused() throws {
        let request = Request(.get, "https://a.test/")
        #expect(throws: HTTPURLError.self) { try request.replacing(url: "a b") }
        var broken = Request(.get, "a b")
        broken.addresses = ["192.0.2.1"]
        let mended = try broken.replacing(url: "https://a.test/")
        #expect(try mended.url.text == "https://a.test/" && mended.addresses == ["192.0.2.1"])
    }
}

/// Answers only when it is asked.
private struct AskedAuthenticator: Authenticator {
    func authorization(for request: AuthenticationRequest) async throws -> String? { nil }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? { "asked" }
}
