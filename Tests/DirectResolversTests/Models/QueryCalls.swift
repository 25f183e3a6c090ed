@testable import DirectCore
@testable import DirectHTTP
import DirectIO
@testable import DirectResolvers
import DirectTestModels

/// Callers of a resolver cache that ask for one name. The queries are real ones; their places in the cache,
/// and the end of their tasks, are here as in `CachingResolver.join`, `leave` and `complete`, each of which
/// is one section under the cache's lock.
final class QueryCalls: Replayable {
    /// A fault that is put into the cache.
    enum Fault {
        /// A caller that leaves cancels the query, although others wait for it.
        case cancelsForAll
        /// A query that was cancelled stays in the cache, and later callers join it.
        case keepsCancelled
        /// The same, and the cancelled task ends without a word.
        case leavesOthersHanging
        /// A caller that has its answer but has not run yet counts as one that leaves.
        case forgetsAnswer
    }

    enum Action: Hashable {
        case join, cancel, expire, wake
    }

    enum Move: CustomStringConvertible {
        case caller(Int, Action)
        case refresh
        case complete(Int)

        var description: String {
            switch self {
            case .caller(let number, let action): "\(number): \(action)"
            case .refresh: "a refresh is wanted"
            case .complete(let number): "query \(number) ends"
            }
        }
    }

    private enum Phase: Hashable {
        case new, waiting, woken, answered, cancelled, expired
    }

    private struct Caller {
        let waiter = InFlightQuery.Waiter(loop: QueryCalls.loop)
        var phase = Phase.new
        var query = 0
    }

    private struct Running {
        let query: InFlightQuery
        var isCancelled = false
        var hasEnded = false
    }

    private static let loop = EventLoop(isDriven: ())
    private static let key = AnswerKey(host: .test("a.test"), port: 0)

    private let planted: Fault?
    private var callers: [Caller]
    private var queries: [Running] = []
    /// The query in the cache.
    private var current: Int?
    private var hasRefreshed = false
    private(set) var fault: String?

    init(callers: Int, fault: Fault?) {
        self.callers = (0..<callers).map { _ in Caller() }
        planted = fault
    }

    var moves: [Move] {
        let own = callers.indices.flatMap { number in actions(of: number).map { Move.caller(number, $0) } }
        let ends = queries.indices.filter { !queries[$0].hasEnded && canEnd($0) }.map(Move.complete)
        return own + ends + (hasRefreshed ? [] : [.refresh])
    }

    private func actions(of number: Int) -> [Action] {
        switch callers[number].phase {
        case .new: [.join]
        // The last caller has no deadline, and nobody cancels it.
        case .waiting: number == callers.count - 1 ? [] : [.cancel, .expire]
        case .woken: number == callers.count - 1 ? [.wake] : [.wake, .cancel, .expire]
        case .answered, .cancelled, .expired: []
        }
    }

    private func canEnd(_ query: Int) -> Bool {
        !(planted == .leavesOthersHanging && queries[query].isCancelled)
    }

    func make(_ move: Move) {
        switch move {
        case .caller(let number, .join): join(number)
        case .caller(let number, .cancel): stop(number, .cancelled)
        case .caller(let number, .expire): stop(number, .expired)
        case .caller(let number, .wake): takeAnswer(number)
        case .refresh:
            hasRefreshed = true
            join(nil)
        case .complete(let query): complete(query)
        }
        judge()
    }

    private func join(_ number: Int?) {
        let waiter = number.map { callers[$0].waiter }
        let query = current ?? start(isWanted: waiter == nil)
        if let waiter { queries[query].query.join(waiter) } else { queries[query].query.isWanted = true }
        guard let number else { return }
        callers[number].query = query
        callers[number].phase = .waiting
    }

    private func start(isWanted: Bool) -> Int {
        queries.append(
            Running(query: InFlightQuery(Self.key, generation: 0, isWanted: isWanted, CachingResolver.Want()))
        )
        current = queries.count - 1
        return queries.count - 1
    }

    /// A caller whose time is over, or who is cancelled, still takes an answer that is there.
    private func stop(_ number: Int, _ phase: Phase) {
        let caller = callers[number]
        if caller.waiter.answer != nil, planted != .forgetsAnswer { return takeAnswer(number) }
        callers[number].phase = phase
        if phase == .expired { queries[caller.query].query.isWanted = true }
        let isUnwanted = queries[caller.query].query.leave(caller.waiter)
        guard isUnwanted || planted == .cancelsForAll else { return }
        let keeps = planted == .keepsCancelled || planted == .leavesOthersHanging
        if current == caller.query, !keeps { current = nil }
        queries[caller.query].isCancelled = true
    }

    private func complete(_ number: Int) {
        queries[number].hasEnded = true
        if current == number { current = nil }
        let answer: InFlightQuery.Outcome =
            queries[number].isCancelled
            ? .failure(CancellationError()) : .success(Resolution([], source: .system))
        for waiter in queries[number].query.complete(answer) {
            guard let caller = callers.firstIndex(where: { $0.waiter === waiter }) else { continue }
            if callers[caller].phase != .waiting { fault = "a caller that does not wait is woken" }
            callers[caller].phase = .woken
        }
    }

    private func takeAnswer(_ number: Int) {
        callers[number].phase = .answered
        switch callers[number].waiter.answer {
        case .success: break
        case .failure: fault = "a caller ends by the cancellation of another"
        case nil: fault = "a caller is woken without an answer"
        }
    }

    private func judge() {
        for (number, running) in queries.enumerated() where running.isCancelled {
            if callers.contains(where: { $0.phase == .waiting && $0.query == number }), fault == nil,
                planted != .leavesOthersHanging
            {
                fault = "a query is cancelled for which one waits"
            }
        }
        if callers.contains(where: { [.cancelled, .expired].contains($0.phase) && $0.waiter.answer != nil }) {
            fault = "an answer that was there is not taken"
        }
    }

    var isFinished: Bool {
        let areOver = callers.allSatisfy { [.answered, .cancelled, .expired].contains($0.phase) }
        return areOver && queries.indices.allSatisfy { queries[$0].hasEnded || !canEnd($0) }
    }

    struct Key: Hashable {
        fileprivate let callers: [AnyHashable]
        fileprivate let queries: [[Bool]]
        fileprivate let rest: [AnyHashable?]
    }

    var key: Key {
        Key(
            callers: callers.flatMap { [AnyHashable($0.phase), AnyHashable($0.query)] },
            queries: queries.map { [$0.isCancelled, $0.hasEnded, $0.query.isWanted] },
            rest: [current, hasRefreshed, fault]
        )
    }
}
