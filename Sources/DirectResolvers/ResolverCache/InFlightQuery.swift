internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// A query in flight, and all callers that wait for its answer.
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
    /// What was wrong with the table's answer when the query was started.
    let want: CachingResolver.Want
    /// The cache's generation when the query was started.
    let generation: Int
    /// Whether the answer is wanted even without waiters, as that of a refresh is.
    var isWanted: Bool
    /// The task that runs the query.
    var task: Task<Void, Never>?
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

    /// Gives the answer to all waiters and returns them in the order of their arrival. The caller has to wake
    /// them, outside the lock.
    func complete(_ answer: Outcome) -> [Waiter] {
        let all = waiters.values.sorted { $0.number < $1.number }
        for waiter in all { waiter.answer = answer }
        waiters = [:]
        return all
    }
}
