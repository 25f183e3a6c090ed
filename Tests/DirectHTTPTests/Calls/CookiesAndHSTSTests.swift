@testable import DirectCore
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Cookies and HSTS of a client")
struct MemoryTests {
    @Test("Cookies belong to the name, wherever it is dialled, also from a redirect, and to no other name")
    func cookies() async throws {
        let script = Script(
            (302, ["Set-Cookie": "a=1", "Location": "/in"]),
            (302, ["Location": "http://b.test/"]),
            (200, [:])
        )
        let jar = CookieJar()
        let client = script.client { $0.cookies = jar }
        _ = try await client.get("http://a.test/")
        #expect(script.requests.map { $0.headers["Cookie"] } == [nil, "a=1", nil])
        var request = Request(.get, "http://a.test/")
        request.addresses = ["192.0.2.7"]
        _ = try await client.fetch(request)
        #expect(script.requests.last?.headers["Cookie"] == "a=1")
    }

    @Test("Cookies are computed for each hop, and those set by a redirect replace older ones")
    func freshCookies() async throws {
        let script = Script(
            (200, ["Set-Cookie": "a=1"]),
            (302, ["Set-Cookie": "a=2", "Location": "/"]),
            (200, [:])
        )
        let jar = CookieJar()
        let client = script.client { $0.cookies = jar }
        _ = try await client.get("http://a.test/")
        _ = try await client.get("http://a.test/")
        #expect(script.requests.map { $0.headers["Cookie"] } == [nil, "a=1", "a=2"])
    }

    @Test("TRACE carries no cookie of the jar, since its response would show it")
    func trace() async throws {
        let script = Script((200, ["Set-Cookie": "a=1"]), (200, [:]), (200, [:]))
        let client = script.client { $0.cookies = CookieJar() }
        _ = try await client.get("http://a.test/")
        _ = try await client.fetch(Request(.trace, "http://a.test/"))
        _ = try await client.get("http://a.test/")
        #expect(script.requests.map { $0.headers["Cookie"] } == [nil, nil, "a=1"])
    }

    @Test("Cookies are exchanged over real connections in the simplest configuration")
    func overTheNetwork() async throws {
        let server = try FixtureServer.start { request in
            request.cookie("seen") == nil ? .status(200, ["Set-Cookie": "seen=1"]) : .text("again")
        }
        let jar = CookieJar()
        let client = HTTPClient.untimed { $0.cookies = jar }
        var request = Request(.get, "http://a.test:\(server.port)/")
        request.addresses = [server.endpoint]
        _ = try await client.fetch(request)
        #expect(try await client.fetch(request).text == "again")
        #expect(jar.cookies(for: try HTTPURL("http://a.test/")).count == 1)
    }

    @Test("A custom cookie store is asked for each hop, and receives each response from the network")
    func ownStore() async throws {
        let script = Script(
            (302, ["Set-Cookie": "a=1", "Location": "/in"]),
            (200, ["Set-Cookie": "a=2", "Cache-Control": "max-age=60"])
        )
        let store = RecordingStore()
        let client = script.client {
            $0.cookies = store
            $0.cache = .memory()
            $0.redirects.decide = { Request($0.next.method, $0.url) }
        }
        for _ in 0..<2 { _ = try await client.get("https://a.test/in") }
        _ = try await client.get("https://a.test/in")
        #expect(script.requests.map { $0.headers["Cookie"] } == ["n=1", "n=2"])
        #expect(store.taken == ["https://a.test/in a=1", "https://a.test/in a=2"])
    }

