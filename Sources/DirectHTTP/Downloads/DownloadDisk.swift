internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// The partial file of one download, as a task uses it: the disk works on threads that may block, and the
/// task waits no longer than the call may take.
struct DownloadDisk: Sendable {
    let partial: PartialDownload
    private let wait: DiskWait
    private let work: BlockingWork

    /// Opens the partial file for a target. Call ``load()`` next.
    ///
    /// The caller waits for the outcome even if its task is cancelled: the file would stay locked for a
    /// while. For a disk that hangs it waits no longer than a second then.
    ///
    /// - Throws: ``DownloadError/inProgress`` if another download has the file.
    init(_ path: String, mode: UInt16, wait: DiskWait) async throws {
        let work = BlockingWork.forFile(path)
        let partial = try await withGrace(on: wait.limit.executor, timedBy: wait.loop) {
            try await wait.run(on: work, .body) { () throws(SystemError) in
                try PartialDownload.open(path, mode: mode)
            }
        }
        guard let partial else { throw HTTPError(.request, .download(.inProgress), name: wait.name) }
        self.partial = partial
        self.wait = wait
        self.work = work
    }

    /// Reads what an earlier download has left.
    func load() async throws {
        try await run { partial throws(SystemError) in try partial.load() }
    }

    /// Runs work on the file.
    func run<Answer: Sendable>(
        _ job: @escaping @Sendable (PartialDownload) throws(SystemError) -> Answer
    ) async throws -> Answer {
        let partial = partial
        return try await wait.run(on: work, .body) { () throws(SystemError) in try job(partial) }
    }

    /// Appends bytes to the file. They are written even if the task is cancelled or its time is over
    /// meanwhile.
    func append(_ bytes: [UInt8]) async throws {
        let start = partial.position.size
        do {
            try await run { partial throws(SystemError) in try partial.append(bytes, at: start) }
        } catch {
            // A call that had begun when the wait ended is completed, and one that had not is never made. The
            // position tells which.
            if !error.isSystemFailure { await conclude { try? $0.append(bytes, at: start) } }
            throw error
        }
    }

    /// Moves the complete file to its target.
    ///
    /// Once the move has begun the caller waits for its outcome: if it stopped waiting, it could not know
    /// whether the file is there.
    func commit() async throws {
        try await run { partial throws(SystemError) in try partial.settle() }
        if Task.isCancelled { throw CancellationError() }
        let (partial, work) = (partial, work)
        let untimed = DiskWait(
            within: CallLimit(wait.limit.timeouts, until: .never),
            name: wait.name,
            loop: wait.loop
        )
        try await withGrace(on: wait.limit.executor, timedBy: wait.loop) {
            try await untimed.run(on: work, .body) { () throws(SystemError) in try partial.commit() }
        }
    }

    /// Runs work that has to be done even if the task is cancelled or its time is over, and waits for it: a
    /// download to the same path may begin as soon as this one has ended. A disk that hangs is waited for no
    /// longer than a second.
    @inline(never)
    func conclude(_ job: @escaping @Sendable (PartialDownload) -> Void) async {
        let partial = partial
        await work.conclude(on: wait.limit.executor, timedBy: wait.loop) { job(partial) }
    }
}

extension Error {
    /// Whether the disk itself has failed.
    fileprivate var isSystemFailure: Bool {
        if case .system = (self as? HTTPError)?.reason { true } else { false }
    }
}
