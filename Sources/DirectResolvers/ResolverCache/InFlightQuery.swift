internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// A query in flight, and all callers that wait for its answer or for the next part of it.
///
/// The lock of the cache guards all of it.
final class InFlightQuery: @unchecked Sendable {
    typealias Outcome = Result<Resolution, any Error>

    /// A caller that waits, with a deadline and a cancellation of its own.
    final class Waiter: @unchecked Sendable {
        /// The handle that wakes the caller.
        let turn: LoopHandle
        /// Its place in the order of arrival.
        fileprivate var number = 0
        /// The answer, once it has arrived.
        fileprivate(set) var answer: Outcome?

        init(loop: EventLoop) {
            turn = LoopHandle(loop: loop)
        }
    }

    let key: AnswerKey
    /// What is wrong with the answer that the table has.
    let want: CachingResolver.Want
    /// The cache's generation when the query was started.
    let generation: Int
    /// Whether the answer is wanted even without waiters, as that of a refresh is.
    var isWanted: Bool
    /// The latest deadline of those who have joined, and until when they let the question wait on this side.
    let awaited = Locked((deadline: Instant(nanoseconds: 0), latest: Instant(nanoseconds: 0)))
    /// The limit of the query, which stands still while its questions wait on this side.
    var limit: QuestionLimit?
    /// The task that runs the query.
    var task: Task<Void, Never>?
    /// As much of the answer as has come, while there is more to come.
    private(set) var part: Resolution?
    /// The number of parts that have come.
    private(set) var parts = 0
    private(set) var outcome: Outcome?
    private var waiters: [Int: Waiter] = [:]
    private var waiterCount = 0

    init(_ key: AnswerKey, generation: Int, isWanted: Bool, _ want: CachingResolver.Want) {
        self.want = want
        self.key = key
        self.generation = generation
        self.isWanted = isWanted
    }

    /// Adds a waiter.
    func join(_ waiter: Waiter) {
        waiterCount += 1
        waiter.number = waiterCount
        waiters[waiter.number] = waiter
    }

    /// Removes a waiter; returns whether the answer is not wanted any more.
    func leave(_ waiter: Waiter) -> Bool {
        waiters[waiter.number] = nil
        return waiters.isEmpty && !isWanted
    }

    /// Notes as much of the answer as has come. From here on the cache wants all of it. Returns those whom
    /// the caller has to wake, outside the lock: they take the part, and may come back for the next one.
    func publish(_ answer: Resolution) -> [Waiter] {
        (part, parts, isWanted) = (answer, parts + 1, true)
        return Array(waiters.values)
    }

    /// Gives the answer to all waiters and returns them in the order of their arrival. The caller has to wake
    /// them, outside the lock.
    func complete(_ answer: Outcome) -> [Waiter] {
        (part, outcome) = (nil, answer)
        let all = waiters.values.sorted { $0.number < $1.number }
        for waiter in all { waiter.answer = answer }
        waiters = [:]
        return all
    }
}
