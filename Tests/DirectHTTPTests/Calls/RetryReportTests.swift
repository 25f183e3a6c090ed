@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Reports of retries", .idleLimit)
struct RetryReportTests {
    private static var quick: RetryPolicy {
        var policy = RetryPolicy()
        policy.delay = .zero
        return policy
    }

    private let reports = Locked<[CallReport]>([])

    private func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        HTTPClient.trusting { [reports] in
            $0.retries = Self.quick
            $0.dialling.keepsOrder = true
            $0.observer = { event in
                if case .ended(let report) = event.kind { reports.withLock { $0.append(report) } }
            }
            configure(&$0)
        }
    }

    private var report: CallReport {
        get throws { try #require(reports.withLock { $0.last }) }
    }

    @Test("The error and the report have each try: its address, its phase and its failure")
    func everyTry() async throws {
        let cut = try FixtureServer.scripted([.awaitHead, .cut])
        let busy = try FixtureServer.start(on: "127.0.0.2") { _ in .status(503) }
        let broken = try FixtureServer.scripted(
            [.awaitHead, .bytes(Array("nonsense\r\n\r\n".utf8))],
            on: "127.0.0.3"
        )
        var request = Request(.get, "http://a.test/path?key=secret-value")
        request.addresses = [cut.endpoint, busy.endpoint, broken.endpoint]
        let client = client()
        let error = try await httpError { [request] in try await client.fetch(request) }
        #expect(error.endpoint == broken.endpoint && error.retryStop == .attempts)
        #expect(error.history.map(\.reason) == [.retry, .retry])
        #expect(error.history.map(\.endpoint) == [cut.endpoint, busy.endpoint])
        #expect(error.history.map(\.status) == [nil, 503] && error.history.first?.error?.phase == .response)
        for server in [cut, busy, broken] { #expect("\(error)".contains(server.authority), "\(error)") }
        #expect("\(error)".hasPrefix("GET http://a.test/path?key=***: "))
        #expect(!"\(error)".contains("secret-value"))
        let report = try report
        #expect(report.exchanges.map(\.reason) == [nil, .retry, .retry] && report.retryStop == .attempts)
        #expect(report.exchanges.map(\.status) == [nil, 503, nil])
        #expect(report.exchanges.map(\.error?.endpoint) == [cut.endpoint, nil, broken.endpoint])
    }

    @Test("A response after a failed try has that try in its history")
    func success() async throws {
        let cut = try FixtureServer.scripted([.awaitHead, .cut])
        let good = try FixtureServer.start(on: "127.0.0.2") { _ in .text("good") }
        var request = Request(.get, "http://a.test/")
        request.addresses = [cut.endpoint, good.endpoint]
        let response = try await client().fetch(request)
        #expect(response.history.map(\.error?.endpoint) == [cut.endpoint] && response.retryStop == nil)
        #expect(try report.exchanges.map(\.reason) == [nil, .retry])
    }

    @Test("A redirect and a challenge precede the later tries in the history")
    func mixed() async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .http { request in
                    if request.target == "/" { return .redirect(to: "/end") }
                    return .status(401, ["WWW-Authenticate": "Basic realm=x"]).then(.close)
                },
                .bytes([.awaitHead, .cut]),
            ])
        )
        var request = Request(.get, server.http())
        request.authenticator = LateCredentials()
        let client = client()
        let error = try await httpError { [request] in try await client.fetch(request) }
        #expect(error.history.map(\.reason) == [.redirect, .authentication, .retry, .retry])
        #expect(try report.exchanges.map(\.reason) == [nil, .redirect, .authentication, .retry, .retry])
    }

    @Test("The report says why no further try is made")
    func stops() async throws {
        func stop(
            _ answer: (HTTPStatus, HTTPHeaders),
            _ method: DirectHTTP.HTTPMethod = .get,
            _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
        ) async throws -> RetryStop? {
            let client = Script(answer).client { [reports] in
                $0.retries = Self.quick
                $0.observer = { event in
                    if case .ended(let report) = event.kind { reports.withLock { $0.append(report) } }
                }
                configure(&$0)
            }
            let response = try await client.fetch(Request(method, "http://a.test/"))
            #expect(try report.retryStop == response.retryStop)
            return response.retryStop
        }
        #expect(try await stop((200, [:])) == nil)
        #expect(try await stop((404, [:]), .post) == nil)
        #expect(try await stop((503, [:])) == .attempts)
        #expect(try await stop((503, [:]), .post) == .notRepeatable)
        #expect(try await stop((503, ["Retry-After": "61"])) == .retryAfter)
        let late = try await stop((503, ["Retry-After": "50"])) { $0.timeouts.total = .seconds(40) }
        #expect(late == .deadline)
        #expect(
            try await stop((503, [:])) { $0.retries?.budget = RetryBudget(retries: 1, perSecond: 0) }
                == .budget
        )
        let error = try await httpError {
            try await Script((503, [:])).client { $0.retries = Self.quick }.get("http://a.test/")
                .requiringSuccess()
        }
        #expect(
            error.retryStop == .attempts && "\(error)".hasSuffix("not retried: \(RetryStop.attempts)")
        )
    }
}

