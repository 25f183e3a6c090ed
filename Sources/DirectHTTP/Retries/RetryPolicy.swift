public import DirectHTTP1
internal import DirectIO

/// Which answers and failures are worth another try, and how long to wait before it.
///
/// Only what may be sent twice is: methods that are idempotent, or those that the caller vouches for, with a
/// body that can be had again. No wait goes past the call's deadline; and a client whose budget is used up
/// stops trying, for retries of all its callers together can be what keeps a server down. Where a failure that another
/// try might have changed is the last, `retryStop` of the response, the error or the report says why.
///
/// After a 5xx, a cut or a time-out the next try goes to another endpoint of those that the request may be sent to, if
/// there is one.
///
/// This is about answers like "try later". That a kept connection turns out to be dead, and that a server
/// says it was the wrong one (421), is repaired without it.
public struct RetryPolicy: Sendable {
    /// How often a request is sent at most, the first time included.
    public var attempts = 3
    /// The answers after which another try may help.
    public var statuses: Set<Status> = [408, 425, 429, 502, 503, 504]
    /// Whether failures of the network count like such an answer: those that are `HTTPError.isWorthRetrying`.
    public var retriesFailures = true
    /// Whether requests whose method is not idempotent are sent again, too; for those whose server knows
    /// repetitions (by a key of idempotency, say).
    public var repeatsAnyMethod = false
    /// The longest wait before the second try; it doubles with each further one. The wait is drawn at random
    /// between nothing and this, so that clients that failed together do not come back together.
    public var delay: Duration = .milliseconds(200)
    /// No wait is longer, and an answer that asks for a longer one (`Retry-After`) is delivered.
    public var longestDelay: Duration = .seconds(60)
    /// Where the number of retries is bounded for all requests together. Copies of the policy share it; each
    /// `RetryPolicy()` has its own. Unbounded if `nil`.
    public var budget: RetryBudget? = RetryBudget()

    /// Up to two retries.
    public init() {}

    /// What follows so many attempts, as far as the policy alone decides it.
    ///
    /// - Parameter random: from 0 up to, and without, 1.
    func next(after attempt: Int, _ outcome: Outcome, isRepeatable: Bool, random: Double) -> Next {
        guard isMeant(for: outcome) else { return .end(nil) }
        guard isRepeatable else { return .end(.notRepeatable) }
        guard attempt < attempts else { return .end(.attempts) }
        if case .answer(_, let asked?) = outcome {
            return asked <= longestDelay ? .wait(asked) : .end(.retryAfter)
        }
        let doublings = min(attempt - 1, 30)
        let ceiling = min(delay * Double(1 << doublings), longestDelay)
        return .wait(ceiling * random)
    }

    private func isMeant(for outcome: Outcome) -> Bool {
        switch outcome {
        case .answer(let status, _): statuses.contains(status)
        case .failure(let isWorthRetrying): retriesFailures && isWorthRetrying
        }
    }

    enum Outcome {
        case answer(Status, retryAfter: Duration?)
        case failure(isWorthRetrying: Bool)
    }

    enum Next: Equatable {
        case wait(Duration)
        /// `nil` if no other try was called for.
        case end(RetryStop?)
    }
}

/// How long a server asks to be left alone (RFC 9110, section 10.2.3).
enum RetryAfter {
    static func wait(_ headers: Headers, now: UnixTime) -> Duration? {
        guard let text = headers["Retry-After"] else { return nil }
        if let seconds = Int64(text), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { return .seconds(seconds) }
        // Digits that fit no number ask for longer than anybody waits.
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { return .seconds(Int64.max / 2) }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        return .seconds(max(0, date.seconds - now.seconds))
    }
}
