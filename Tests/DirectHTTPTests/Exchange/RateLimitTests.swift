import DirectCore
import DirectHTTP
import DirectTestCommands
import DirectTestTime
import DirectTransport
import TLSFixtures
import Testing

/// On a clock that the test holds, the time that a limit takes is exact.
@Suite("Rate limits", .idleLimit)
struct RateLimitTests {
    private let time = HeldTime()
    private let content = [UInt8](repeating: 7, count: 40_000)

    private func server() throws -> FixtureServer {
        let content = content
        return try .start(.plain) { request in
            _ = try request.discardBody()
            return .bytes(content)
        }
    }

    /// A client that waits for a slow machine as long as it takes, while the clock goes on.
    private func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        time.client {
            let long = Duration.seconds(100_000_000)
            $0.timeouts.connect = long
            $0.timeouts.response = long
            $0.timeouts.read = long
            $0.timeouts.write = long
            configure(&$0)
        }
    }

    /// Runs the request while the clock goes on in steps of a millisecond. Returns the response, and the time
    /// it took.
    private func run(_ client: HTTPClient, _ request: Request) async throws -> (BufferedResponse, Duration) {
        let start = time.now
        let going = Task {
            while !Task.isCancelled {
                time.advance(by: .milliseconds(1))
                await time.settle()
            }
        }
        defer { going.cancel() }
        return (try await client.fetch(request), time.now.since(start))
    }

    @Test(
        "A body is received no faster than the request's limit, or else the client's",
        arguments: [true, false]
    )
    func receiving(isOfClient: Bool) async throws {
        let limit = RateLimit(bytesPerSecond: 20_000)
        let client = client { if isOfClient { $0.receivingRate = limit } }
        let server = try server()
        var request = Request(.get, server.http())
        if !isOfClient { request.receivingRate = limit }
        let (response, elapsed) = try await run(client, request)
        #expect(response.body == content && elapsed >= .seconds(2))
        #expect(server.requests.count == 1)
    }

    @Test("Bodies that come with their heads are no faster, one after the other and together")
    func small() async throws {
        let server = try FixtureServer.start { _ in .text(String(repeating: "x", count: 1_000)) }
        let client = client { $0.receivingRate = RateLimit(bytesPerSecond: 20_000) }
        let start = time.now
        for _ in 0..<20 { _ = try await run(client, Request(.get, server.http())) }
        #expect(time.now.since(start) >= .seconds(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await run(client, Request(.get, server.http())) } }
            try await group.waitForAll()
        }
        #expect(time.now.since(start) >= .seconds(2))
    }

    @Test("Calls that end before they are paid for cost the next ones nothing")
    func overload() async throws {
        let server = try FixtureServer.start { _ in .text(String(repeating: "x", count: 1_000)) }
        let limit = RateLimit(bytesPerSecond: 1_000)
        let client = client { $0.receivingRate = limit }
        var hasty = Request(.get, server.http())
        hasty.timeouts.total = .milliseconds(1_500)
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { [hasty] in (try? await run(client, hasty)) != nil }
            }
            return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(outcomes >= 1)
        let next = try await run(client, Request(.get, server.http()))
        #expect(next.1 <= .milliseconds(2_500))
        let count = server.requests.count
        let cancelled = Task { try await run(client, Request(.get, server.http())) }
        try await server.waitUntil { $0.flatMap(\.requests).count > count }
        cancelled.cancel()
        _ = await cancelled.result
        let last = try await run(client, Request(.get, server.http()))
        #expect(last.1 <= .milliseconds(2_500))
    }

    @Test("A large body waits for no bytes that came after its own")
    func fair() {
        let limit = RateLimit(bytesPerSecond: 1_000)
        let start = Instant(nanoseconds: 5_000_000_000)
        #expect(limit.count(1_000, at: start).since(start) == .seconds(1))
        #expect(limit.count(500, at: start).since(start) == .milliseconds(1_500))
        let later = start.advanced(byNanoseconds: 9_000_000_000)
        #expect(limit.count(1_000, at: later).since(later) == .seconds(1))
    }

    @Test("A body is sent no faster than the limit, in memory or in pieces", arguments: [true, false])
    func sending(isStream: Bool) async throws {
        let server = try server()
        let client = client()
        let content = content
        let stream = RequestBody.replayable(length: 40_000) {
            AsyncStream<[UInt8]> { continuation in
                continuation.yield(content)
                continuation.finish()
            }
        }
        var request = Request(.post, server.http(), body: isStream ? stream : .bytes(content))
        request.sendingRate = RateLimit(bytesPerSecond: 20_000)
        let (_, elapsed) = try await run(client, request)
        #expect(elapsed >= .milliseconds(1_700))
        #expect(server.requests.last?.body == content)
        // The connection is as good as any other.
        request.sendingRate = nil
        #expect(try await client.fetch(request).isReused)
    }

    @Test("The client's limits hold for a request that has other options, too")
    func otherOptions() async throws {
        let server = try server()
        let client = client {
            $0.receivingRate = RateLimit(bytesPerSecond: 20_000)
            $0.sendingRate = RateLimit(bytesPerSecond: 20_000)
        }
        let (sent, received) = (Heard<UInt64>(), Heard<UInt64>())
        var request = Request(.post, server.http(), body: .bytes(content))
        request.onUpload = { sent.add($0.bytes) }
        request.onDownload = { received.add($0.bytes) }
        let (response, elapsed) = try await run(client, request)
        #expect(response.body == content && elapsed >= .milliseconds(3_000))
        #expect(sent.all.last == 40_000 && received.all.last == 40_000)
    }

    @Test("It holds over TLS, also on the event loop's own thread", arguments: [true, false])
    func secure(isOnLoop: Bool) async throws {
        let content = content
        let server = try FixtureServer.secure("a.test") { _ in .bytes(content) }
        let client = client()
        var request = server.request(server.https("a.test"))
        request.timeouts.tls = .seconds(100_000_000)
        request.receivingRate = RateLimit(bytesPerSecond: 20_000)
        let (response, elapsed) =
            isOnLoop
            ? try await withTaskExecutorPreference(time.loop) { [request] in try await run(client, request) }
            : try await run(client, request)
        #expect(response.body == content && elapsed >= .milliseconds(1_700))
    }

    @Test("Requests with the same limit share it")
    func shared() async throws {
        let server = try server()
        let limit = RateLimit(bytesPerSecond: 40_000)
        let client = client()
        var request = Request(.get, server.http())
        request.receivingRate = limit
        let start = time.now
        _ = try await run(client, request)
        _ = try await run(client, request)
        #expect(time.now.since(start) >= .milliseconds(1_700))
    }

    @Test("The wait is none of the server's if an interceptor hands the body on", arguments: [true, false])
    func handedOn(isOfClient: Bool) async throws {
        let server = try server()
        let limit = RateLimit(bytesPerSecond: 20_000)
        let client = client {
            $0.timeouts.read = .seconds(1)
            if isOfClient { $0.receivingRate = limit }
            $0.networkInterceptors = [
                { [time] request, forward in
                    let response = try await forward(request)
                    // Those of other calls, before the rest of this body.
                    limit.count(60_000, at: time.now)
                    return response.replacing(stream: response.body)
                }
            ]
        }
        var request = Request(.get, server.http())
        if !isOfClient { request.receivingRate = limit }
        let (response, elapsed) = try await run(client, request)
        #expect(response.body == content && elapsed >= .seconds(4))
    }

    @Test("The total time and cancellation end the wait for a limit")
    func limits() async throws {
        let server = try server()
        let client = client()
        var request = Request(.get, server.http())
        request.receivingRate = RateLimit(bytesPerSecond: 20_000)
        request.timeouts.total = .seconds(1)
        let late = request
        let error = try await httpError { try await run(client, late).0 }
        #expect(error.isTimeout)
        request.timeouts.total = nil
        request.receivingRate = RateLimit(bytesPerSecond: 1)
        let task = Task { [request] in try await client.fetch(request) }
        try await server.waitUntil { $0.flatMap(\.requests).count == 2 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A limit is at least a byte a second, and its pieces are small where it is")
    func values() {
        #expect(RateLimit(bytesPerSecond: -5).bytesPerSecond == 1)
        let limit = RateLimit(bytesPerSecond: 1)
        limit.count(.max, at: Instant(nanoseconds: .max - 5))
    }
}
