internal import DirectCore

extension BlockingWork {
    struct Job: Sendable {
        let make: @Sendable () -> Void
        /// Called instead if there is no thread; `nil` for a call that must be made.
        let refuse: (@Sendable (SystemError) -> Void)?
        /// Whether it waits while all threads hang, and is refused only where the system starts none.
        var isPatient = false

        /// Whether it is refused because all threads hang.
        var isImpatient: Bool { refuse != nil && !isPatient }
    }

    typealias Ticket = Waitlist<Job>.Ticket

    struct Queue {
        var jobs = Waitlist<Job>()
        /// The number of running threads.
        var threads = 0
        /// The number of threads that wait for a job, including those that have been woken but have not yet
        /// run.
        var idle = 0
        /// The number of threads that have been counted and do not run yet.
        var starting = 0
        /// The threads, with the calls that they are in.
        var workers: [Worker] = []
        /// The number of threads whose calls do not count any more.
        var late = 0
        /// Whether a task will look for late calls, or try again to start a thread.
        var willLook = false

        /// The number of jobs for which there is no thread.
        var unserved: Int { jobs.count - idle - starting }

        /// Notes that a thread has begun, or ended its call or its wait for one.
        mutating func free(_ worker: Worker) {
            if worker.isStarting { starting -= 1 }
            if worker.isIdle { idle -= 1 }
            if worker.isLate { late -= 1 }
            (worker.ticket, worker.isLate, worker.isIdle, worker.isStarting) = (nil, false, false, false)
        }

        /// Notes that a thread waits for a call.
        mutating func rest(_ worker: Worker) {
            idle += 1
            worker.isIdle = true
        }

        /// Removes a thread.
        mutating func end(_ worker: Worker) {
            threads -= 1
            workers.removeAll { $0 === worker }
        }
    }

    /// A thread and its call. The lock of the queue guards it.
    final class Worker: @unchecked Sendable {
        /// The call; `nil` between two of them.
        var ticket: Ticket?
        var start = Instant.never
        var isLate = false
        var isIdle = false
        var isStarting = true
    }
}
