import DirectTestModels

/// An `EventLoop`, threads that enqueue jobs, and one that begins a wait with a deadline.
struct LoopModel: WeakModel {
    /// A fault that is put into the model.
    enum Fault {
        /// The flag is cleared after the jobs are taken, not before.
        case flagClearedLate
        /// The loop looks for work before it says that it sleeps.
        case looksBeforeSleeping
        /// The loop's deadline is reset after the scan, not before.
        case deadlineResetLate
    }

    final class Plan: Sendable {
        let enqueuers: Int
        /// The jobs of each of them.
        let jobs: Int
        let hasWait: Bool
        /// Whether the loop's deadline has passed already, for a wait that is over.
        let hasOldDeadline: Bool
        let fault: Fault?
        let orders: [String: MemoryOrder]

        init(
            enqueuers: Int,
            jobs: Int = 1,
            wait: Bool,
            oldDeadline: Bool = false,
            fault: Fault? = nil,
            orders: [String: MemoryOrder] = [:]
        ) {
            self.enqueuers = enqueuers
            self.jobs = jobs
            hasWait = wait
            hasOldDeadline = oldDeadline
            self.fault = fault
            self.orders = (LoopModel.accesses + WaitPointModel.accesses).orders(but: orders)
        }
    }

    /// The places that the model has.
    static let places: Set = ["arrivals", "hasArrivals", "isAsleep", "earliestDeadline"]

    /// The accesses of EventLoop.swift to these places.
    static let accesses: [AtomicAccess] = [
        .init("enqueue arrivals.withLock", .sequentiallyConsistent),
        .init("enqueue hasArrivals.store", .sequentiallyConsistent),
        .init("wakeIfAsleep isAsleep.load", .sequentiallyConsistent),
        .init("wakeIfAsleep isAsleep.exchange", .sequentiallyConsistent),
        .init("noteDeadline earliestDeadline.load", .sequentiallyConsistent),
        .init("noteDeadline earliestDeadline.weakCompareExchange", .sequentiallyConsistent),
        .init("isUnused hasArrivals.load", .acquiring),
        .init("poll isAsleep.store", .sequentiallyConsistent),
        .init("poll hasArrivals.load", .sequentiallyConsistent),
        .init("poll isAsleep.store 2", .relaxed),
        .init("findLate earliestDeadline.load", .sequentiallyConsistent),
        .init("findLate earliestDeadline.store", .sequentiallyConsistent),
        .init("takeArrivals hasArrivals.load", .acquiring),
        .init("takeArrivals hasArrivals.store", .sequentiallyConsistent),
        .init("takeArrivals arrivals.withLock", .sequentiallyConsistent),
    ]

    enum Line {
        // The loop's.
        case arrived, clear, take, asleep, work, early, reset, scan, poll, awake
        // The others'.
        case append, flag, deadline
        // Shared: noteDeadline, wakeIfAsleep, poller.wake.
        case note, lower, look, wake, alarm, done
    }

    /// The time for which the loop may sleep.
    enum Timeout { case none, short, endless }

    struct Thread: Hashable {
        var line: Line
        var jobs = 0
    }

    struct State: Hashable {
        var memory: WeakMemory
        var threads: [Thread]
        var timeout = Timeout.none
        var ranJobs = 0
        var hasExpired = false
    }

    static let loop = 0
    static let never = 9
    /// The deadline of the wait, which has passed already when the loop looks.
    static let due = 1
    static let (hasArrivals, isAsleep, earliest, deadline, arrivals, alarm) = (0, 1, 2, 3, 4, 5)

    let plan: Plan
    var state: State

    init(_ plan: Plan) {
        self.plan = plan
        var threads = [Thread(line: .arrived)]
        threads += (0..<plan.enqueuers).map { _ in Thread(line: .append, jobs: plan.jobs) }
        if plan.hasWait { threads.append(Thread(line: .deadline)) }
        let values = [0, 0, plan.hasOldDeadline ? Self.due : Self.never, Self.never]
        state = State(memory: WeakMemory(values, strong: [0, 0], threads: threads.count), threads: threads)
    }

    var memory: WeakMemory {
        get { state.memory }
        set { state.memory = newValue }
    }
    var orders: [String: MemoryOrder] { plan.orders }
    var key: State { state }
    var fault: String? { nil }
    var isFinished: Bool {
        state.ranJobs == plan.enqueuers * plan.jobs && state.hasExpired == plan.hasWait
    }

    var steps: Steps {
        if isFinished { return [] }
        return state.threads.indices.flatMap { thread -> Steps in
            switch state.threads[thread].line {
            case .arrived, .clear, .take, .asleep, .work, .poll, .awake: turnSteps()
            case .early, .reset, .scan: deadlineSteps()
            case .append, .flag, .deadline: otherSteps(of: thread)
            case .note, .lower, .look, .wake, .alarm: wakeSteps(of: thread)
            case .done: []
            }
        }
    }

    mutating func go(_ thread: Int, to line: Line) {
        state.threads[thread].line = line
        if line == .done { memory.retire(thread) }
    }
}

