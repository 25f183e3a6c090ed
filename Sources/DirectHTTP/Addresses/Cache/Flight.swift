internal import DirectIO

/// One question on its way, and everybody who waits for its answer.
///
/// All of it is guarded by the lock of the cache that it belongs to.
final class Flight: @unchecked Sendable {
    typealias Answer = Result<Resolution, any Error>

    /// Somebody who waits, with a deadline and a cancellation of his own.
    final class Waiter: @unchecked Sendable {
        let turn: LoopHandle
        fileprivate(set) var answer: Answer?

        init(loop: EventLoop) {
            turn = LoopHandle(loop: loop)
        }
    }

    let key: AnswerKey
    /// How often the cache had been emptied when the question was put.
    let generation: Int
    /// Whether the answer is wanted even if nobody waits for it.
    var isWanted: Bool
    var task: Task<Void, Never>?
    private var waiters: [ObjectIdentifier: Waiter] = [:]

    init(_ key: AnswerKey, generation: Int, isWanted: Bool) {
        self.key = key
        self.generation = generation
        self.isWanted = isWanted
    }

    func join(_ waiter: Waiter) {
        waiters[ObjectIdentifier(waiter)] = waiter
    }

    /// Whether nobody wants the answer any longer.
    func leave(_ waiter: Waiter) -> Bool {
        waiters[ObjectIdentifier(waiter)] = nil
        return waiters.isEmpty && !isWanted
    }

    /// Hands the answer out; the waiters are to be woken outside the lock.
    func land(_ answer: Answer) -> [Waiter] {
        let all = Array(waiters.values)
        for waiter in all { waiter.answer = answer }
        waiters = [:]
        return all
    }
}
