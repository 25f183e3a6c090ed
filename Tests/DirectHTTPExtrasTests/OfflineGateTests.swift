import DirectCore
import DirectHTTP
@testable import DirectHTTPExtras
import DirectTestCommands
import Testing

@Suite("A program that knows that there is no network", .idleLimit)
struct OfflineGateTests {
    private let clock = ManualClock()

    private func client(_ gate: OfflineGate) -> HTTPClient {
        HTTPClient.untimed {
            $0.interceptors = [gate.interceptor]
            $0.transport = { try .init(to: $0, 200) }
        }
    }

    @Test("Without a wait calls fail at once while there is no network")
    func failing() async throws {
        let gate = OfflineGate()
        let client = client(gate)
        #expect(try await client.get("http://a.test/").status == 200)
        gate.isOnline = false
        await #expect(throws: OfflineError.self) { try await client.get("http://a.test/") }
        gate.isOnline = true
        #expect(try await client.get("http://a.test/").status == 200)
    }

    @Test("With a wait they go on when there is one, fail when there is none in time, and can be cancelled")
    func waiting() async throws {
        let gate = OfflineGate(waiting: .seconds(30), clock: clock)
        let client = client(gate)
        gate.isOnline = false
        let tasks = (0..<3).map { _ in Task { try await client.get("http://a.test/").status } }
        await clock.sleepers(3)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        gate.isOnline = true
        for task in tasks.dropFirst() { #expect(try await task.value == 200) }
        await clock.sleepers(0)
        gate.isOnline = false
        let late = Task { try await client.get("http://a.test/") }
        await clock.sleepers(1)
        clock.advance(by: .seconds(30))
        await #expect(throws: OfflineError.self) { try await late.value }
    }

    @Test(
        "A wait may be as long as a duration can be",
        arguments: [Duration.seconds(Int64.max), .zero, .seconds(-1)]
    )
    func extremes(longest: Duration) async throws {
        let gate = OfflineGate(waiting: longest)
        let client = client(gate)
        gate.isOnline = false
        let task = Task { try await client.get("http://a.test/").status }
        guard longest > .zero else {
            await #expect(throws: OfflineError.self) { try await task.value }
            return
        }
        // The sleep begins some time after this.
        for _ in 0..<1000 { await Task.yield() }
        gate.isOnline = true
        #expect(try await task.value == 200)
    }
}
