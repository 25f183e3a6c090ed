public import DirectHTTP
internal import Synchronization

/// Limits the requests a second of a client, all together or to each origin (a token bucket).
///
/// ```swift
/// let client = HTTPClient { $0.networkInterceptors.append(RequestRate(10, burst: 20).interceptor) }
/// ```
///
/// Each request on the network takes a token, so redirects, retries and hedges count, and answers of a cache
/// do not. A request without a token waits for its turn, in the order of arrival, within `Timeouts.total`:
/// a call whose turn is later ends with `Reason.timedOut(after:)`. One that is cancelled gives
/// its place up if no other has come after it.
public final class RequestRate: Sendable {
    /// Nanoseconds from token to token.
    private let interval: Double
    private let burst: Double
    private let isPerOrigin: Bool
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Double
    /// When the last token that was given away falls due, by origin; one entry for all if that is not asked
    /// for.
    private let taken = Mutex<[Origin?: Double]>([:])

    /// Makes a limit. Clients that have the same one share its tokens.
    ///
    /// - Parameters:
    ///   - perSecond: The requests a second.
    ///   - burst: The requests that may be made at once after a pause.
    ///   - perOrigin: Whether each origin has tokens of its own.
    public convenience init(_ perSecond: Double, burst: Int = 1, perOrigin: Bool = false) {
        self.init(perSecond, burst: burst, perOrigin: perOrigin, clock: ContinuousClock())
    }

    package init<Time: Clock>(
        _ perSecond: Double,
        burst: Int,
        perOrigin: Bool,
        clock: Time
    ) where Time.Duration == Duration {
        interval = 1e9 / min(max(perSecond, 1e-9), 1e9)
        self.burst = Double(max(1, burst))
        isPerOrigin = perOrigin
        self.clock = clock
        let start = clock.now
        now = { start.duration(to: clock.now) / .nanoseconds(1) }
    }

    /// The network interceptor that waits.
    public var interceptor: Interceptor {
        { [self] request, forward in
            try await wait(for: isPerOrigin ? request.url.origin : nil)
            return try await forward(request)
        }
    }

    private func wait(for origin: Origin?) async throws {
        let (due, time) = take(for: origin)
        guard due > time else { return }
        do {
            try await clock.sleep(for: .nanoseconds(Int64(min(due - time, 9e18))))
        } catch {
            taken.withLock { if $0[origin] == due { $0[origin] = due - interval } }
            throw error
        }
    }

    /// Takes the next token. Returns when it falls due, and the time.
    private func take(for origin: Origin?) -> (due: Double, time: Double) {
        taken.withLock { taken in
            let time = now()
            // What has been saved is the burst at most, which is also what a new origin has.
            let full = time - (burst - 1) * interval
            if taken.count >= Self.most { taken = taken.filter { $0.value > time - burst * interval } }
            let due = max(taken[origin].map { $0 + interval } ?? full, full)
            taken[origin] = due
            return (due, time)
        }
    }

    /// The number of origins from which those with all of their tokens are forgotten.
    private static let most = 1000
}
