@testable import DirectIO
import Synchronization
import Testing

@Suite("The queue of jobs")
struct JobQueueTests {
    /// Keeps the jobs it is given: the only way to come by some.
    private final class Collector: TaskExecutor {
        let jobs = Locked<[UnownedJob]>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
        }

        /// Jobs that note their numbers, in order, when they are run.
        func collect(_ count: Int, _ note: @escaping @Sendable (Int) -> Void) -> [UnownedJob] {
            for number in 0..<count { Task.detached(executorPreference: self) { note(number) } }
            return jobs.withLock { $0 }
        }
    }

    @Test("first in, first out, also when the ring grows while it is wrapped around")
    func order() {
        let collector = Collector()
        let seen = Locked<[Int]>([])
        let jobs = collector.collect(5000) { number in seen.withLock { $0.append(number) } }
        var queue = JobQueue()
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
        var given = 0
        func give(_ count: Int) {
            for job in jobs[given..<given + count] { queue.append(job) }
            given += count
        }
        func run(_ count: Int) {
            for _ in 0..<count { queue.popFirst()?.runSynchronously(on: collector.asUnownedTaskExecutor()) }
        }
        give(1000)
        run(700)
        // From slot 1000 over the end of the ring's 1024 to its front, until it is full and grows twice.
        give(3000)
        run(3300)
        #expect(queue.isEmpty)
        give(1000)
        run(1001)
        #expect(seen.withLock { $0 } == Array(0..<5000))
        #expect(queue.popFirst() == nil)
    }
}
