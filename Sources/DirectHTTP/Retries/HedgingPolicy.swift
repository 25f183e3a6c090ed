internal import DirectCore
internal import DirectIO

/// When a slow request is sent to a second address as well.
///
/// Servers behind one name are not equally fast at every moment. If the response is late, the request is sent
/// once more, to another address of the same name, and the first response counts. The other request is
/// cancelled, and its connection is closed.
///
/// Only requests with idempotent methods are sent twice, and only if their body can be sent again: the server
/// may act on both. A request that a network interceptor makes another one of is judged by that, too. A hedge
/// needs an address other than the first one's and a connection at once, within the client's limits; it never
/// waits in the queue. A response with `Retry-After` ends hedging for its origin until that time.
public struct HedgingPolicy: Sendable {
    /// The time to wait for the head of a response, from sending the request.
    public enum Delay: Hashable, Sendable {
        /// This long.
        case fixed(Duration)
        /// As long as this share of the origin's latest responses took, such as 0.95. Until 20 responses of
        /// the origin are known, none of its requests is sent twice.
        case quantile(Double)
    }

    /// Whether any request is sent twice.
    var isHedging = true
    /// The time to wait before the second address is asked.
    public var delay = Delay.quantile(0.95)
    /// The shortest time to wait, whatever the quantile is.
    public var shortestDelay: Duration = .milliseconds(10)
    /// Limits the hedges of all requests together, if no retry policy with a budget applies to the request:
    /// each takes a token of that budget, or of this one. Copies of the policy share it. `nil` means no
    /// limit.
    public var budget: RetryBudget? = RetryBudget()

    /// Makes a policy that sends a request to a second address if its response is slower than 95 % of the
    /// origin's.
    public init() {}

    /// Sends no request twice: for a request of a client that does otherwise.
    public static let off: HedgingPolicy = {
        var policy = HedgingPolicy()
        policy.isHedging = false
        return policy
    }()

    /// Makes a policy that sends a request to a second address after this time.
    public init(after delay: Duration) {
        self.delay = .fixed(delay)
    }

    /// Whether both say the same. Policies with budgets of their own do not.
    func isSame(as other: HedgingPolicy) -> Bool {
        isHedging == other.isHedging && delay == other.delay
            && shortestDelay == other.shortestDelay && budget === other.budget
    }
}

/// What is known about the origins of one client: how fast they answer, and whether hedges are of use.
final class HedgeTable: Sendable {
    private struct Times {
        /// The latest response times in nanoseconds, the oldest replaced first.
        var samples: [UInt64] = []
        var next = 0
        /// Until when no request to the origin is sent twice.
        var pauseEnd = Instant(nanoseconds: 0)
    }

    private struct State {
        var origins: [Origin: Times] = [:]
    }

    private let state = Locked(State())

    private static let sampleLimit = 100
    private static let fewestSamples = 20
    private static let originLimit = 1_000

    /// Records the time that a response of the origin took.
    func note(_ time: Duration, of origin: Origin) {
        change(origin) { times in
            if times.samples.count < Self.sampleLimit {
                times.samples.append(time.clampedNanoseconds)
            } else {
                times.samples[times.next] = time.clampedNanoseconds
                times.next = (times.next + 1) % Self.sampleLimit
            }
        }
    }

    /// Ends hedging for the origin until this time.
    func pause(_ origin: Origin, until end: Instant) {
        change(origin) { $0.pauseEnd = max($0.pauseEnd, end) }
    }

    /// Returns the time to wait for a response before the request is sent twice; `nil` if it is not to be.
    func delay(of policy: HedgingPolicy, for origin: Origin, at now: Instant) -> UInt64? {
        let times = state.withLock { $0.origins[origin] }
        if let times, now < times.pauseEnd { return nil }
        switch policy.delay {
        case .fixed(let delay): return delay.clampedNanoseconds
        case .quantile(let share):
            guard let samples = times?.samples, samples.count >= Self.fewestSamples else { return nil }
            // The smallest time that is not exceeded by this share of the samples.
            let rank = ((share < 1 ? max(share, 0) : 1) * Double(samples.count)).rounded(.up)
            let time = samples.sorted()[max(0, Int(rank) - 1)]
            return max(time, policy.shortestDelay.clampedNanoseconds)
        }
    }

    private func change(_ origin: Origin, by change: (inout Times) -> Void) {
        state.withLock { state in
            // Which of so many origins is forgotten costs no more than its next responses.
            if state.origins[origin] == nil, state.origins.count >= Self.originLimit,
                let any = state.origins.keys.first
            {
                state.origins[any] = nil
            }
            change(&state.origins[origin, default: Times()])
        }
    }
}
