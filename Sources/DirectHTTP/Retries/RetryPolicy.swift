internal import DirectCore
public import DirectHTTP1
internal import DirectIO

/// Which responses and failures are retried, and after what delay.
///
/// Only a request that may be sent twice is retried: its method is idempotent, or the caller allows any
/// method, and its body can be sent again. That must be true of the request that the caller makes, and of
/// what the network interceptors send in its place. No delay goes past the call's deadline. A client whose
/// budget is empty stops retrying, because the retries of all its callers together can keep a server down. If
/// a result that a retry might have changed is the last one, `retryStop` of the response, the error or the
/// report says why.
///
/// After a 5xx, a broken connection or a timeout the next attempt goes to another endpoint of those that the
/// request may be sent to, if there is one.
///
/// Two cases need no policy: an idle connection that turns out to be dead is replaced, and a request that the
/// server refused with 421 is sent again.
public struct RetryPolicy: Sendable {
    /// The highest number of attempts, the first one included.
    public var attempts = 3
    /// The statuses that are retried.
    public var statuses: Set<HTTPStatus> = [408, 425, 429, 502, 503, 504]
    /// Whether failures are retried for which ``HTTPError/isWorthRetrying`` is true.
    public var retriesFailures = true
    /// Whether requests with methods that are not idempotent are retried, too; for servers that recognise
    /// repetitions, by an idempotency key for example.
    public var repeatsAnyMethod = false
    /// The longest delay before the second attempt; it doubles with each further one. The delay is random
    /// between zero and this, so that clients that failed together do not come back together.
    public var delay: Duration = .milliseconds(200)
    /// The longest delay of all. A response that asks for a longer one (`Retry-After`) is delivered.
    public var longestDelay: Duration = .seconds(60)
    /// Limits the retries of all requests together. Copies of the policy share it; each `RetryPolicy()` has
    /// its own. `nil` means no limit.
    public var budget: RetryBudget? = RetryBudget()

    /// Makes a policy with up to two retries.
    public init() {}

    /// Whether both say the same. Policies with budgets of their own do not.
    func isSame(as other: RetryPolicy) -> Bool {
        attempts == other.attempts && statuses == other.statuses
            && retriesFailures == other.retriesFailures && repeatsAnyMethod == other.repeatsAnyMethod
            && delay == other.delay && longestDelay == other.longestDelay && budget === other.budget
    }

    /// Returns the step after an attempt, as far as the policy alone decides it.
    ///
    /// - Parameter random: at least 0 and less than 1.
    func next(after attempt: Int, _ outcome: Outcome, isRepeatable: Bool, random: Double) -> Next {
        guard isMeant(for: outcome) else { return .end(nil) }
        guard isRepeatable else { return .end(.notRepeatable) }
        guard attempt < attempts else { return .end(.attempts) }
        if case .answer(_, let asked?) = outcome {
            return asked <= longestDelay ? .wait(asked) : .end(.retryAfter)
        }
        let doublings = min(attempt - 1, 30)
        let ceiling = min(min(delay, longestDelay) * Double(1 << doublings), longestDelay)
        return .wait(ceiling * random)
    }

    /// Whether the policy retries such a result.
    private func isMeant(for outcome: Outcome) -> Bool {
        switch outcome {
        case .answer(let status, _): statuses.contains(status)
        case .failure(let isWorthRetrying): retriesFailures && isWorthRetrying
        }
    }

    /// The result of an attempt.
    enum Outcome {
        case answer(HTTPStatus, retryAfter: Duration?)
        case failure(isWorthRetrying: Bool)
    }

    /// The step after an attempt.
    enum Next: Equatable {
        case wait(Duration)
        /// The result is final; `nil` if no retry was called for.
        case end(RetryStop?)
    }
}

/// The delay that a server asks for (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Returns the delay; `nil` if there is none or it is invalid.
    static func wait(_ headers: HTTPHeaders, now: UnixTime) -> Duration? {
        guard let text = headers["Retry-After"] else { return nil }
        if let seconds = Int64(text), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { return .seconds(seconds) }
        // Digits that overflow ask for a longer delay than any policy allows.
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { return .seconds(Int64.max / 2) }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        return .seconds(max(0, date.seconds - now.seconds))
    }
}
