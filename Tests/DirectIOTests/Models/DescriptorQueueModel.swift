import DirectTestModels

/// A `DescriptorQueue`, attempts that use it as `DescriptorShortage.openSocket` does, and one descriptor,
/// which another socket has at first.
///
/// Nobody tries again after a while, as the real attempts do because files are closed without notice: each
/// has to be woken.
struct DescriptorQueueModel: WeakModel {
    /// A fault that is put into the model.
    enum Fault {
        /// An attempt that is woken does not look whether it is first, and all are woken.
        case wakesAll
        /// An attempt that leaves does not wake the next.
        case leavesSilently
        /// An attempt waits after it has joined, without trying once more.
        case waitsAtOnce
    }

    final class Plan: Sendable {
        let attempts: Int
        /// Whether the first attempt may be cancelled while it waits.
        let hasCancellation: Bool
        let fault: Fault?
        let orders: [String: MemoryOrder]

        init(
            attempts: Int,
            cancellation: Bool = false,
            fault: Fault? = nil,
            orders: [String: MemoryOrder] = [:]
        ) {
            self.attempts = attempts
            hasCancellation = cancellation
            self.fault = fault
            self.orders = DescriptorQueueModel.accesses.orders(but: orders)
        }
    }

    /// The accesses of DescriptorQueue.swift.
    static let accesses: [AtomicAccess] = [
        .init("isEmpty hasWaiting.load", .sequentiallyConsistent),
        .init("join waiting.withLock", .sequentiallyConsistent),
        .init("join hasWaiting.store", .sequentiallyConsistent),
        .init("isFirst waiting.withLock", .sequentiallyConsistent),
        .init("leave waiting.withLock", .sequentiallyConsistent),
        .init("leave hasWaiting.store", .sequentiallyConsistent),
        .init("noteClosed waiting.withLock", .sequentiallyConsistent),
    ]

    enum Line {
        case isEmpty, openAtOnce, lock, join, isFirst, open, wait, leaveLock, leave, wakeNext
        case close, noteClosed, first, wakeFirst, done
    }

    struct Thread: Hashable {
        var line: Line
        /// The one that it wakes.
        var next: Int?
        var hasDescriptor = false
    }

    struct State: Hashable {
        var memory: WeakMemory
        var threads: [Thread]
        /// Guarded by the lock.
        var waiting: [Int] = []
        var fault: String?
    }

    /// The holder of the descriptor at first. The others are attempts.
    static let holder = 0
    static let (hasWaiting, lock, free, signals) = (0, 1, 2, 3)

    let plan: Plan
    var state: State

    init(_ plan: Plan) {
        self.plan = plan
        var threads = [Thread(line: .close, hasDescriptor: true)]
        threads += (0..<plan.attempts).map { _ in Thread(line: .isEmpty) }
        let strong = [Int](repeating: 0, count: 2 + threads.count)
        state = State(memory: WeakMemory([0], strong: strong, threads: threads.count), threads: threads)
    }

    var memory: WeakMemory {
        get { state.memory }
        set { state.memory = newValue }
    }
    var orders: [String: MemoryOrder] { plan.orders }
    var key: State { state }
    var isFinished: Bool { state.threads.allSatisfy { $0.line == .done } }

    var fault: String? {
        let opening = state.threads.count { $0.line == .open }
        if opening > 1 { return "the descriptor is for two attempts" }
        if isFinished, !state.waiting.isEmpty || memory.latest(Self.hasWaiting) == 1 { return "one is left" }
        return state.threads.count { $0.hasDescriptor } > 1 ? "two have the descriptor" : nil
    }

    var steps: Steps {
        state.threads.indices.flatMap { thread -> Steps in
            switch state.threads[thread].line {
            case .isEmpty, .openAtOnce, .lock, .join, .isFirst: joinSteps(of: thread)
            case .open, .wait: openSteps(of: thread)
            case .leaveLock, .leave, .wakeNext: leaveSteps(of: thread)
            case .close, .noteClosed, .first, .wakeFirst: closeSteps(of: thread)
            case .done: []
            }
        }
    }

    mutating func go(_ thread: Int, to line: Line) {
        state.threads[thread].line = line
        if line == .done { memory.retire(thread) }
    }
}

