import DirectTestResolvers
@testable import DirectCore
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("The total limit and the caller's code", .idleLimit)
struct TotalTimeTests {
    /// The caller's code, which returns only when the gate opens, and ignores cancellation.
    private let gate = Barrier()
    private let time = HeldTime()
    private let limit = Duration.seconds(7)

    private func client(_ script: Script, _ configure: (inout HTTPClient.Configuration) -> Void = { _ in })
        -> HTTPClient
    {
        script.client {
            $0.timeouts.total = limit
            $0.loop = time.loop
            configure(&$0)
        }
    }

    private func expectTimeout(
        _ phase: HTTPError.Phase,
        _ call: @escaping @Sendable () async throws -> some Sendable
    ) async throws {
        let (result, elapsed) = await time.passing(limit, call)
        let error = try await httpError { try result.get() }
        #expect(error.isTimeout && error.phase == phase && error.name == "a.test", "\(error)")
        #expect(elapsed == limit)
        gate.open()
    }

    @Test(
        "The total limit includes the source of a token, before a request and after a refusal",
        arguments: [true, false]
    )
    func token(isFirst: Bool) async throws {
        var request = Request(.get, "http://a.test/")
        let gate = gate
        request.authenticator = SlowAuthenticator(isSlowAtFirst: isFirst) { await gate.pass() }
        let client = client(Script((401, ["WWW-Authenticate": "Slow"])))
        let call = Task { [request] in try await client.fetch(request) }
        // The other questions to the authenticator end at the same moment.
        await gate.arrivals(1)
        try await expectTimeout(isFirst ? .request : .response) { try await call.value }
    }

    @Test("The total limit includes a custom decision on redirects")
    func redirect() async throws {
        let gate = gate
        let client = client(.redirecting(302, "/next")) {
            $0.redirects.decide = { redirect in
                await gate.pass()
                return redirect.next
            }
        }
        let call = Task { try await client.get("http://a.test/") }
        // The wait for the first response ends at the same moment.
        await gate.arrivals(1)
        try await expectTimeout(.redirect) { try await call.value }
    }

    @Test("The total limit includes network interceptors and a custom transport")
    func interceptor() async throws {
        let gate = gate
        let intercepted = client(Script((200, [:]))) {
            $0.networkInterceptors = [
                { request, forward in
                    await gate.pass()
                    return try await forward(request)
                }
            ]
        }
        try await expectTimeout(.response) { try await intercepted.get("http://a.test/") }
        let late = Barrier()
        let mocked = client(Script((200, [:]))) {
            $0.transport = { request in
                await late.pass()
                return try Response(to: request, 200)
            }
        }
        try await expectTimeout(.response) { try await mocked.get("http://a.test/") }
        late.open()
    }
}

/// An authenticator that waits before it answers a challenge, or already before the first request.
struct SlowAuthenticator: Authenticator {
    let isSlowAtFirst: Bool
    let wait: @Sendable () async -> Void

    func authorization(for request: AuthenticationRequest) async throws -> String? {
        if isSlowAtFirst { await wait() }
        return nil
    }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        await wait()
        return "Slow"
    }
}
