import DirectCore
import DirectHTTP
import DirectIO
import DirectTestCommands
import Dispatch
import TLSFixtures
import Testing

@Suite("The queue for connections", .idleLimit)
struct QueueTests {
    @Test("A request that is cancelled at any moment of its wait keeps neither a connection nor a place")
    func cancelledAtAnyMoment() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = HTTPClient { $0.maximumConnectionsPerOrigin = 1 }
        let url = server.http()
        for _ in 0..<60 {
            await withDiscardingTaskGroup { group in
                for _ in 0..<8 { group.addTask { _ = try? await client.get(url) } }
                for delay in 0..<8 {
                    group.addTask {
                        let task = Task { _ = try await client.get(url) }
                        for _ in 0..<delay * 4 { await Task.yield() }
                        task.cancel()
                        _ = await task.result
                    }
                }
            }
            for origin in client.connections {
                #expect(origin.waiting == 0 && origin.dialling == 0, "\(origin)")
                #expect(
                    origin.connections.count == 1 && origin.connections.allSatisfy { !$0.isBusy },
                    "\(origin)"
                )
            }
        }
        #expect(try await client.get(url).text == "hello")
    }

    @Test("A request that is cancelled before its turn is not sent, and its connection serves the next one")
    func cancelledBeforeItsTurn() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            if request.target == "/1" { try request.wait(for: mayAnswer) }
            return .text("hello")
        }
        let client = HTTPClient { $0.maximumConnectionsPerOrigin = 1 }
        async let first = client.get(server.http("/1"))
        try await server.waitUntil { $0.first?.requests.count == 1 }
        let slow = HeldExecutor()
        let second = Task(executorPreference: slow.loop) { try await client.get(server.http("/2")) }
        try await waitUntil { client.connections.first?.waiting == 1 }
        await slow.hold()
        second.cancel()
        mayAnswer.open()
        // It has given its connection on when it is answered.
        #expect(try await first.text == "hello")
        slow.letGo()
        await #expect(throws: CancellationError.self) { _ = try await second.value }
        #expect(try await client.get(server.http("/3")).isReused)
        #expect(server.requests.map(\.target) == ["/1", "/3"])
    }

    @Test("The queue limit begins anew whenever the queue moves")
    func movingLine() async throws {
        let mayAnswer = (0..<4).map { _ in Gate() }
        let server = try FixtureServer.start { request in
            try request.wait(for: mayAnswer[Int(request.target.dropFirst()) ?? 0])
            return .text("hello")
        }
        let clock = HeldClock()
        let client = HTTPClient {
            $0.loop = EventLoop(clock: clock)
            $0.maximumConnectionsPerOrigin = 1
            $0.timeouts = Timeouts(queue: .seconds(10), response: nil)
        }
        var calls: [Task<String?, any Error>] = []
        for number in 0..<4 {
            calls.append(Task { try await client.get(server.http("/\(number)")).text })
            if number == 0 { try await server.waitUntil { $0.first?.requests.count == 1 } }
            try await waitUntil { client.connections.first?.waiting == number }
        }
        for number in 0..<2 {
            clock.advance(by: .seconds(6))
            mayAnswer[number].open()
            #expect(try await calls[number].value == "hello")
            try await server.waitUntil { $0.first?.requests.count == number + 2 }
        }
        // Now it stands still.
        while client.connections.first?.waiting == 1 {
            clock.advance(by: .seconds(11))
            await Task.yield()
        }
        let error = try await httpError { try await calls[3].value }
        #expect(error.phase == .queue && error.isTimeout)
        mayAnswer[2].open()
        #expect(try await calls[2].value == "hello")
    }
}

/// An executor that runs nothing while it is held.
private final class HeldExecutor: Sendable {
    let loop = EventLoop()
    private let isOver = DispatchSemaphore(value: 0)

    /// Returns when its thread does nothing else any more.
    func hold() async {
        await withCheckedContinuation { continuation in
            Task(executorPreference: loop) {
                continuation.resume()
                self.waitBlocking()
            }
        }
    }

    func letGo() { isOver.signal() }

    private func waitBlocking() { isOver.wait() }
}