/// Sends its credentials only after a challenge.
struct LateCredentials: Authenticator {
    func authorization(for request: AuthenticationRequest) async throws -> String? { nil }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after said: String?
    ) async throws -> String? { said == nil ? "Basic eDp5" : nil }
}

@Suite("The retry budget", .idleLimit)
struct RetryBudgetTests {
    private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test("The retry budget refills with time, up to its initial size")
    func time() {
        let budget = RetryBudget(retries: 2, perSecond: 10)
        #expect(budget.take(at: at(1000)) && budget.take(at: at(1000)) && !budget.take(at: at(1000)))
        #expect(!budget.take(at: at(1099)) && budget.take(at: at(1100)) && !budget.take(at: at(1199)))
        // Another loop's clock may show less.
        #expect(!budget.take(at: at(0)) && budget.take(at: at(1200)))
        let later = (0..<5).map { _ in budget.take(at: at(60_000)) }
        #expect(later == [true, true, false, false, false])
    }

    @Test("The retry budget refills by a tenth for each success")
    func successes() {
        let budget = RetryBudget(retries: 1, perSecond: 0)
        #expect(budget.take(at: at(0)))
        for _ in 0..<9 { budget.refill() }
        #expect(!budget.take(at: at(1_000_000)))
        budget.refill()
        #expect(budget.take(at: at(1_000_000)))
    }

    @Test("The retry budget accepts any numbers")
    func extremes() {
        #expect(!RetryBudget(retries: -1, perSecond: -1).take(at: at(0)))
        let large = RetryBudget(retries: .max, perSecond: .max)
        #expect(large.take(at: at(0)) && large.take(at: .never))
    }

    @Test("The retry budget permits two retries for each of 100 requests at once")
    func burst() async throws {
        let seen = Locked<[String: Int]>([:])
        let client = HTTPClient {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
            $0.transport = { request in
                let url = try request.url.description
                let count = seen.withLock { seen in
                    seen[url, default: 0] += 1
                    return seen[url, default: 0]
                }
                return try Response(to: request, count < 3 ? 503 : 200)
            }
        }
        let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for number in 0..<100 {
                group.addTask { try await client.get("http://a.test/\(number)").status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 100)
    }

    @Test("An empty retry budget refills only when the client's clock advances")
    func clock() async throws {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let script = Script((503, [:]))
        let client = script.client {
            $0.loop = loop
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
            $0.retries?.budget = RetryBudget(retries: 1, perSecond: 1)
        }
        #expect(try await client.get("http://a.test/").retryStop == .budget && script.urls.count == 2)
        #expect(try await client.get("http://a.test/").retryStop == .budget && script.urls.count == 3)
        clock.advance(by: .seconds(1))
        #expect(try await client.get("http://a.test/").retryStop == .budget && script.urls.count == 5)
    }
}
