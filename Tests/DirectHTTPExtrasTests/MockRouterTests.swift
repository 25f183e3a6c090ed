import DirectHTTP
import DirectHTTPExtras
import DirectTestCommands
import Testing

@Suite("A router for tests", .idleLimit)
struct MockRouterTests {
    private let router = MockRouter()

    private func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        HTTPClient.untimed {
            $0.transport = router.transport
            configure(&$0)
        }
    }

    private func failure() -> MockRouterError? {
        do { try router.verify() } catch { return error as? MockRouterError }
        return nil
    }

    @Test("Method, URL, its beginning, its query and the condition decide, in the order of the routes")
    func matching() async throws {
        func add(_ name: String, _ method: DirectHTTP.HTTPMethod?, _ url: String, with field: String? = nil) {
            router.on(
                method,
                url,
                calls: 0...Int.max,
                where: { field == nil || $0.headers.contains(field ?? "") }
            ) {
                try .init(to: $0, 200, body: Array(name.utf8))
            }
        }
        add("field", .get, "http://a.test/x", with: "X-Field")
        add("exact", .get, "HTTP://A.test:80/x")
        add("query", .get, "http://a.test/q?a=1")
        add("prefix", nil, "http://a.test/items/*")
        let client = client()
        let asked = [
            ("http://a.test/x", "exact"), ("http://a.test/x?y=1#z", "exact"),
            ("http://a.test/q?a=1", "query"),
            ("http://a.test/items/7?a=b", "prefix"),
        ]
        for (url, expected) in asked { #expect(try await client.get(url).text == expected) }
        #expect(try await client.get("http://a.test/x", headers: ["X-Field": "1"]).text == "field")
        #expect(try await client.delete("http://a.test/items/").text == "prefix")
        #expect(failure() == nil)
        for url in ["http://a.test/xy", "https://a.test/x", "http://a.test/q?a=2", "http://b.test/x"] {
            await #expect(throws: (any Error).self) { try await client.get(url) }
        }
        #expect(failure()?.unexpected.count == 4 && failure()?.uncalled == [])
        #expect(failure()?.description.contains("a=***") == true)
    }

    @Test("Routes that were called too rarely are reported, and further calls go to the next route")
    func counts() async throws {
        router.on(.get, "http://a.test/", calls: 2...2) { try .init(to: $0, 503) }
        let later = router.on(.get, "http://a.test/") { try .init(to: $0, 200) }
        router.on(.post, "http://a.test/", calls: 0...0) { try .init(to: $0, 200) }
        let client = client()
        #expect(
            failure()?.uncalled == ["GET http://a.test/ (0 of 2 calls)", "GET http://a.test/ (0 of 1 calls)"]
        )
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(Int(try await client.get("http://a.test/").status.code)) }
        #expect(statuses == [503, 503, 200] && later.requests.count == 1 && failure() == nil)
        // A route that must not be called has no call to give.
        await #expect(throws: MockRouterError.self) {
            try await client.post("http://a.test/?key=secret", .none)
        }
        #expect(failure()?.unexpected == ["POST http://a.test/?key=***"])
    }

    @Test("Redirects, cookies and credentials work, and each request counts with its final fields")
    func layers() async throws {
        let from = router.on(.get, "http://a.test/from") {
            try .init(to: $0, 302, headers: ["Location": "http://b.test/to", "Set-Cookie": "id=1"])
        }
        let to = router.on(.get, "http://b.test/to", respond: { try .init(to: $0, 200) })
        let client = client { $0.cookies = CookieJar() }
        var request = HTTPClient.Request(.get, "http://a.test/from")
        request.authenticator = .bearer("token")
        request.addresses = ["192.0.2.1"]
        #expect(try await client.fetch(request).url.text == "http://b.test/to")
        _ = try await client.fetch(request)
        #expect(from.requests.map { $0.headers["Authorization"] } == ["Bearer token", "Bearer token"])
        #expect(from.requests.map { $0.headers["Cookie"] } == [nil, "id=1"])
        #expect(from.requests.allSatisfy { $0.addresses == ["192.0.2.1"] })
        #expect(to.requests.allSatisfy { !$0.headers.contains("Authorization") && $0.addresses == nil })
        #expect(failure() == nil)
    }

    @Test("A route may throw the error of a network, which is retried as one")
    func errors() async throws {
        router.on(.get, "http://a.test/", calls: 1...1) { _ in throw HTTPError(.connect, .connectionClosed) }
        router.on(.get, "http://a.test/") { try .init(to: $0, 200) }
        var policy = RetryPolicy()
        policy.delay = .zero
        let client = client { [policy] in $0.retries = policy }
        #expect(try await client.get("http://a.test/").status == 200 && failure() == nil)
    }
}
