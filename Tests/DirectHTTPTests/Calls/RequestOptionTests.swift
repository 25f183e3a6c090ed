import DirectTestResolvers
import DirectCore
import DirectHTTP1
import DirectIO
import DirectTLS
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

/// An interceptor that builds each request anew, with method, URL, fields and body, and sets more.
func anew(_ set: @escaping @Sendable (inout Request) throws -> Void) -> Interceptor {
    { request, forward in
        var built = Request(
            request.method,
            try request.url,
            headers: request.headers,
            body: request.body
        )
        try set(&built)
        return try await forward(built)
    }
}

/// An interceptor that changes a copy of each request.
func copying(_ change: @escaping @Sendable (inout Request) throws -> Void) -> Interceptor {
    { request, forward in
        var copy = request
        try change(&copy)
        return try await forward(copy)
    }
}

@Suite("The options of a request", .idleLimit)
struct RequestOptionTests {
    private static let limits = RequestTimeouts(
        queue: .seconds(1),
        resolve: .seconds(2),
        connect: .seconds(3),
        tls: .seconds(4),
        write: .seconds(5),
        response: .seconds(6),
        read: .seconds(7),
        continue: .seconds(8),
        minimumSpeed: .unlimited,
        total: .seconds(9)
    )

    /// A request in which every option is set.
    static func full() throws -> Request {
        var request = Request(.put, "https://a.test/", body: .text("x"))
        var failed = FailedEndpoints()
        failed.recordFailure(at: "192.0.2.1")
        request.options.reference = "items"
        request.options.addressMap = StaticMap()
        request.options.ignoresStoredResponses = true
        request.options.isAlwaysDecoded = true
        request.options.bypassesCache = true
        request.options.failedEndpoints = failed
        request.options.repeatability = Repeatability()
        request.timeouts = limits
        request.waited = .seconds(1)
        request.isServersChoice = true
        request.redirects = RedirectPolicy()
        request.retries = RetryPolicy()
        request.hedging = HedgingPolicy()
        request.tags[String.self] = "tag"
        request.authenticator = .bearer("x")
        request.authenticators = { _ in StandardAuthenticator.bearer("x") }
        request.cookies = CookieJar()
        request.resolver = ScriptedResolver("scripted", [])
        request.proxy = ProxySettings()
        request.expectsContinue = true
        request.options.exchange.closes = true
        request.upgrade = ["chat"]
        request.onInterim = { _ in }
        request.onUpload = { _ in }
        request.onDownload = { _ in }
        request.sendingRate = RateLimit(bytesPerSecond: 1)
        request.receivingRate = RateLimit(bytesPerSecond: 1)
        request.tls = TLSSettings()
        request.insecureServerIdentity = InsecureServerIdentity(verified: try HTTPHost("b.test"))
        request.encryptedClientHello = .required
        request.unixSocket = try UnixSocketPath("/s")
        request.localBinding = .interface("lo")
        request.tcpKeepAlive = TCPKeepAlive(idle: .seconds(1), interval: .seconds(1), count: 1)
        return request
    }

    /// The names of the options that are set.
    private func names(of request: Request) -> Set<String> {
        Set(OptionRule.all.filter { $0.differs(request.options, from: Request.Options()) }.map(\.name))
    }

    private static let all = Set(OptionRule.all.map(\.name))
    private static let ofOrigin = Set(OptionRule.all.filter { $0.belongs == .toOrigin }.map(\.name))

    @Test("Each option has its rules, and is set in the request of this test")
    func table() throws {
        func fields(_ value: Any) -> [String] {
            let labels = Mirror(reflecting: value).children.compactMap(\.label)
            // Held by reference, under another name.
            return labels.map { $0 == "tlsBox" ? "tls" : $0 }
        }
        let parts = ["exchangeBox", "connectionBox", "lineage"]
        let stored =
            fields(Request.Options()).filter { !parts.contains($0) }
            + fields(ExchangeOptions()) + fields(ConnectionSettings())
        #expect(Set(stored) == Self.all && stored.count == OptionRule.all.count)
        #expect(try names(of: Self.full()) == Self.all)
        let unset = Mirror(reflecting: Self.limits).children.filter { "\($0.value)" == "nil" }
        #expect(unset.isEmpty)
    }

