import DirectTestModels

/// A `WaitPoint` and four threads: a task that waits twice, an event, the loop that looks at deadlines, and a
/// cancellation.
///
/// Each step is an access of the source, or what stands between two of them. The runtime's status of a task
/// is a place as well; it is less kind here than it is: a handler that has begun may still run when the wait
/// is over.
struct WaitPointModel: WeakModel {
    /// A fault that is put into the model.
    enum Fault {
        /// The continuation is stored whatever was there.
        case parkStores
        /// A stop ends the wait that is in progress, not the one that it was meant for.
        case stopWithoutNumber
        /// A stop does not look whether the event has come.
        case noReadyCheck
    }

    /// What happens, and with which orders.
    final class Plan: Sendable {
        /// The deadlines of the two waits: one that has passed, or none.
        let deadlines: [Int]
        /// The signals. The last one announces input, those before it nothing.
        let signals: Int
        let hasCancellation: Bool
        let fault: Fault?
        let orders: [String: MemoryOrder]

        init(
            deadlines: [Int],
            signals: Int = 1,
            cancellation: Bool = false,
            fault: Fault? = nil,
            orders: [String: MemoryOrder] = [:]
        ) {
            self.deadlines = deadlines
            self.signals = signals
            hasCancellation = cancellation
            self.fault = fault
            self.orders = WaitPointModel.accesses.orders(but: orders)
        }
    }

    /// The accesses of WaitPoint.swift.
    static let accesses: [AtomicAccess] = [
        .init("isReady word.load", .acquiring),
        .init("clear word.compareExchange", .sequentiallyConsistent),
        .init("signal word.exchange", .sequentiallyConsistent),
        .init("wait deadline.store", .relaxed),
        .init("wait stop.load", .acquiring),
        .init("pendingDeadline stop.load", .acquiring),
        .init("pendingDeadline deadline.load", .sequentiallyConsistent),
        .init("expire stop.load", .acquiring),
        .init("expire deadline.load", .sequentiallyConsistent),
        .init("begin stop.load", .relaxed),
        .init("begin deadline.store", .relaxed),
        .init("begin stop.store", .releasing),
        .init("begin deadline.store 2", .sequentiallyConsistent),
        .init("end word.load", .sequentiallyConsistent),
        .init("end stop.compareExchange", .sequentiallyConsistent),
        .init("park word.compareExchange", .sequentiallyConsistent),
    ]

    /// The place in the code where a thread is.
    enum Line {
        case isReady, number, reset, stop, deadline, handler, context, park, parked, over, rest, reason,
            returned
        case clear, take
        case endWord, endStop, signal, resume
        case expireStop, expireDeadline
        case arrive, cancel, done
    }

    struct Thread: Hashable {
        var line: Line
        /// The number of the wait that it is about, or ends.
        var number = 0
        /// The wait whose continuation it resumes.
        var continuation = 0
        /// Whether the event had happened when it looked.
        var sawReady = false
    }

    struct State: Hashable {
        var memory: WeakMemory
        var threads: [Thread]
        /// Which of the two waits it is.
        var wait = 0
        var wake = 0
        var resumed: Set<Int> = []
        var fault: String?
    }

    static let (idle, ready, firstContinuation) = (0, 1, 2)
    static let (expired, cancelled) = (1, 2)
    static let never = 9
    static let (word, stop, deadline, context, resumption, input, status) = (0, 1, 2, 3, 4, 5, 6)
    static let (waiter, event, scanner, canceller) = (0, 1, 2, 3)

    let plan: Plan
    var state: State

    init(_ plan: Plan) {
        self.plan = plan
        let values = [Self.idle, 0, Self.never, 0]
        state = State(
            memory: WeakMemory(values, strong: [0, 0, 0], threads: 4),
            threads: [
                Thread(line: .isReady), Thread(line: plan.signals > 0 ? .arrive : .done),
                Thread(line: plan.deadlines.contains { $0 != Self.never } ? .expireStop : .done),
                Thread(line: plan.hasCancellation ? .cancel : .done),
            ]
        )
        for thread in state.threads.indices where state.threads[thread].line == .done {
            memory.retire(thread)
        }
    }

