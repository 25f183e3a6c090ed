package import DirectIO

/// A loop for one test, whose clock the test moves.
///
/// It is to be a property of the suite, which lives as long as the test: with its last reference the loop goes to
/// another test, which moves the clock as it likes. (Loops have threads that never end.)
package final class HeldTime: Sendable {
    package let clock: HeldClock
    package let loop: EventLoop

    private static let free = Locked<[(HeldClock, EventLoop)]>([])

    package init() {
        if let (clock, loop) = Self.free.withLock({ $0.popLast() }) {
            (self.clock, self.loop) = (clock, loop)
            // What the test before has left behind waits for no moment of this one.
            clock.advance(by: .seconds(86_400 * 2))
        } else {
            clock = HeldClock()
            loop = EventLoop(clock: clock)
        }
    }

    deinit {
        Self.free.withLock { $0.append((clock, loop)) }
    }

    package var now: Instant { clock.now }

    /// The moment that lies so far ahead.
    package func moment(after duration: Duration) -> Instant {
        now.advanced(byNanoseconds: duration.clampedNanoseconds)
    }

    /// Lets so much time pass.
    package func advance(by duration: Duration) {
        clock.advance(by: duration)
    }

    /// Returns once something waits that will have waited long enough after so much time.
    package func waitBegins(for duration: Duration) async throws {
        try await clock.waitBegins(until: moment(after: duration))
    }

    /// Waits until something waits for so much time, and lets it pass.
    package func pass(_ duration: Duration) async throws {
        try await waitBegins(for: duration)
        advance(by: duration)
    }

    /// Runs the operation and lets the limit pass as soon as something waits for it: all but a nanosecond first, and
    /// the last one when the wait is still, or again, under way. Says how much time had passed when it ended.
    package func passing<Value: Sendable>(
        _ limit: Duration,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async -> (result: Result<Value, any Error>, elapsed: Duration) {
        let start = now
        let end = moment(after: limit)
        let running = Task { [clock] in
            let result: Result<Value, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            return (result, clock.now.since(start))
        }
        let passing = Task { [clock] in
            try await clock.waitBegins(until: end)
            clock.advance(by: limit - .nanoseconds(1))
            await settle()
            try await clock.waitBegins(until: end)
            clock.advance(by: .nanoseconds(1))
        }
        // An operation that ends by itself leaves no wait to look for.
        defer { passing.cancel() }
        return await withTaskCancellationHandler {
            await running.value
        } onCancel: {
            running.cancel()
        }
    }

    /// Runs the operation and lets the limit pass whenever something begins to wait for it, until the operation ends.
    package func passing<Value: Sendable>(
        repeatedly limit: Duration,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let passing = Task { while true { try await pass(limit) } }
        defer { passing.cancel() }
        return try await operation()
    }

    /// Returns when the loop has ended all waits that are due.
    package func settle() async {
        // Each is due at once. The scan that ends the second one begins when that which ended the first is over.
        for _ in 0..<2 { try? await loop.sleep(until: now) }
    }
}

extension EventLoop {
    /// The loop of all tests in which no time passes: a limit ends nothing there, however busy the machine is.
    package static let still = EventLoop(clock: HeldClock())
}
