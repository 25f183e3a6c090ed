extension BlockingWork: TaskExecutor {
    /// Runs the next step of a task on a thread of the pool: the executor of tasks whose code may block.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        submit { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