    @Test("A request that is built anew gets every option, and those of an origin only for that origin")
    func inherited() throws {
        let full = try Self.full()
        for (url, expected) in [
            ("https://a.test/other", Self.all), ("https://b.test/", Self.all.subtracting(Self.ofOrigin)),
            ("http://a.test/", Self.all.subtracting(Self.ofOrigin)),
        ] {
            var built = Request(.get, url)
            built.inheritOptions(of: full)
            #expect(names(of: built) == expected)
            #expect(built.timeouts == Self.limits)
        }
    }

    @Test("One option that is set anew takes away none of the others", arguments: 0..<OptionRule.all.count)
    func oneOfThem(index: Int) throws {
        let (rule, full) = (OptionRule.all[index], try Self.full())
        var built = Request(.get, "https://a.test/")
        rule.inherit(into: &built.options, from: try Self.full().options)
        built.inheritOptions(of: full)
        #expect(names(of: built) == Self.all)
    }

    @Test("Limits and tags are inherited one by one")
    func parts() throws {
        var built = Request(.get, "https://a.test/")
        built.timeouts.read = .seconds(70)
        built.tags[Int.self] = 1
        built.inheritOptions(of: try Self.full())
        var limits = Self.limits
        limits.read = .seconds(70)
        #expect(built.timeouts == limits)
        #expect(built.tags[Int.self] == 1 && built.tags[String.self] == "tag")
    }

    @Test("A copy has what the code has left in it, except for what belongs to the call")
    func copied() throws {
        let full = try Self.full()
        var copy = full
        for rule in OptionRule.all { rule.clear(&copy.options) }
        #expect(names(of: copy).isEmpty)
        copy.inheritOptions(of: full)
        #expect(names(of: copy) == Set(OptionRule.all.filter { $0.belongs == .toCall }.map(\.name)))
    }

    @Test("The URL of another origin drops the options of the origin")
    func leftOrigin() throws {
        let moved = try Self.full().replacing(url: "https://b.test/")
        #expect(names(of: moved) == Self.all.subtracting(Self.ofOrigin))
    }

    @Test(
        "An interceptor that sets one limit leaves the caller's deadline as it is",
        arguments: [true, false]
    )
    func deadline(isCopy: Bool) async throws {
        let (time, gate) = (HeldTime(), Gate())
        defer { gate.open() }
        let server = try FixtureServer.start { request in
            try request.wait(for: gate)
            return .text("late")
        }
        let set: @Sendable (inout Request) -> Void = { $0.timeouts.read = .seconds(50) }
        let client = time.client { $0.interceptors = [isCopy ? copying(set) : anew(set)] }
        var request = Request(.get, server.http())
        request.timeouts.total = .seconds(3)
        async let failure = httpError { [request] in try await client.fetch(request) }
        while server.requests.isEmpty { await Task.yield() }
        try await time.pass(.seconds(3))
        #expect(try await failure.isTimeout)
    }

    @Test("An interceptor that sets one callback leaves the caller's others, and the next one sees them")
    func callbacks() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let (sent, seen) = (Heard<UInt64>(), Heard<Bool>())
        let client = HTTPClient.untimed {
            $0.interceptors = [
                anew { $0.onInterim = { _ in } },
                copying { seen.add($0.onUpload != nil && $0.tags[Int.self] == 7) },
            ]
        }
        var request = Request(.post, server.http(), body: .text("hello"))
        request.onUpload = { sent.add($0.bytes) }
        request.tags[Int.self] = 7
        _ = try await client.fetch(request)
        #expect(sent.all == [5] && seen.all == [true])
    }

    @Test("A callback that an interceptor removes from a copy is not called")
    func removed() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let sent = Heard<UInt64>()
        let client = HTTPClient.untimed { $0.interceptors = [copying { $0.onUpload = nil }] }
        var request = Request(.post, server.http(), body: .text("hello"))
        request.onUpload = { sent.add($0.bytes) }
        _ = try await client.fetch(request)
        #expect(sent.all.isEmpty)
    }

    @Test("A reload stays one if an interceptor builds its request anew")
    func reload() async throws {
        let script = Script((200, ["Cache-Control": "max-age=600"]))
        let client = script.client {
            $0.cache = .memory()
            $0.interceptors = [anew { _ in }]
        }
        var request = Request(.get, "https://a.test/")
        for (reloads, count) in [(false, 1), (false, 1), (true, 2)] {
            request.ignoresStoredResponses = reloads
            _ = try await client.fetch(request)
            #expect(script.requests.count == count)
        }
    }
}
