internal import DirectIO

/// How many retries the requests of a client may make together.
///
/// Each retry costs one token. Tokens come back with time, and a tenth of one with each response that needs no retry, up
/// to the size of the budget. By default there are 200, and 10 come back in a second: a burst of requests that a server
/// refuses for a moment may all be tried again, and a server that stays down gets 10 retries a second. Where the budget is
/// empty the response or the error is delivered as it came, and its `retryStop` is `.budget`.
public final class RetryBudget: Sendable {
    private let state: Locked<TokenBucket>

    /// A full budget of so many retries.
    ///
    /// - Parameter perSecond: how many come back in a second. With 0 only successes bring any back.
    public init(retries: Int = 200, perSecond: Int = 10) {
        state = Locked(TokenBucket(capacity: retries, perSecond: perSecond))
    }

    /// Whether there is a token to take.
    func take(at now: Instant) -> Bool {
        state.withLock { $0.take(at: now) }
    }

    /// A request has gone well.
    func refill() {
        state.withLock { $0.refill() }
    }
}

/// Tokens that come back with time.
private struct TokenBucket {
    /// In billionths of a token: so many come back in a nanosecond as tokens do in a second.
    private var level: UInt64
    private let capacity: UInt64
    private let perNanosecond: UInt64
    /// Up to when the time has been counted; `nil` before the first token is taken.
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

    mutating func refill() {
        add(Self.token / 10)
    }

    private mutating func count(to now: Instant) {
        guard let last = counted else { return counted = now }
        // Clients on other loops may share the budget and come with an earlier moment.
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
