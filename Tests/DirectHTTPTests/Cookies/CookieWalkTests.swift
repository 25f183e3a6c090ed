import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("A client with a cookie jar and HSTS", .idleLimit)
struct CookieWalkTests {
    @Test("Cookies belong to the name, whatever address is dialled")
    func nameNotAddress() async throws {
        let server = try FixtureServer.secure("a.test", "b.test", on: "127.0.0.2") { request in
            .text(
                request.headers["cookie"] ?? "none",
                ["Set-Cookie": "from=\(request.serverName ?? "nobody")"]
            )
        }
        let jar = CookieJar()
        let client = HTTPClient.trusting { $0.cookies = jar }
        #expect(try await client.fetch(server.request(server.https("a.test"))).text == "none")
        #expect(try await client.fetch(server.request(server.https("b.test"))).text == "none")
        #expect(try await client.fetch(server.request(server.https("a.test"))).text == "from=a.test")
        #expect(try await client.fetch(server.request(server.https("b.test"))).text == "from=b.test")
        #expect(jar.cookies.map(\.host.description) == ["a.test", "b.test"])
    }

    @Test("The cookies of a redirect are stored, and each hop has its own")
    func redirects() async throws {
        let server = try FixtureServer.secure("a.test", "b.test") { request in
            switch request.path {
            case "/start":
                .redirect(to: "https://b.test:\(request.port)/next").adding("Set-Cookie", value: "a=1")
            case "/next":
                .redirect(to: "https://a.test:\(request.port)/end").adding("Set-Cookie", value: "b=2")
            default: .text(request.headers["cookie"] ?? "none")
            }
        }
        var everywhere = StaticMap()
        try everywhere.set([server.endpoint], for: .any)
        let client = HTTPClient.trusting { [everywhere] in
            $0.cookies = CookieJar()
            $0.addresses = everywhere
        }
        var request = Request(.get, server.https("a.test", "/start"))
        request.headers = ["Cookie": "mine=0"]
        #expect(try await client.fetch(request).text == "a=1")
        let requests = server.records.flatMap(\.requests).sorted { $0.order < $1.order }
        #expect(requests.map { $0.headers["cookie"] } == ["mine=0", nil, "a=1"])
    }

    @Test("The client's own cookies are sent beside those of its jar", arguments: [true, false])
    func clientsOwn(withCache: Bool) async throws {
        let server = try FixtureServer.start { request in
            .text(request.headers["cookie"] ?? "none", ["Set-Cookie": "visit=1"])
        }
        let client = HTTPClient {
            $0.cookies = CookieJar()
            $0.headers["Cookie"] = "login=abc"
            if withCache { $0.cache = .memory() }
        }
        for cookies in ["login=abc", "login=abc; visit=1"] {
            #expect(try await client.get(server.http()).text == cookies)
        }
        #expect(try await client.get(server.http(), headers: ["Cookie": "own=1"]).text == "own=1; visit=1")
    }

    @Test("A name with HSTS receives no request over plain HTTP")
    func upgrade() async throws {
        let server = try FixtureServer.secure("a.test") { _ in
            .text("safe", ["Strict-Transport-Security": "max-age=1000"])
        }
        let client = HTTPClient.trusting { $0.hsts = HSTSStore() }
        #expect(try await client.fetch(server.request(server.https("a.test"))).text == "safe")
        let response = try await client.fetch(server.request("http://a.test:\(server.port)/"))
        #expect(response.text == "safe")
        #expect(response.url.scheme == .https)
    }

    @Test("Strict-Transport-Security without TLS is not stored")
    func notLearned() async throws {
        let server = try FixtureServer.start { _ in
            .text("plain", ["Strict-Transport-Security": "max-age=1000"])
        }
        let store = HSTSStore()
        let client = HTTPClient.untimed { $0.hsts = store }
        #expect(try await client.fetch(server.request("http://a.test:\(server.port)/")).text == "plain")
        #expect(store.entries.isEmpty)
    }
}

extension FixtureRequest {
    /// The port that the client asked for.
    fileprivate var port: String { headers["host"]?.split(separator: ":").last.map(String.init) ?? "" }
}