    @Test("Cookies set by a 401 response are sent with the credentials")
    func refusal() async throws {
        let script = Script(
            (401, ["WWW-Authenticate": #"Digest realm="r", nonce="n""#, "Set-Cookie": "a=1"]),
            (200, [:])
        )
        let jar = CookieJar()
        var request = Request(.get, "http://a.test/")
        request.authenticator = .digest(user: "u", password: "p")
        _ = try await script.client { $0.cookies = jar }.fetch(request)
        #expect(script.requests.map { $0.headers["Cookie"] } == [nil, "a=1"])
    }

    @Test("A name with HSTS is upgraded to https before credentials and cookies are chosen")
    func upgrades() async throws {
        let script = Script(
            (200, ["Strict-Transport-Security": "max-age=60", "Set-Cookie": "a=1; Secure"]),
            (200, [:])
        )
        let jar = CookieJar()
        let origin = try HTTPURL("https://a.test/").origin
        let client = script.client {
            $0.cookies = jar
            $0.hsts = HSTSStore()
            $0.authenticators[origin] = .bearer("t")
        }
        _ = try await client.get("https://a.test/")
        let response = try await client.get("http://a.test/x")
        #expect(script.urls == ["https://a.test/", "https://a.test/x"])
        #expect(script.requests[1].headers["Cookie"] == "a=1")
        #expect(script.requests[1].headers["Authorization"] == "Bearer t")
        #expect(response.url.scheme == .https)
    }

    @Test("A redirect to http that HSTS upgrades is no downgrade")
    func redirectedUpgrade() async throws {
        let script = Script(
            (302, ["Strict-Transport-Security": "max-age=60", "Location": "http://a.test/x"]),
            (200, [:])
        )
        let client = script.client { $0.hsts = HSTSStore() }
        _ = try await client.get("https://a.test/")
        #expect(script.urls == ["https://a.test/", "https://a.test/x"])
    }

    @Test("A long Location does not bypass HSTS")
    func longUpgrade() async throws {
        let script = Script.redirecting(302, "http://a.test/" + String(repeating: "\"", count: 22_000))
        let jar = CookieJar()
        let host = try HTTPHost("a.test")
        jar.add(try Cookie("a", "1", for: host))
        let hsts = HSTSStore()
        hsts.add(.init(try DomainName("a.test"), until: UnixTime(seconds: .max)))
        let client = script.client {
            $0.cookies = jar
            $0.hsts = hsts
        }
        let response = try await client.get("http://b.test/")
        #expect(response.url.scheme == .https)
        #expect(script.urls.map { $0.hasPrefix("https://a.test/") } == [false, true])
    }

    @Test("HSTS holds for what interceptors and decisions make of a request, which stays at its origin")
    func interceptedUpgrade() async throws {
        let hsts = HSTSStore()
        hsts.add(.init(try DomainName("a.test"), until: UnixTime(seconds: .max)))
        let downgrade: Interceptor = { request, forward in
            let url = try request.url.text.replacing("https:", with: "http:")
            return try await forward(
                Request(request.method, try HTTPURL(url), headers: request.headers, body: request.body)
            )
        }
        for isOfCalls in [true, false] {
            let script = Script.redirecting(302, "/next")
            let client = script.client {
                $0.hsts = hsts
                if isOfCalls { $0.interceptors = [downgrade] } else { $0.networkInterceptors = [downgrade] }
            }
            for scheme in ["http", "https"] {
                var request = Request(.get, "\(scheme)://a.test/", headers: ["X-Api-Key": "secret"])
                request.authenticator = .bearer("x")
                request.addresses = ["192.0.2.1"]
                _ = try await client.fetch(request)
            }
            #expect(script.urls.allSatisfy { $0.hasPrefix("https://a.test/") })
            for request in script.requests {
                #expect(request.headers["Authorization"] == "Bearer x" && request.addresses != nil)
                #expect(request.headers["X-Api-Key"] == "secret")
            }
        }
    }

    @Test("Strict-Transport-Security over plain HTTP is ignored")
    func plainHTTP() async throws {
        let script = Script((200, ["Strict-Transport-Security": "max-age=60"]))
        let client = script.client { $0.hsts = HSTSStore() }
        _ = try await client.get("http://a.test/")
        _ = try await client.get("http://a.test/")
        #expect(script.urls == ["http://a.test/", "http://a.test/"])
    }
}

/// Has a cookie whose value counts how often it was asked for.
private final class RecordingStore: CookieStore {
    private let state = Locked((asked: 0, taken: [String]()))

    var taken: [String] { state.withLock { $0.taken } }

    func cookies(for url: HTTPURL) -> [Cookie] {
        let count = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        return (try? [Cookie("n", "\(count)", for: url.host)]) ?? []
    }

    func take(_ headers: HTTPHeaders, from url: HTTPURL) {
        let values = headers.values(for: "Set-Cookie")
        state.withLock { $0.taken += values.map { "\(url.text) \($0)" } }
    }
}
