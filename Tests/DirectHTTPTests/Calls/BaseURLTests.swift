import DirectCore
import DirectHTTPRecords
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("The base URL of a client", .idleLimit)
struct BaseURLTests {
    private func client(
        _ script: Script,
        _ base: String = "https://api.test/v2/",
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) throws -> HTTPClient {
        let url = try HTTPURL(base)
        return script.client {
            $0.baseURL = url
            configure(&$0)
        }
    }

    @Test("A base URL of http under HSTS is the base by https, for requests, commands and connections")
    func underHSTS() async throws {
        let hsts = HSTSStore()
        hsts.add(HSTSStore.Entry(try DomainName("api.test"), until: UnixTime(seconds: 4_000_000_000)))
        let script = Script((200, [:]))
        let client = try client(script, "http://api.test/v2/") {
            $0.hsts = hsts
            $0.headers["X-Key"] = "k"
        }
        for url in ["items", "https://api.test/v2/items"] { _ = try await client.get(url) }
        #expect(
            script.requests.allSatisfy { $0.url == "https://api.test/v2/items" && $0.headers["X-Key"] == "k" }
        )
        let command = try client.curlCommand(for: Request(.get, "items"), redacting: .insecureNone)
        #expect(command.contains("X-Key: k") && command.contains("https://api.test/v2/items"))
        // Of another host, port or scheme than that, none gets what is for the base.
        for url in ["https://b.test/", "https://api.test:444/", "http://b.test/"] {
            _ = try await client.get(url)
            #expect(script.requests.last?.headers.contains("X-Key") == false)
        }
    }

    @Test("An http URL that HSTS makes one of the base's origin gets what is for the base")
    func upgradedToBase() async throws {
        let hsts = HSTSStore()
        hsts.add(HSTSStore.Entry(try DomainName("api.test"), until: UnixTime(seconds: 4_000_000_000)))
        for interceptors in [[], [copying { $0.headers["X-A"] = "b" }]] {
            let script = Script((200, [:]))
            let client = try client(script, "https://api.test:8443/") {
                ($0.hsts, $0.headers["X-Key"], $0.interceptors) = (hsts, "k", interceptors)
            }
            _ = try await client.get("http://api.test:8443/items")
            #expect(script.urls == ["https://api.test:8443/items"])
            #expect(script.requests.first?.headers["X-Key"] == "k")
            // To another port it would be another origin all the same.
            _ = try await client.get("http://api.test:8080/items")
            #expect(script.requests.last?.headers["X-Key"] == nil)
        }
    }

    @Test("An interceptor and a decision about a redirect may make requests of relative references")
    func fromOtherCode() async throws {
        let script = Script((302, ["Location": "/to"]), (200, [:]))
        let client = try client(script) {
            $0.interceptors = [
                { request, forward in
                    try await forward(Request(.get, "first", headers: request.headers))
                }
            ]
            $0.redirects.decide = { _ in Request(.get, "second") }
        }
        _ = try await client.get("items")
        #expect(script.urls == ["https://api.test/v2/first", "https://api.test/v2/second"])
        let network = try self.client(Script((200, [:]))) {
            $0.networkInterceptors = [{ try await $1(Request(.get, "third", headers: $0.headers)) }]
        }
        #expect(try await network.get("items").url.text == "https://api.test/v2/third")
    }

    @Test(
        "A relative reference is resolved by RFC 3986, before any interceptor or observer sees the request",
        arguments: [
            ("items?page=2", "https://api.test/v2/items?page=2"), ("/items", "https://api.test/items"),
            ("", "https://api.test/v2/"), ("?q", "https://api.test/v2/?q"),
            ("../x", "https://api.test/x"), ("../../../x", "https://api.test/x"),
            ("%2e%2e/x", "https://api.test/x"), ("a b", "https://api.test/v2/a%20b"),
            ("/a//evil.test", "https://api.test/a//evil.test"),
            ("items/http://evil.test", "https://api.test/v2/items/http://evil.test"),
        ]
    )
    func resolved(reference: String, expected: String) async throws {
        let script = Script((200, [:]))
        let seen = Locked<[String]>([])
        let client = try client(script) {
            $0.interceptors.append { request, forward in
                let text = try request.url.text
                seen.withLock { $0.append(text) }
                return try await forward(request)
            }
            $0.observer = { event in
                guard case .began(_, let url) = event.kind else { return }
                seen.withLock { $0.append(url?.text ?? "none") }
            }
        }
        let response = try await client.get(reference)
        #expect(response.url.text == expected && script.urls == [expected])
        #expect(seen.withLock { $0 } == [expected, expected])
    }

    @Test(
        "A reference that could lead to another host is an error, and so is any without a base",
        arguments: [
            "//evil.test/", "///evil.test", "/\\evil.test", "\\\\evil.test", "\t//evil.test", "/\t/evil.test",
            " //evil.test", "https:evil.test", "https:/evil.test", "user:password@evil.test", "ftp://a.test/",
        ]
    )
    func refused(reference: String) async throws {
        let base = try HTTPURL("https://api.test/v2/")
        for client in [HTTPClient.untimed { $0.baseURL = base }, HTTPClient.untimed()] {
            let error = try await httpError { try await client.get(reference) }
            guard case .url = error.reason else { throw error }
            #expect(error.phase == .request && !"\(error)".contains("password"))
        }
        let error = try await httpError { try await HTTPClient.untimed().get("items") }
        guard case .url(.notHTTP) = error.reason else { throw error }
    }

    @Test("Another origin gets the request's own fields and authenticator, and none of the client's secrets")
    func otherOrigin() async throws {
        let urls = [
            "https://other.test/", "http://api.test/v2/", "https://api.test:8443/", "https://api.test/x",
        ]
        for url in urls {
            let script = Script((302, ["Location": "/next"]), (200, [:]))
            let home = try HTTPURL("https://api.test/").origin
            let client = try client(script) {
                $0.headers = ["X-Api-Key": "secret", "User-Agent": "me"]
                $0.authenticators[home] = .bearer("of the client")
            }
            var request = Request(.get, url, headers: ["X-Own": "1"])
            if url != urls.last { request.authenticator = .bearer("own") }
            _ = try await client.fetch(request)
            let isBase = url == urls.last
            #expect(script.urls.count == 2)
            for sent in script.requests.map(\.headers) {
                #expect(sent["X-Api-Key"] == (isBase ? "secret" : nil))
                #expect(sent["User-Agent"] == "me" && sent["X-Own"] == "1")
                #expect(sent["Authorization"] == (isBase ? "Bearer of the client" : "Bearer own"))
            }
            let command = try client.curlCommand(for: request, redacting: .insecureNone)
            #expect(command.contains("secret") == isBase)
        }
    }

    @Test("An interceptor that makes a URL of an invalid one takes none of the client's secrets elsewhere")
    func repairedURL() async throws {
        for (url, secret) in [("https://cdn.test/x", nil), ("https://api.test/x", "secret")] {
            let script = Script((200, [:]))
            let client = try client(script) {
                $0.headers = ["X-Api-Key": "secret"]
                $0.interceptors.append { request, forward in try await forward(request.replacing(url: url)) }
            }
            _ = try await client.get("//cdn.test/x")
            #expect(script.urls == [url] && script.requests.map { $0.headers["X-Api-Key"] } == [secret])
        }
    }

    @Test("A redirect back to the base, and one away from it, carries no more than from any other origin")
    func redirects() async throws {
        let back = Script((302, ["Location": "https://api.test/v2/"]), (200, [:]))
        _ = try await client(back) { $0.headers = ["X-Api-Key": "secret"] }.get("https://other.test/")
        #expect(back.requests.map { $0.headers["X-Api-Key"] } == [nil, nil])
        let away = Script((302, ["Location": "//other.test/"]), (200, [:]))
        _ = try await client(away) { $0.headers = ["X-Api-Key": "secret"] }.get("items")
        #expect(away.requests.map { $0.headers["X-Api-Key"] } == ["secret", nil])
    }

    @Test("User and password of the base are for its origin, and cookies for their hosts")
    func credentials() async throws {
        let script = Script((200, ["Set-Cookie": "id=1; Path=/"]), (200, [:]), (200, [:]))
        let client = try client(script, "https://u:p@api.test/v2/") { $0.cookies = CookieJar() }
        for url in ["items", "/items", "https://other.test/"] { _ = try await client.get(url) }
        #expect(script.requests.map { $0.headers["Authorization"] } == ["Basic dTpw", "Basic dTpw", nil])
        #expect(script.requests.map { $0.headers["Cookie"] } == [nil, "id=1", nil])
        #expect(
            script.urls == ["https://api.test/v2/items", "https://api.test/items", "https://other.test/"]
        )
    }

    @Test("The client's certificate is shown to the base and to no other origin, prewarmed or not")
    func certificate() async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3"])
        var asking = FixtureTLSSettings(certificates: [testAuthority.certificate(for: "a.test", "b.test")])
        asking.clientCertificates = .requested
        let a = try FixtureServer.start(.tls(asking), on: "127.0.0.2", port: port.number) { _ in .text("a") }
        let b = try FixtureServer.start(.tls(asking), on: "127.0.0.3", port: port.number) { _ in .text("b") }
        let own = testAuthority.certificate(for: "me.test")
        let base = try HTTPURL("https://a.test:\(port.number)/")
        let client = HTTPClient.trusting {
            $0.baseURL = base
            $0.tls.clientIdentity = ClientIdentity(
                certificateChain: Array(own.pem.utf8),
                privateKey: Array(own.keyPEM.utf8)
            )
            try? $0.addresses.set(["127.0.0.2"], for: HostPattern("a.test"))
            try? $0.addresses.set(["127.0.0.3"], for: HostPattern("b.test"))
        }
        try await client.prewarm("/", connections: 1)
        try await client.prewarm("https://b.test:\(port.number)/", connections: 1)
        #expect(try await client.get("x").text == "a")
        #expect(try await client.get("https://b.test:\(port.number)/").text == "b")
        #expect(a.records.map { $0.tls?.clientCertificate != nil } == [true])
        #expect(b.records.map { $0.tls?.clientCertificate != nil } == [false])
    }

    @Test("Downloads, events, blocking calls and chosen addresses take relative references as well")
    func everyCall() async throws {
        let folder = try TemporaryFolder()
        let server = try FixtureServer.start { request in
            request.path == "/v2/events"
                ? .text("data: x\n\n", ["Content-Type": "text/event-stream"]) : .text(request.path)
        }
        let base = try HTTPURL("http://a.test:\(server.port)/v2/")
        let client = HTTPClient.untimed { $0.baseURL = base }
        var request = Request(.get, "file")
        request.addresses = [server.endpoint]
        #expect(try await client.fetch(request).text == "/v2/file")
        #expect(try await client.download(request, to: folder.path + "/file").url.path == "/v2/file")
        #expect(try client.curlCommand(for: request).contains("http://a.test:\(server.port)/v2/file"))
        var events = Request(.get, "events")
        events.addresses = [server.endpoint]
        for try await event in client.events(from: events) {
            #expect(event.data == "x")
            break
        }
    }
}
