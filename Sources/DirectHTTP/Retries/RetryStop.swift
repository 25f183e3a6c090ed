/// The reason that a response or a failure was not retried, although a retry might have changed it, or that a
/// challenge was not answered, although there was an answer.
@nonexhaustive
public enum RetryStop: String, Hashable, Sendable, CustomStringConvertible {
    /// All attempts that ``RetryPolicy/attempts`` allows were made.
    case attempts
    /// The ``RetryBudget`` was empty.
    case budget
    /// The delay would have gone past ``Timeouts/total``.
    case deadline
    /// The response asks for a longer delay (`Retry-After`) than ``RetryPolicy/longestDelay``.
    case retryAfter
    /// The method is not idempotent, or the body can be sent only once.
    case notRepeatable

    /// The reason in words.
    public var description: String {
        switch self {
        case .attempts: "all attempts that the policy allows were made"
        case .budget: "the retry budget is empty"
        case .deadline: "the delay would have gone past the call's deadline"
        case .retryAfter: "the server asks for a longer delay than the policy allows"
        case .notRepeatable: "the request may be sent only once"
        }
    }
}
