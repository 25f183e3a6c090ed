package import DirectCore
package import DirectIO

/// An event loop for one test, with a clock that the test advances.
///
/// Make it a property of the suite, which lives as long as the test: when the last reference is released, the
/// loop is given to another test, which advances the clock as it needs. Loops are reused because their
/// threads never end.
package final class HeldTime: Sendable {
    /// The clock of the loop.
    package let clock: HeldClock
    /// The loop.
    package let loop: EventLoop

    private static let free = Locked<[(HeldClock, EventLoop)]>([])

    /// Takes a free loop, or starts one.
    package init() {
        if let (clock, loop) = Self.free.withLock({ $0.popLast() }) {
            (self.clock, self.loop) = (clock, loop)
            // Ends waits left over from the previous test, so that none of them ends during this one.
            clock.advance(by: .seconds(86_400 * 2))
        } else {
            clock = HeldClock()
            loop = EventLoop(clock: clock)
        }
    }

    deinit {
        Self.free.withLock { $0.append((clock, loop)) }
    }

    /// The time of the clock.
    package var now: Instant { clock.now }

    /// Returns the instant this long from now.
    package func moment(after duration: Duration) -> Instant {
        now.advanced(byNanoseconds: duration.clampedNanoseconds)
    }

    /// Advances the clock by this duration.
    package func advance(by duration: Duration) {
        clock.advance(by: duration)
    }

    /// Waits until a wait has begun that ends exactly this long from now, or so many of them.
    package func waitBegins(for duration: Duration, count: Int = 1) async throws {
        try await clock.waitBegins(until: moment(after: duration), count: count)
    }

    /// Waits until a wait for this duration has begun, and advances the clock by it.
    package func pass(_ duration: Duration) async throws {
        try await waitBegins(for: duration)
        advance(by: duration)
    }

    /// Runs an operation and advances the clock by the limit as soon as a wait for it has begun: first by all
    /// but a nanosecond, and by the last one when the wait is still, or again, in progress.
    ///
    /// - Returns: The operation's result, and the time on the clock that had passed at its end.
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
        // If the operation ends by itself, no wait for the limit will begin.
        defer { passing.cancel() }
        return await withTaskCancellationHandler {
            await running.value
        } onCancel: {
            running.cancel()
        }
    }

    /// Runs an operation and advances the clock by the limit whenever a wait for it begins, until the
    /// operation ends.
    package func passing<Value: Sendable>(
        repeatedly limit: Duration,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let passing = Task { while true { try await pass(limit) } }
        defer { passing.cancel() }
        return try await operation()
    }

    /// The same as the function of this name, for faults that need turns of the loop.
    package func letFaultsShow() async {
        for _ in 0..<20 { await settle() }
    }

    /// Waits until the loop has ended all waits that are due. Only tasks on the loop have gone on by then.
    package func settle() async {
        // Both sleeps are due immediately. The scan that ends the second begins after the one that ended the
        // first.
        for _ in 0..<2 { try? await loop.sleep(until: now) }
    }
}

/// Gives what must not happen the chance to happen, before a test that it has not.
///
/// This is no barrier: the thread of another task may be off the processor all the while, and then a fault
/// does not show in this run. What has to have happened before a test goes on is waited for itself: a wait on
/// the clock, an arrival at a gate, a question that a peer has seen.
package func letFaultsShow() async {
    for _ in 0..<100 { await Task.yield() }
}

extension EventLoop {
    /// The loop of all tests without time: its clock stands still, so no limit ends a wait, however busy the
    /// machine is.
    package static let still = EventLoop(clock: HeldClock())
}