    var memory: WeakMemory {
        get { state.memory }
        set { state.memory = newValue }
    }
    var orders: [String: MemoryOrder] { plan.orders }
    var key: State { state }
    var fault: String? { state.fault }
    var isFinished: Bool { state.threads[Self.waiter].line == .done }

    var steps: Steps {
        isFinished ? [] : state.threads.indices.flatMap { steps(of: $0) }
    }

    private func steps(of thread: Int) -> Steps {
        switch state.threads[thread].line {
        case .isReady, .number, .reset, .stop, .deadline, .handler: beginSteps()
        case .context, .park, .parked, .over, .rest, .reason, .returned, .clear, .take: waitSteps()
        case .endWord, .endStop, .signal, .resume: endSteps(of: thread)
        case .expireStop, .expireDeadline: expireSteps()
        case .arrive, .cancel: causeSteps(of: thread)
        case .done: []
        }
    }

    mutating func go(_ thread: Int, to line: Line) {
        state.threads[thread].line = line
        if line == .done { memory.retire(thread) }
    }
}

/// The waiting task.
extension WaitPointModel {
    /// From the start of `wait(until:on:)` to its handler for cancellation, with `begin(until:on:)`.
    private func beginSteps() -> Steps {
        let me = Self.waiter
        let number = state.threads[me].number
        let due = plan.deadlines[state.wait]
        switch state.threads[me].line {
        case .isReady:
            return load(Self.word, "isReady word.load", by: me) { next, value in
                next.state.wake = 0
                next.go(me, to: value == Self.ready ? .returned : .number)
            }
        case .number:
            return load(Self.stop, "begin stop.load", by: me) { next, value in
                next.state.threads[me].number = value / 4 + 1
                next.go(me, to: .reset)
            }
        case .reset:
            return store(Self.deadline, Self.never, "begin deadline.store", by: me) { $0.go(me, to: .stop) }
        case .stop:
            return store(Self.stop, number * 4, "begin stop.store", by: me) { next in
                next.go(me, to: due == Self.never ? .handler : .deadline)
            }
        case .deadline:
            return store(Self.deadline, due, "begin deadline.store 2", by: me) { $0.go(me, to: .handler) }
        default:
            return exchange(Self.status, "handler", by: me, { number * 2 + $0 % 2 }) { next, old in
                next.go(me, to: old % 2 == 1 ? .endWord : .context)
            }
        }
    }

    /// From the continuation to the end of the wait, and what the caller does then.
    private func waitSteps() -> Steps {
        let me = Self.waiter
        let number = state.threads[me].number
        switch state.threads[me].line {
        case .context:
            return store(Self.context, number, "the task's context", by: me) { $0.go(me, to: .park) }
        case .park:
            return exchange(Self.word, "park word.compareExchange", by: me) { old in
                old == Self.idle || plan.fault == .parkStores ? number + Self.firstContinuation : nil
            } then: { next, old in
                let isParked = old == Self.idle || plan.fault == .parkStores
                next.go(me, to: isParked ? .parked : .over)
            }
        case .parked:
            return load(Self.resumption, "the executor's queue", by: me) { next, value in
                if value == number { next.go(me, to: .over) }
            }
        case .over:
            return exchange(Self.status, "no handler", by: me, { $0 % 2 }) { next, _ in next.go(me, to: .rest)
            }
        case .rest:
            return store(Self.deadline, Self.never, "wait deadline.store", by: me) { $0.go(me, to: .reason) }
        case .reason:
            return load(Self.stop, "wait stop.load", by: me) { next, value in
                next.state.wake = value % 4
                next.go(me, to: .returned)
            }
        default: return callerSteps()
        }
    }

    /// The caller clears the point before its system call, and waits again if that would block.
    private func callerSteps() -> Steps {
        let me = Self.waiter
        switch state.threads[me].line {
        case .returned: return step("0: returns \(state.wake)") { $0.judgeWake() }
        case .clear:
            return exchange(Self.word, "clear word.compareExchange", by: me) { old in
                old == Self.ready ? Self.idle : nil
            } then: { next, _ in
                next.go(me, to: .take)
            }
        default:
            return exchange(Self.input, "read", by: me, { _ in 0 }) { next, value in
                next.state.wait += 1
                let isOver = value == 1 || next.state.wait == next.plan.deadlines.count
                next.go(me, to: isOver ? .done : .isReady)
            }
        }
    }

