internal import DirectCore
internal import DirectIO

/// Limits the number of retries of all requests that share it.
///
/// Each retry takes one token. Tokens come back with time, and a tenth of a token with each response that
/// needs no retry, up to the size of the budget. By default there are 200 tokens, and 10 come back in a
/// second: a burst of requests that a server refuses for a moment can be retried as a whole, and a server
/// that stays down gets 10 retries a second. If the budget is empty, the response or the error is delivered
/// as it came, with ``RetryStop/budget`` as its `retryStop`.
public final class RetryBudget: Sendable {
    private let state: Locked<TokenBucket>

    /// Makes a full budget.
    ///
    /// - Parameter retries: the highest number of tokens.
    /// - Parameter perSecond: the number of tokens that come back in a second. With 0 only successful
    ///   requests bring tokens back.
    public init(retries: Int = 200, perSecond: Int = 10) {
        state = Locked(TokenBucket(capacity: retries, perSecond: perSecond))
    }

    /// Takes a token. Returns false if there is none.
    func take(at now: Instant) -> Bool {
        state.withLock { $0.take(at: now) }
    }

    /// Brings back a tenth of a token, for a request that succeeded.
    func refill() {
        state.withLock { $0.refill() }
    }
}

/// Tokens that come back with time.
private struct TokenBucket {
    /// In billionths of a token: in a nanosecond as many come back as tokens do in a second.
    private var level: UInt64
    private let capacity: UInt64
    private let perNanosecond: UInt64
    /// The time up to which tokens have been added; `nil` before the first one is taken.
    private var counted: Instant?

    private static let token: UInt64 = 1_000_000_000
    private static let mostTokens = 1_000_000_000

    init(capacity: Int, perSecond: Int) {
        self.capacity = UInt64(min(max(0, capacity), Self.mostTokens)) * Self.token
        perNanosecond = UInt64(max(0, perSecond))
        level = self.capacity
    }

    mutating func take(at now: Instant) -> Bool {
        count(to: now)
        guard level >= Self.token else { return false }
        level -= Self.token
        return true
    }

    /// Adds a tenth of a token.
    mutating func refill() {
        add(Self.token / 10)
    }

    /// Adds the tokens that have come back since the last time.
    private mutating func count(to now: Instant) {
        guard let last = counted else { return counted = now }
        // Clients on other event loops may share the budget and come with an earlier time.
        guard now > last else { return }
        counted = now
        let time = now.nanoseconds - last.nanoseconds
        let (news, overflows) = time.multipliedReportingOverflow(by: perNanosecond)
        add(overflows ? capacity : news)
    }

    private mutating func add(_ news: UInt64) {
        level = news < capacity - level ? level + news : capacity
    }
}
