import DirectCore
import DirectIO
import Foundation

/// Keeps the jobs of tasks that prefer it until the test runs them.
final class ManualExecutor: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrived.signal()
    }

    func takeJobs() -> [UnownedJob] {
        jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
    }

    /// Blocks until a task wants to go on here; says false if none does for long.
    func waitForJob() -> Bool { arrived.wait(timeout: .now() + .seconds(30)) == .success }

    func runJobs() {
        for job in takeJobs() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
