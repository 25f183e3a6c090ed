import DirectCore
import DirectTestCommands
import Testing

@testable import DirectIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

private let refusal = SystemError("pthread_create", code: EAGAIN)

@Suite("Blocking work", .idleLimit)
struct BlockingWorkTests {
    private let loop = EventLoop.shared

    @Test("An executor that ends with a task's last step is kept until the step has been handed over")
    func lastReference() {
        var executor: ManualExecutor? = ManualExecutor()
        weak let watched = executor
        // As the runtime calls it: the task alone holds the executor.
        let unowned = Unmanaged.passUnretained(executor!)
        unowned._withUnsafeGuaranteedRef { running in
            running.withStrongReference {
                executor = nil
                #expect(watched != nil)
            }
        }
        #expect(watched == nil)
    }

    @Test("The caller gets the result", arguments: Place.allCases)
    func answers(_ place: Place) async throws {
        let answer = place.start(loop) { [loop] in
            try await BlockingWork.shared.run(until: .never, on: loop) { 42 }
        }
        #expect(try await answer.value == 42)
    }

    @Test("A deadline ends the caller's wait, and the call continues")
    func deadline() async throws {
        let work = BlockingWork(threadLimit: 1)
        let gate = Gate()
        // On a busy machine the call may not even have begun by then.
        await #expect(throws: BlockingWork.Abandoned.expired) {
            try await work.run(until: .now.advanced(byNanoseconds: 2_000_000), on: loop) { gate.wait() }
        }
        gate.open()
        #expect(try await work.run(until: .never, on: loop) { true }, "the thread works on")
    }

    @Test("Cancelling the task ends the caller's wait, and the call continues")
    func cancellation() async throws {
        let work = BlockingWork(threadLimit: 1)
        let (gate, begun) = (Gate(), Gate())
        let task = Task.detached { [loop] in
            try await work.run(until: .never, on: loop) {
                begun.open()
                gate.wait()
            }
        }
        try await onOwnThread { begun.wait() }
        task.cancel()
        await #expect(throws: BlockingWork.Abandoned.cancelled) { try await task.value }
        gate.open()
        #expect(try await work.run(until: .never, on: loop) { true })
    }

    @Test("A result that is there when the caller runs counts, although the deadline has passed")
    func lateAnswer() async throws {
        let work = BlockingWork(threadLimit: 1)
        let executor = ManualExecutor()
        let gate = Gate()
        let task = Task.detached(executorPreference: executor) { [loop] in
            // Time enough to begin to wait, also where a thread has to be started first.
            try await work.run(until: .now.advanced(byNanoseconds: 250_000_000), on: loop) {
                gate.wait()
                return 42
            }
        }
        try await onOwnThread {
            #expect(executor.waitForJob())
            executor.runJobs()
            // The deadline wants the task to go on.
            #expect(executor.waitForJob())
        }
        gate.open()
        // On the only thread, so the first call has been answered when this one has.
        try await work.run(until: .never, on: loop) {}
        executor.runJobs()
        #expect(try await task.value == 42)
    }

    @Test("A call whose caller was cancelled before it began is never made, and releases its memory at once")
    func abandonedCall() async throws {
        let work = BlockingWork(threadLimit: 1)
        let (gate, begun) = (Gate(), Gate())
        work.submit {
            begun.open()
            gate.wait()
        }
        try await onOwnThread { begun.wait() }
        let wasMade = Locked(false)
        let (kept, task) = callHoldingSomething(work) { wasMade.withLock { $0 = true } }
        while work.waiting < 1 { await Task.yield() }
        #expect(kept.value != nil)
        task.cancel()
        await #expect(throws: BlockingWork.Abandoned.cancelled) { try await task.value }
        #expect(work.waiting == 0)
        // The thread is still busy with the first call.
        #expect(kept.value == nil)
        gate.open()
        try await work.run(until: .never, on: loop) {}
        #expect(!wasMade.withLock { $0 })
    }

    @Test("A call whose deadline has passed is never made")
    func lateCall() async throws {
        let work = BlockingWork(threadLimit: 1)
        let wasMade = Locked(false)
        await #expect(throws: BlockingWork.Abandoned.expired) {
            try await work.run(until: Instant(nanoseconds: 1), on: loop) { wasMade.withLock { $0 = true } }
        }
        try await work.run(until: .never, on: loop) {}
        #expect(!wasMade.withLock { $0 })
    }

    @Test("A call that has ended is released although others still wait for a thread")
    func endedCall() async throws {
        let work = BlockingWork(threadLimit: 1)
        let (first, second) = (Gate(), Gate())
        work.submit { first.wait() }
        let kept = submitHoldingSomething(work)
        let begun = Gate()
        work.submit {
            begun.open()
            second.wait()
        }
        work.submit {}
        #expect(kept.value != nil)
        first.open()
        try await onOwnThread { begun.wait() }
        #expect(work.waiting == 1)
        #expect(kept.value == nil)
        second.open()
    }

    @Test(
        "A call fails if the system refuses its thread and there is no other, and is not made on the caller's"
    )
    func refusedThread() async throws {
        let work = BlockingWork(threadLimit: 2) { _, _ in refusal }
        let wasMade = Locked(false)
        await #expect(throws: BlockingWork.Abandoned.refused(refusal)) {
            let _: Void = try await work.run(until: .never, on: loop) { wasMade.withLock { $0 = true } }
        }
        await #expect(throws: refusal) {
            try await work.run(on: loop) { () throws(SystemError) in wasMade.withLock { $0 = true } }
        }
        let refused = Locked(false)
        work.submit {
            wasMade.withLock { $0 = true }
        } orElse: { _ in
            refused.withLock { $0 = true }
        }
        #expect(refused.withLock { $0 } && !wasMade.withLock { $0 })
        #expect(work.waiting == 0 && work.threads == 0)
    }

    @Test("A task whose threads are all refused runs on those of Swift")
    func refusedTask() async {
        let work = BlockingWork(threadLimit: 2) { _, _ in refusal }
        #expect(await Task(executorPreference: work) { 1 }.value == 1)
    }

    @Test("A call whose thread is refused waits for one that exists")
    func otherThread() async throws {
        let starts = Locked(0)
        let work = BlockingWork(threadLimit: 2) { context, body in
            let isFirst = starts.withLock { starts in
                starts += 1
                return starts == 1
            }
            return isFirst ? startDetachedThread(named: "test", context, body: body) : refusal
        }
        let gate = Gate()
        work.submit { gate.wait() }
        let task = Task.detached { [loop] in try await work.run(until: .never, on: loop) { 42 } }
        while starts.withLock({ $0 }) < 2 { await Task.yield() }
        gate.open()
        #expect(try await task.value == 42)
    }

    @Test(
        "A call whose thread is refused while the others hang is made as soon as the system starts a thread again"
    )
    func hangingThread() async throws {
        let starts = Locked(0)
        let work = BlockingWork(threadLimit: 2) { context, body in
            let count = starts.withLock { starts in
                starts += 1
                return starts
            }
            return count == 2 ? refusal : startDetachedThread(named: "test", context, body: body)
        }
        let gate = Gate()
        defer { gate.open() }
        work.submit { gate.wait() }
        let end = Instant.now.advanced(byNanoseconds: 5_000_000_000)
        #expect(try await work.run(until: end, on: loop) { 42 } == 42)
    }

    @Test("A call that must be made waits until the system starts a thread again")
    func laterThread() async throws {
        let starts = Locked(0)
        let work = BlockingWork(threadLimit: 2) { context, body in
            let count = starts.withLock { starts in
                starts += 1
                return starts
            }
            return count > 2 ? startDetachedThread(named: "test", context, body: body) : refusal
        }
        #expect(try await work.carryOut(until: .never, on: loop) { 42 } == 42)
        #expect(starts.withLock { $0 } == 3)
    }

    @Test("A call by `carryOut` is made although its caller was cancelled before it began")
    func carriedOut() async throws {
        let work = BlockingWork(threadLimit: 1)
        let gate = Gate()
        work.submit { gate.wait() }
        let wasMade = Locked(false)
        let task = Task.detached { [loop] in
            try await work.carryOut(until: .never, on: loop) { wasMade.withLock { $0 = true } }
        }
        task.cancel()
        await #expect(throws: BlockingWork.Abandoned.cancelled) { try await task.value }
        gate.open()
        try await work.run(until: .never, on: loop) {}
        #expect(wasMade.withLock { $0 })
    }

    /// A call that holds an object, and a weak reference. A separate function, so that no other code holds
    /// it.
    private func callHoldingSomething(
        _ work: BlockingWork,
        _ body: @escaping @Sendable () -> Void
    ) -> (Kept, Task<Void, any Error>) {
        let object = Held()
        let kept = Kept(object)
        let task = Task.detached { [loop, body] in
            try await Self.run(work, Locked(object), loop, body)
        }
        return (kept, task)
    }

    private static func run(
        _ work: BlockingWork,
        _ object: Locked<Held>,
        _ loop: EventLoop,
        _ body: @escaping @Sendable () -> Void
    ) async throws {
        try await work.run(until: .never, on: loop) {
            object.withLock { _ in }
            body()
        }
    }

    private func submitHoldingSomething(_ work: BlockingWork) -> Kept {
        let object = Held()
        work.submit { withExtendedLifetime(object) {} }
        return Kept(object)
    }

    @Test("No more calls run at once than the limit of threads")
    func threadLimit() async throws {
        let work = BlockingWork(threadLimit: 3)
        let (running, most) = (Locked(0), Locked(0))
        let gate = Gate()
        let tasks = (0..<12).map { _ in
            Task.detached(executorPreference: loop) { [loop] in
                try await work.run(until: .never, on: loop) {
                    let now = running.withLock { count in
                        count += 1
                        return count
                    }
                    most.withLock { $0 = max($0, now) }
                    gate.wait()
                    running.withLock { $0 -= 1 }
                }
            }
        }
        // By now all of them are queued.
        await loop.drain()
        while most.withLock({ $0 }) < 3 { await Task.yield() }
        gate.open()
        for task in tasks { try await task.value }
        #expect(most.withLock { $0 } == 3)
    }

    @Test("Many calls on few threads all get their results")
    func many() async throws {
        let work = BlockingWork(threadLimit: 2)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1000 {
                group.addTask { [loop] in try await work.run(until: .never, on: loop) { number } }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 999 * 1000 / 2)
    }

    @Test("An idle thread waits for the next call")
    func threadsStay() async throws {
        let work = BlockingWork(threadLimit: 8, idleTime: .max)
        var threads: Set<String> = []
        for _ in 0..<200 { threads.insert(try await work.run(until: .never, on: loop) { threadNumber() }) }
        #expect(threads.count <= 8)
    }

    @Test("An idle thread ends after a while, and a new one replaces it")
    func threadsEnd() async throws {
        let work = BlockingWork(threadLimit: 2, idleTime: 0)
        for number in 0..<20 {
            #expect(try await work.run(until: .never, on: loop) { work.threads } > 0)
            while work.threads > 0 { await Task.yield() }
            #expect(try await work.run(until: .never, on: loop) { number } == number)
        }
    }

    @Test("A call that arrives while a thread is about to end is not lost")
    func leavingThreads() async throws {
        let work = BlockingWork(threadLimit: 2, idleTime: 20_000)
        for number in 0..<5000 {
            #expect(try await work.run(until: .never, on: loop) { number } == number)
        }
    }

    @Test("Threads mask the signals for the host, and not those of crashes")
    func signals() async throws {
        let masked = try await BlockingWork.shared.run(until: .never, on: loop) { maskedSignals() }
        #expect(masked.isSuperset(of: [SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE, SIGUSR1, SIGALRM]))
        #expect(masked.isDisjoint(with: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT]))
    }
}

/// Something that a call captures.
private final class Held: Sendable {}

/// Whether it is still there.
private final class Kept: @unchecked Sendable {
    private(set) weak var value: Held?

    init(_ value: Held) {
        self.value = value
    }
}

private func maskedSignals() -> Set<Int32> {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    return Set((1..<32).filter { sigismember(&mask, $0) == 1 })
}
