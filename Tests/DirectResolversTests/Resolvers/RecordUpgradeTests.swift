import DirectCore
import DirectHTTP
import DirectTestCommands
import DirectTestResolvers
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectResolvers

@Suite("Upgrades to https by HTTPS records", .idleLimit)
struct RecordUpgradeTests {
    private let plain: FixtureServer
    private let secure: FixtureServer
    private let resolver: ScriptedResolver

    init() throws {
        let names = ["a.test", "b.test"]
        let security = FixtureSecurity.tls(certificates: names.map { testAuthority.certificate(for: $0) })
        let plain = try FixtureServer.start(.plain) { _ in .text("plain") }
        let secure = try FixtureServer.start(security) { request in
            request.target == "/to-a" ? .status(302, ["Location": "http://a.test/x"]) : .text("secure")
        }
        (self.plain, self.secure) = (plain, secure)
        resolver = ScriptedResolver("records", dependsOnPort: true) { host, port in
            let isSecure = host.text == "b.test" || port != 80
            var answer = Resolution(
                [isSecure ? secure.endpoint : plain.endpoint],
                source: .resolver("records")
            )
            if isSecure { answer.https = HTTPSRecords(host.text == "a.test" ? [HTTPSRecord(host)] : []) }
            return answer
        }
    }

    private func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        HTTPClient.trusting {
            $0.resolver = resolver
            $0.upgradesByHTTPSRecords = true
            configure(&$0)
        }
    }

    @Test("Without the setting, http stays http, and nothing more is asked")
    func off() async throws {
        let response = try await client { $0.upgradesByHTTPSRecords = false }.get("http://a.test/")
        #expect(response.url.text == "http://a.test/")
        #expect(resolver.asked == ["a.test:80"])
    }

    @Test("An origin with records is reached over https, before cookies are chosen")
    func upgrade() async throws {
        let jar = CookieJar()
        jar.take(["Set-Cookie": "id=1; Secure"], from: try HTTPURL("https://a.test/"))
        let client = client { $0.cookies = jar }
        let response = try await client.get("http://a.test/")
        #expect(response.url.text == "https://a.test/" && response.history.isEmpty)
        #expect(secure.requests.first?.headers["cookie"] == "id=1")
        #expect(Set(resolver.asked) == ["a.test:443"] && plain.requests.isEmpty)
        let other = try await client.get("http://a.test:8443/")
        #expect(other.url.text == "https://a.test:8443/")
    }

    @Test("An origin without records stays as it is")
    func noRecords() async throws {
        let scripted = ScriptedResolver("bare") { [plain] _, _ in
            var answer = Resolution([plain.endpoint], source: .resolver("bare"))
            answer.https = HTTPSRecords([])
            return answer
        }
        let response = try await client { $0.resolver = scripted }.get("http://a.test/")
        #expect(response.url.text == "http://a.test/")
        #expect(scripted.asked == ["a.test:443", "a.test:80"])
    }

    @Test("A redirect to http that a record upgrades is no downgrade")
    func redirect() async throws {
        let response = try await client().get("https://b.test/to-a")
        #expect(response.url.text == "https://a.test/x" && plain.requests.isEmpty)
        await #expect(throws: HTTPError.self) {
            try await client { $0.upgradesByHTTPSRecords = false }.get("https://b.test/to-a")
        }
    }

    @Test("Where no resolver chooses the addresses, no record is asked for, and none that is known counts")
    func chosen() async throws {
        let plain = plain.endpoint
        var requests = Array(repeating: HTTPClient.Request(.get, "http://a.test/"), count: 2)
        requests[0].addresses = [plain]
        var own = StaticMap()
        try own.set([plain], for: HostPattern("a.test"), port: 80)
        requests[1].addressMap = own
        let client = client()
        for isKnown in [false, true] {
            if isKnown { _ = try await client.get("http://a.test/") }
            let asked = resolver.asked.count
            for request in requests {
                #expect(try await client.fetch(request).url.text == "http://a.test/")
            }
            #expect(resolver.asked.count == asked && (isKnown || asked == 0))
        }
        let mapped = self.client { $0.addresses = own }
        #expect(try await mapped.get("http://a.test/").url.text == "http://a.test/")
    }

    @Test("With a transport of its own a client asks no resolver")
    func ownTransport() async throws {
        let client = client {
            $0.transport = { try HTTPClient.Response(to: $0, 200) }
        }
        #expect(try await client.get("http://a.test/").url.text == "http://a.test/")
        #expect(resolver.asked.isEmpty)
    }

    @Test("A call that is cancelled while the records are asked for sends nothing")
    func cancelled() async throws {
        let times = Locked(0)
        let silent = ScriptedResolver("silent", dependsOnPort: true) { [plain] _, port in
            let isLast =
                port == 443
                && times.withLock {
                    $0 += 1; return $0
                } == 2
            while isLast, !Task.isCancelled { await Task.yield() }
            let time = Duration.seconds(port == 443 ? 0 : 60)
            return Resolution([plain.endpoint], timeToLive: time, source: .resolver("silent"))
        }
        let client = client {
            $0.resolver = CachingResolver(silent) { ($0.minimumTimeToLive, $0.staleTime) = (.zero, .zero) }
        }
        // The call has address and connection at hand, so nothing later notices that it is cancelled.
        _ = try await client.get("http://a.test/")
        let call = Task { try await client.get("http://a.test/") }
        while silent.asked.count < 3 { await Task.yield() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(plain.requests.count == 1)
    }

    @Test("A resolver that fails leaves the URL as it is, and its error is that of the request")
    func failure() async throws {
        let failing = ScriptedResolver("failing", .refused("SERVFAIL"))
        let error = try await #require(throws: HTTPError.self) {
            _ = try await client { $0.resolver = failing }.get("http://a.test/")
        }
        #expect(error.phase == .resolve && error.url?.text == "http://a.test/")
        #expect(failing.asked == ["a.test:443", "a.test:80"])
    }

    @Test(
        "A call that is upgraded keeps its credentials behind an interceptor, and its connection in advance"
    )
    func interceptor() async throws {
        let client = client { $0.interceptors = [{ request, next in try await next(request) }] }
        try await client.prewarm("http://a.test/")
        var request = HTTPClient.Request(.get, "http://a.test/")
        request.headers["Authorization"] = "Bearer 1"
        _ = try await client.fetch(request)
        #expect(secure.requests.map { $0.headers["authorization"] } == ["Bearer 1"])
        #expect(secure.records.count == 1)
    }
}