    private mutating func judgeWake() {
        if state.wake == Self.expired, plan.deadlines[state.wait] == Self.never {
            state.fault = "a wait without a deadline has expired"
        }
        if state.wake == Self.cancelled, memory.latest(Self.status) % 2 == 0 {
            state.fault = "a wait was cancelled by nobody"
        }
        go(Self.waiter, to: state.wake == 0 ? .clear : .done)
    }
}

/// What ends a wait.
extension WaitPointModel {
    /// `end(_:reason:)` and `signal()`.
    private func endSteps(of thread: Int) -> Steps {
        let own = state.threads[thread]
        switch own.line {
        case .endWord:
            return load(Self.word, "end word.load", by: thread) { next, value in
                next.state.threads[thread].sawReady = value == Self.ready
                let goesOn = value != Self.ready || next.plan.fault == .noReadyCheck
                next.go(thread, to: goesOn ? .endStop : next.line(after: thread))
            }
        case .endStop: return stopSteps(of: thread)
        case .signal:
            return exchange(Self.word, "signal word.exchange", by: thread, { _ in Self.ready }) { next, old in
                next.state.threads[thread].continuation = old - Self.firstContinuation
                next.go(thread, to: old > Self.ready ? .resume : next.line(after: thread))
            }
        default:
            return store(Self.resumption, own.continuation, "resume", by: thread) { next in
                next.judgeResumption(by: thread, of: own.continuation)
                next.go(thread, to: next.line(after: thread))
            }
        }
    }

    private func stopSteps(of thread: Int) -> Steps {
        let own = state.threads[thread]
        let reason = thread == Self.scanner ? Self.expired : Self.cancelled
        func isTaken(_ old: Int) -> Bool {
            plan.fault == .stopWithoutNumber ? old % 4 == 0 : old == own.number * 4
        }
        return exchange(Self.stop, "end stop.compareExchange", by: thread) { old in
            isTaken(old) ? old / 4 * 4 + reason : nil
        } then: { next, old in
            if isTaken(old), own.sawReady { next.state.fault = "a stop of a wait whose event had come" }
            next.go(thread, to: isTaken(old) ? .signal : next.line(after: thread))
        }
    }

    private mutating func judgeResumption(by thread: Int, of number: Int) {
        if !state.resumed.insert(number).inserted { state.fault = "a continuation is resumed twice" }
        if !memory.knowsLatest(Self.context, thread) {
            state.fault = "a task is resumed by a thread that does not see its context"
        }
    }

    private func line(after thread: Int) -> Line {
        switch thread {
        case Self.waiter: .context
        case Self.scanner: .expireStop
        case Self.event where state.threads[thread].number < plan.signals: .arrive
        default: .done
        }
    }

    /// `expire(ifBefore:)`, again and again.
    private func expireSteps() -> Steps {
        let me = Self.scanner
        if state.threads[me].line == .expireStop {
            return load(Self.stop, "expire stop.load", by: me) { next, value in
                next.state.threads[me].number = value / 4
                if value % 4 == 0 { next.go(me, to: .expireDeadline) }
            }
        }
        return load(Self.deadline, "expire deadline.load", by: me) { next, due in
            next.go(me, to: due == Self.never ? .expireStop : .endWord)
        }
    }

    private func causeSteps(of thread: Int) -> Steps {
        if thread == Self.event {
            let isLast = state.threads[thread].number == plan.signals - 1
            return store(Self.input, isLast ? 1 : 0, "input", by: thread) { next in
                next.state.threads[thread].number += 1
                next.go(thread, to: .signal)
            }
        }
        return exchange(Self.status, "cancel()", by: thread) {
            $0 | 1
        } then: { next, old in
            next.state.threads[thread].number = old / 2
            next.go(thread, to: old > 1 ? .endWord : .done)
        }
    }
}
