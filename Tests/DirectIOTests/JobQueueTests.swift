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
        #expect((queue.isEmpty) == true)
        #expect(queue.next() == nil)
        var given = 0
        func give(_ count: Int) {
            for job in jobs[given..<given + count] { queue.append(job) }
            given += count
        }
        func run(_ count: Int) {
            queue.beginTurn(limit: count)
            while let job = queue.next() { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
        }
        give(1000)
        run(700)
        // From slot 1000 over the end of the ring's 1024 to its front, until it is full and grows twice.
        give(3000)
        run(3300)
        #expect((queue.isEmpty) == true)
        give(1000)
        run(1001)
        #expect(seen.withLock { $0 } == Array(0..<5000))
        #expect(queue.next() == nil)
    }

    @Test("A turn that is ended runs the jobs that are queued by then, and no others")
    func endOfTurn() {
        let executor = ManualExecutor()
        for _ in 0..<3 { Task.detached(executorPreference: executor) {} }
        let jobs = executor.takeJobs()
        var queue = JobQueue()
        queue.append(jobs[0])
        queue.append(jobs[1])
        queue.beginTurn(limit: 256)
        let first = queue.next()
        queue.endTurn()
        queue.append(jobs[2])
        let second = queue.next()
        #expect(queue.next() == nil)
        #expect((queue.isEmpty) == false)
        queue.beginTurn(limit: 256)
        let third = queue.next()
        #expect((queue.isEmpty) == true)
        for job in [first, second, third] { job?.runSynchronously(on: executor.asUnownedTaskExecutor()) }
    }
}
