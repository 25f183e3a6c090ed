import DirectIO

@testable import DirectHTTP

/// A client whose waits count by a clock that the test moves.
struct HeldClient {
    let clock = HeldClock()
    let loop: EventLoop
    let http: HTTPClient

    init(_ configure: (inout HTTPClient.Settings) -> Void = { _ in }) {
        let loop = EventLoop(clock: clock)
        self.loop = loop
        http = HTTPClient.trusting { settings in
            settings.loop = loop
            configure(&settings)
        }
    }

    /// Moves the clock on and on until the operation has ended: for operations that only a limit of time ends.
    func advancing<Value: Sendable>(
        by step: Duration = .seconds(1),
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let isOver = Locked(false)
        let task = Task {
            defer { isOver.withLock { $0 = true } }
            return try await operation()
        }
        while !isOver.withLock({ $0 }) {
            clock.advance(by: step)
            await Task.yield()
        }
        return try await task.value
    }
}
