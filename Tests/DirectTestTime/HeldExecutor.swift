internal import DirectCore

/// Runs its jobs when it is told to, and from its release on at once.
package final class HeldExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isReleased = false
    }

    private let state = Locked(State())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let runsNow = state.withLock { state in
            if !state.isReleased { state.jobs.append(job) }
            return state.isReleased
        }
        if runsNow { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs the jobs that are there or come next, and returns when they have suspended.
    package func runNext() async {
        await jobComes()
        let jobs = state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Returns when there is a job to run.
    package func jobComes() async {
        while state.withLock({ $0.jobs.isEmpty }) { await Task.yield() }
    }

    /// Runs what is there, and from now on every job at once.
    package func release() {
        let jobs = state.withLock { state in
            defer { state.jobs = [] }
            state.isReleased = true
            return state.jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
