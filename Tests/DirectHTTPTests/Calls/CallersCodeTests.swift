import DirectTestResolvers
import DirectCore
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Cancellation and the caller's code", .idleLimit)
struct CallersCodeTests {
    /// The caller's code, which returns only when the gate opens, and ignores cancellation.
    private let gate = Barrier()

    /// Cancels the call when it waits for the caller's code, and expects it to end while that goes on.
    private func expectCancellation(
        _ location: SourceLocation = #_sourceLocation,
        of call: @escaping @Sendable () async throws -> some Sendable
    ) async throws {
        let task = Task { _ = try await call() }
        await gate.arrivals(1)
        task.cancel()
        await #expect(throws: CancellationError.self, sourceLocation: location) { try await task.value }
        gate.open()
    }

    @Test(
        "A cancelled call does not wait for an authenticator, before a request and after a refusal",
        arguments: [true, false]
    )
    func authenticator(isFirst: Bool) async throws {
        var request = Request(.get, "http://a.test/")
        let gate = gate
        request.authenticator = SlowAuthenticator(isSlowAtFirst: isFirst) { await gate.pass() }
        let client = Script((401, ["WWW-Authenticate": "Slow"])).client()
        try await expectCancellation { [request] in try await client.fetch(request) }
    }

    @Test("A cancelled call does not wait for a decision on a redirect")
    func redirect() async throws {
        let gate = gate
        let script = Script.redirecting(302, "/next")
        let client = script.client {
            $0.redirects.decide = { redirect in
                await gate.pass()
                return redirect.next
            }
        }
        try await expectCancellation { try await client.get("http://a.test/") }
        #expect(script.urls == ["http://a.test/"])
    }

    @Test(
        "A cancelled call does not wait for an interceptor, of calls or of requests",
        arguments: [true, false]
    )
    func interceptor(isOfCalls: Bool) async throws {
        let gate = gate
        let interceptor: Interceptor = { request, forward in
            await gate.pass()
            return try await forward(request)
        }
        let client = Script((200, [:])).client {
            if isOfCalls { $0.interceptors = [interceptor] } else { $0.networkInterceptors = [interceptor] }
        }
        try await expectCancellation { try await client.get("http://a.test/") }
    }

    @Test("A cancelled call does not wait for a custom transport")
    func transport() async throws {
        let gate = gate
        let client = HTTPClient.untimed {
            $0.transport = { request in
                await gate.pass()
                return try Response(to: request, 200)
            }
        }
        try await expectCancellation { try await client.get("http://a.test/") }
    }

    @Test("What an interceptor of a cancelled call gets later is given back", arguments: [true, false])
    func abandoned(isOfCalls: Bool) async throws {
        let gate = gate
        let server = try FixtureServer.start { _ in .pattern(count: 64 << 20) }
        let interceptor: Interceptor = { request, forward in
            let response = try await forward(request)
            await gate.pass()
            return response
        }
        let client = HTTPClient.untimed {
            if isOfCalls { $0.interceptors = [interceptor] } else { $0.networkInterceptors = [interceptor] }
        }
        try await expectCancellation { try await client.send(Request(.get, server.http())) }
        _ = try await server.nextRecord()
        while !client.connections.flatMap(\.connections).isEmpty { await Task.yield() }
    }

    @Test("An observer is told that a call was cancelled while the caller's code goes on")
    func observer() async throws {
        let gate = gate
        let outcomes = Locked<[String]>([])
        let client = Script((200, [:])).client {
            $0.interceptors = [
                { request, forward in
                    await gate.pass()
                    return try await forward(request)
                }
            ]
            $0.observer = { event in
                if case .ended(let report) = event.kind {
                    outcomes.withLock { $0.append("\(report.outcome)") }
                }
            }
        }
        try await expectCancellation { try await client.get("http://a.test/") }
        #expect(outcomes.withLock { $0 } == ["cancelled"])
    }

    @Test("The caller's code stays on the executor that its caller prefers, if no deadline ends the call")
    func executor() async throws {
        let client = Script((200, [:])).client()
        let loop = client.executor
        let places = Locked<[Bool]>([])
        let interceptor: Interceptor = { request, forward in
            places.withLock { $0.append(loop.isCurrent) }
            return try await forward(request)
        }
        let intercepted = Script((200, [:])).client {
            $0.interceptors = [interceptor]
            $0.networkInterceptors = [interceptor]
        }
        _ = try await withTaskExecutorPreference(loop) { try await intercepted.get("http://a.test/") }
        #expect(places.withLock { $0 } == [true, true])
    }
}
