@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

/// The policies of a client or a request as a call applies them.
@Suite("Settings of retries and redirects", .idleLimit)
struct PolicySettingsTests {
    private func client(_ script: Script, _ set: (inout RetryPolicy) -> Void) -> HTTPClient {
        script.client {
            var policy = RetryPolicy()
            policy.delay = .zero
            set(&policy)
            $0.retries = policy
        }
    }

    @Test("The policy's `attempts` bounds how often a request is sent", arguments: [1, 2, 5])
    func attempts(count: Int) async throws {
        let script = Script((503, [:]))
        _ = try await client(script) { $0.attempts = count }.get("http://a.test/")
        #expect(script.urls.count == count)
    }

    @Test("The policy's `statuses` chooses the responses that are tried again")
    func statuses() async throws {
        for (status, count) in [(500, 3), (503, 1)] as [(HTTPStatus, Int)] {
            let script = Script((status, [:]))
            _ = try await client(script) { $0.statuses = [500] }.get("http://a.test/")
            #expect(script.urls.count == count, "\(status)")
        }
    }

    @Test(
        "The policy's `retriesFailures` chooses whether a failure of the network is tried again",
        arguments: [true, false]
    )
    func retriesFailures(isOn: Bool) async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([.bytes([.awaitHead, .cut]), .http { _ in .text("second") }])
        )
        let client = HTTPClient {
            var policy = RetryPolicy()
            policy.delay = .zero
            policy.retriesFailures = isOn
            $0.retries = policy
        }
        if isOn {
            #expect(try await client.get(server.http()).text == "second")
        } else {
            #expect(try await httpError { try await client.get(server.http()) }.phase == .response)
        }
        #expect(server.records.count == (isOn ? 2 : 1))
    }

    @Test("The policy's `longestDelay` decides whether a server's Retry-After is waited for")
    func longestDelay() async throws {
        let script = Script((503, ["Retry-After": "2"]), (200, [:]))
        let client = client(script) { $0.longestDelay = .seconds(1) }
        #expect(try await client.get("http://a.test/").status == 503)
        #expect(script.urls.count == 1)
    }

    /// A wait drawn from some 30,000 years does not end within ten seconds.
    @Test("The policy's `delay` chooses the wait before the next try")
    func delay() async throws {
        let script = Script((503, [:]))
        let client = client(script) {
            $0.delay = .seconds(1 << 40)
            $0.longestDelay = .seconds(1 << 40)
        }
        var request = Request(.get, "http://a.test/")
        request.timeouts.total = .seconds(10)
        #expect(try await client.fetch(request).status == 503)
        #expect(script.urls.count == 1)
    }

    @Test("The policy's `limit` bounds how many redirects are followed")
    func redirectLimit() async throws {
        let script = Script.redirecting(302, "/1", "/2", "/3")
        let client = script.client { $0.redirects.limit = 2 }
        let error = try await httpError { try await client.get("http://a.test/") }
        guard case .redirect(.tooMany(limit: 2, isLoop: false)) = error.reason else { throw error }
        #expect(script.urls.count == 3)
    }

    @Test("A request's redirect policy overrides its client's, in both directions")
    func ofRequest() async throws {
        for (ofClient, ofRequest, status) in [
            (RedirectPolicy.deliver, .follow, 200), (.follow, .deliver, 302),
        ]
            as [(RedirectPolicy, RedirectPolicy, HTTPStatus)]
        {
            let client = Script.redirecting(302, "/next").client { $0.redirects = ofClient }
            var request = Request(.get, "http://a.test/")
            request.redirects = ofRequest
            #expect(try await client.fetch(request).status == status)
        }
    }

    @Test("Only the fields in `survivingFields` are sent to other origins")
    func extraCrossOriginFields() async throws {
        let server = try FixtureServer.start { request in
            let fields = ["x-kept", "x-secret"].map { request.headers[$0] ?? "none" }
            return .text(fields.joined(separator: " "))
        }
        let first = try FixtureServer.start { _ in .redirect(to: server.http()) }
        let client = HTTPClient {
            $0.headers = ["X-Kept": "1", "X-Secret": "2"]
            $0.redirects.extraCrossOriginFields = ["X-Kept"]
        }
        #expect(try await client.get(first.http()).text == "1 none")
    }
}