/// The loop's thread.
extension LoopModel {
    /// `takeArrivals()` and `poll()`.
    private func turnSteps() -> Steps {
        let me = Self.loop
        switch state.threads[me].line {
        case .arrived:
            return load(Self.hasArrivals, "takeArrivals hasArrivals.load", by: me) { next, value in
                next.go(me, to: value == 0 ? .nextAwake(next) : next.isLate ? .take : .clear)
            }
        case .clear:
            return store(Self.hasArrivals, 0, "takeArrivals hasArrivals.store", by: me) { next in
                next.go(me, to: next.isLate ? .nextAwake(next) : .take)
            }
        case .take:
            // The lock's section is one step: nobody sees what is in between.
            return exchange(Self.arrivals, "takeArrivals arrivals.withLock", by: me, { _ in 0 }) {
                next,
                jobs in
                next.state.ranJobs += jobs
                next.go(me, to: next.isLate ? .clear : .nextAwake(next))
            }
        case .asleep:
            return store(Self.isAsleep, 1, "poll isAsleep.store", by: me) { next in
                next.go(me, to: !next.looksFirst ? .work : next.state.timeout == .none ? .poll : .early)
            }
        case .work:
            return load(Self.hasArrivals, "poll hasArrivals.load", by: me) { next, value in
                next.state.timeout = value == 1 ? .none : .endless
                next.go(me, to: next.looksFirst ? .asleep : value == 1 ? .poll : .early)
            }
        case .poll: return pollSteps()
        default:
            return store(Self.isAsleep, 0, "poll isAsleep.store 2", by: me) { next in
                next.state.timeout = .none
                next.go(me, to: .arrived)
            }
        }
    }

    /// The kernel's wait: without a limit it ends only with the alarm.
    private func pollSteps() -> Steps {
        if state.timeout == .endless, memory.latest(Self.alarm) == 0 { return [] }
        return exchange(Self.alarm, "poller.poll", by: Self.loop, { _ in 0 }) { next, _ in
            next.go(Self.loop, to: .awake)
        }
    }

    /// `findLate()`.
    private func deadlineSteps() -> Steps {
        let me = Self.loop
        switch state.threads[me].line {
        case .early:
            return load(Self.earliest, "findLate earliestDeadline.load", by: me) { next, value in
                next.go(me, to: value == Self.never ? .poll : next.resetsLate ? .scan : .reset)
            }
        case .reset:
            return store(Self.earliest, Self.never, "findLate earliestDeadline.store", by: me) {
                next in
                next.go(me, to: next.resetsLate ? .poll : .scan)
            }
        default:
            // The wait's number, which is read before, is the other model's.
            return load(Self.deadline, "pendingDeadline deadline.load", by: me) { next, value in
                if value == Self.due { next.state.hasExpired = true }
                next.go(me, to: next.resetsLate ? .reset : .poll)
            }
        }
    }

    fileprivate var isLate: Bool { plan.fault == .flagClearedLate }
    fileprivate var looksFirst: Bool { plan.fault == .looksBeforeSleeping }
    private var resetsLate: Bool { plan.fault == .deadlineResetLate }
}

/// The other threads.
extension LoopModel {
    /// `enqueue(_:)`, and the deadline of `WaitPoint.begin(until:on:)`.
    private func otherSteps(of thread: Int) -> Steps {
        switch state.threads[thread].line {
        case .append:
            return exchange(Self.arrivals, "enqueue arrivals.withLock", by: thread, { $0 + 1 }) { next, _ in
                next.go(thread, to: .flag)
            }
        case .flag:
            return store(Self.hasArrivals, 1, "enqueue hasArrivals.store", by: thread) { next in
                next.state.threads[thread].jobs -= 1
                next.go(thread, to: .look)
            }
        default:
            return store(Self.deadline, Self.due, "begin deadline.store 2", by: thread) { next in
                next.go(thread, to: .note)
            }
        }
    }

    /// `noteDeadline(_:)` and `wakeIfAsleep()`.
    private func wakeSteps(of thread: Int) -> Steps {
        switch state.threads[thread].line {
        case .note:
            return load(Self.earliest, "noteDeadline earliestDeadline.load", by: thread) { next, known in
                next.go(thread, to: Self.due < known ? .lower : .done)
            }
        case .lower:
            let access = "noteDeadline earliestDeadline.weakCompareExchange"
            return exchange(Self.earliest, access, by: thread, { $0 == Self.never ? Self.due : nil }) {
                next,
                old in
                next.go(thread, to: old == Self.never ? .look : .done)
            }
        case .look:
            return load(Self.isAsleep, "wakeIfAsleep isAsleep.load", by: thread) { next, value in
                next.go(thread, to: value == 1 ? .wake : next.after(thread))
            }
        case .wake:
            return exchange(Self.isAsleep, "wakeIfAsleep isAsleep.exchange", by: thread, { _ in 0 }) {
                next,
                old in
                next.go(thread, to: old == 1 ? .alarm : next.after(thread))
            }
        default:
            return store(Self.alarm, 1, "poller.wake", by: thread) { $0.go(thread, to: $0.after(thread)) }
        }
    }

    private func after(_ thread: Int) -> Line { state.threads[thread].jobs > 0 ? .append : .done }
}

extension LoopModel.Line {
    /// The first line of `poll()`.
    fileprivate static func nextAwake(_ model: LoopModel) -> Self { model.looksFirst ? .work : .asleep }
}