extension DescriptorQueueModel {
    private func joinSteps(of thread: Int) -> Steps {
        switch state.threads[thread].line {
        case .isEmpty:
            return load(Self.hasWaiting, "isEmpty hasWaiting.load", by: thread) { next, value in
                next.go(thread, to: value == 0 ? .openAtOnce : .lock)
            }
        case .openAtOnce:
            return exchange(Self.free, "socket()", by: thread, { _ in 0 }) { next, free in
                next.state.threads[thread].hasDescriptor = free == 1
                next.go(thread, to: free == 1 ? .close : .lock)
            }
        case .lock:
            return take(thread) { next in
                next.state.waiting.append(thread)
                next.go(thread, to: .join)
            }
        case .join:
            return store(Self.hasWaiting, 1, "join hasWaiting.store", by: thread) { next in
                next.unlock(thread, then: next.plan.fault == .waitsAtOnce ? .wait : .isFirst)
            }
        default:
            return take(thread) { next in
                next.unlock(thread, then: next.state.waiting.first == thread ? .open : .wait)
            }
        }
    }

    private func openSteps(of thread: Int) -> Steps {
        if state.threads[thread].line == .open {
            return exchange(Self.free, "socket()", by: thread, { _ in 0 }) { next, free in
                next.state.threads[thread].hasDescriptor = free == 1
                next.go(thread, to: free == 1 ? .leaveLock : .wait)
            }
        }
        var steps: Steps = []
        if memory.latest(Self.signals + thread) == 1 {
            steps += exchange(Self.signals + thread, "waitForSignal", by: thread, { _ in 0 }) { next, _ in
                next.go(thread, to: next.plan.fault == .wakesAll ? .open : .isFirst)
            }
        }
        if plan.hasCancellation, thread == 1 {
            steps += step("\(thread): is cancelled") { $0.go(thread, to: .leaveLock) }
        }
        return steps
    }

    private func leaveSteps(of thread: Int) -> Steps {
        switch state.threads[thread].line {
        case .leaveLock:
            return take(thread) { next in
                next.state.waiting.removeAll { $0 == thread }
                next.go(thread, to: .leave)
            }
        case .leave:
            let isEmpty = state.waiting.isEmpty
            return store(Self.hasWaiting, isEmpty ? 0 : 1, "leave hasWaiting.store", by: thread) { next in
                next.state.threads[thread].next =
                    next.plan.fault == .leavesSilently ? nil : next.state.waiting.first
                next.unlock(thread, then: .wakeNext)
            }
        default: return wake(state.threads[thread].next, by: thread) { $0.hasLeft(thread) }
        }
    }

    private func closeSteps(of thread: Int) -> Steps {
        switch state.threads[thread].line {
        case .close:
            return step("\(thread): uses it") { $0.state.threads[thread].hasDescriptor = false }.flatMap {
                _,
                next in
                next.store(Self.free, 1, "close()", by: thread) { $0.go(thread, to: .noteClosed) }
            }
        case .noteClosed:
            return load(Self.hasWaiting, "isEmpty hasWaiting.load", by: thread) { next, value in
                next.go(thread, to: value == 0 ? .done : .first)
            }
        case .first:
            return take(thread) { next in
                next.state.threads[thread].next = next.state.waiting.first
                next.unlock(thread, then: .wakeFirst)
            }
        default:
            let all =
                plan.fault == .wakesAll ? state.waiting : [state.threads[thread].next].compactMap(\.self)
            guard let last = all.last else {
                return step("\(thread): nobody waits") { $0.go(thread, to: .done) }
            }
            return all.dropLast().reduce([("", self)]) { models, other in
                models.flatMap { $1.wake(other, by: thread) { _ in } }
            }
            .flatMap { $1.wake(last, by: thread) { $0.go(thread, to: .done) } }
        }
    }

    private mutating func hasLeft(_ thread: Int) {
        go(thread, to: state.threads[thread].hasDescriptor ? .close : .done)
    }

    /// `input.signal()`, if there is one to wake.
    private func wake(_ other: Int?, by thread: Int, then: (inout Self) -> Void) -> Steps {
        guard let other else { return step("\(thread): nobody waits", then) }
        return store(Self.signals + other, 1, "signal \(other)", by: thread, then: then)
    }

    /// Takes the lock if it is free.
    private func take(_ thread: Int, then: (inout Self) -> Void) -> Steps {
        guard memory.latest(Self.lock) == 0 else { return [] }
        return exchange(Self.lock, "lock", by: thread, { _ in 1 }) { next, _ in then(&next) }
    }

    private mutating func unlock(_ thread: Int, then line: Line) {
        for memory in memory.store(Self.lock, 0, .sequentiallyConsistent, by: thread) { self.memory = memory }
        go(thread, to: line)
    }
}
