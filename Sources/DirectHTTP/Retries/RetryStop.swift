/// Why a response or a failure that another try might have changed was the last.
@nonexhaustive
public enum RetryStop: String, Hashable, Sendable, CustomStringConvertible {
    /// All tries that `RetryPolicy.attempts` allows were made.
    case attempts
    /// The `RetryBudget` was empty.
    case budget
    /// The wait would have ended after `Timeouts.total`.
    case deadline
    /// The response asks for a longer wait (`Retry-After`) than `RetryPolicy.longestDelay`.
    case retryAfter
    /// The method is not idempotent, or the body can be sent only once.
    case notRepeatable

    public var description: String {
        switch self {
        case .attempts: "all tries of the policy were made"
        case .budget: "the retry budget is empty"
        case .deadline: "the wait would have ended after the call's deadline"
        case .retryAfter: "the server asks for a longer wait than the policy allows"
        case .notRepeatable: "the request may be sent only once"
        }
    }
}
