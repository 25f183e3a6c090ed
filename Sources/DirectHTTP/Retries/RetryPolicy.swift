public import DirectHTTP1
internal import DirectIO
internal import Synchronization

/// Which answers and failures are worth another try, and how long to wait before it.
///
/// Only what may be sent twice is: methods that are idempotent, or those that the caller vouches for, with a
/// body that can be had again. No wait goes past the call's deadline; and a client whose budget is used up
/// stops trying, for retries of all its callers together can be what keeps a server down.
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
    /// Where the number of retries is bounded for all requests together.
    public var budget: RetryBudget? = RetryBudget()

    /// Up to two retries.
    public init() {}

    /// How long to wait before the next attempt; nothing if there is to be none.
    ///
    /// - Parameter random: from 0 up to, and without, 1.
    func wait(
        after attempt: Int,
        _ outcome: Outcome,
        isRepeatable: Bool,
        random: Double
    ) -> Duration? {
        guard attempt < attempts, isRepeatable else { return nil }
        switch outcome {
        case .answer(let status, let asked):
            guard statuses.contains(status) else { return nil }
            if let asked { return asked <= longestDelay ? asked : nil }
        case .failure: guard retriesFailures else { return nil }
        }
        let doublings = min(attempt - 1, 30)
        let ceiling = min(delay * Double(1 << doublings), longestDelay)
        return ceiling * random
    }

    enum Outcome {
        case answer(Status, retryAfter: Duration?)
        case failure
    }
}

/// How many retries a client's requests may make together: each costs one token, each success brings a tenth.
public final class RetryBudget: Sendable {
    private let tenths: Atomic<Int>
    private let capacity: Int

    /// A full budget of so many retries.
    public init(retries: Int = 20) {
        capacity = max(0, min(retries, Int.max / 16)) * 10
        tenths = Atomic(capacity)
    }

    /// Whether there is a token to take.
    func take() -> Bool {
        var known = tenths.load(ordering: .relaxed)
        while known >= 10 {
            let result = tenths.weakCompareExchange(expected: known, desired: known - 10, ordering: .relaxed)
            if result.exchanged { return true }
            known = result.original
        }
        return false
    }

    /// A request has gone well.
    func refill() {
        guard tenths.load(ordering: .relaxed) < capacity else { return }
        tenths.add(1, ordering: .relaxed)
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
