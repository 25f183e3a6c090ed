@testable import DirectCore
@testable import DirectIO
import Testing

@Suite("The queue of jobs")
struct JobQueueTests {
    @Test("Jobs run first in, first out, also when the ring grows while it is wrapped around")
    func order() {
        let executor = ManualExecutor()
        let seen = Locked<[Int]>([])
        for number in 0..<5000 {
            Task.detached(executorPreference: executor) { seen.withLock { $0.append(number) } }
        }
        let jobs = executor.takeJobs()
        var queue = JobQueue()
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
        var given = 0
        func give(_ count: Int) {
            for job in jobs[given..<given + count] { queue.append(job) }
            given += count
        }
        func run(_ count: Int) {
            for _ in 0..<count { queue.popFirst()?.runSynchronously(on: executor.asUnownedTaskExecutor()) }
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
