internal import DirectCore
public import DirectHTTP1
internal import DirectIO
public import DirectTransport

extension HTTPClient {
    /// The client for programs without `async`: each call blocks its thread until it has its result.
    public var blocking: Blocking { Blocking(client: self) }

    /// The calls of a client that block. Settings, connections and cookies are those of the client.
    ///
    /// A blocking call inside a task, or on an event loop, could wait for a thread that it holds itself. Such
    /// a call throws an ``HTTPError`` with ``HTTPError/Reason/blockingInTask`` at once and sends nothing.
    /// This includes callbacks of this package, such as observers and interceptors, and functions that an
    /// `async` function calls.
    ///
    /// While the main thread is blocked, code on the main actor does not run: functions of yours that the
    /// call uses, such as resolvers and interceptors, must not wait for it.
    ///
    /// A call cannot be cancelled from outside. ``Timeouts/total`` limits it.
    public struct Blocking: Sendable {
        fileprivate let client: HTTPClient
    }
}

extension HTTPClient.Blocking {
    /// Runs an asynchronous operation with the client on the calling thread, and returns its result. It is
    /// for what has no blocking call of its own, such as a body that is read piece by piece.
    ///
    /// - Throws: ``HTTPError/Reason/blockingInTask``, or the error of the operation.
    public func run<Value: Sendable>(
        _ operation: @escaping @Sendable (HTTPClient) async throws -> Value
    ) throws -> Value {
        let isInTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }
        guard !isInTask, !client.executor.isCurrent, !EventLoop.shared.isCurrent else {
            throw HTTPError(.request, .blockingInTask)
        }
        let client = client
        let thread = WaitingThread(client.threads)
        let outcome = Locked<Result<Value, any Error>?>(nil)
        Task.detached(executorPreference: thread) {
            let result: Result<Value, any Error>
            do { result = .success(try await operation(client)) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            thread.end()
        }
        return try thread.runJobs { outcome.withLock { $0 } }.get()
    }

    /// Sends a request and returns the response with its whole body. See ``HTTPClient/fetch(_:)``.
    public func fetch(_ request: HTTPClient.Request) throws -> HTTPClient.BufferedResponse {
        try run { try await $0.fetch(request) }
    }

    /// Downloads a resource to a file. See
    /// ``HTTPClient/download(_:to:options:onProgress:)-(HTTPClient.Request,_,_,_)``.
    @discardableResult
    public func download(
        _ request: HTTPClient.Request,
        to path: String,
        options: DownloadOptions = DownloadOptions(),
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) throws -> DownloadResult {
        try run { try await $0.download(request, to: path, options: options, onProgress: onProgress) }
    }

    /// Downloads the resource at a URL to a file. See
    /// ``HTTPClient/download(_:to:options:onProgress:)-(String,_,_,_)``.
    @discardableResult
    public func download(
        _ url: String,
        to path: String,
        options: DownloadOptions = DownloadOptions(),
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) throws -> DownloadResult {
        try download(HTTPClient.Request(.get, url), to: path, options: options, onProgress: onProgress)
    }
}

/// A thread that waits for an operation, as the executor of its jobs.
///
/// Threads of Swift's own pool cannot be waited for: the caller may be one of the same pool (libdispatch's),
/// and have all of them wait.
///
/// Code that a cancelled call has left behind may have jobs after the operation. They run on the threads of
/// the client.
private final class WaitingThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Whether the operation is over.
        var isOver = false
        /// Whether the thread runs no more jobs.
        var hasLeft = false
    }

    private let state = Locked(State())
    private let arrival = Condition()
    private let successor: BlockingWork

    init(_ successor: BlockingWork) { self.successor = successor }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        withStrongReference {
            let hasLeft = state.withLock { state in
                if !state.hasLeft { state.jobs.append(job) }
                return state.hasLeft
            }
            guard hasLeft else { return arrival.signal() }
            successor.submit { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Says that there is an outcome.
    func end() {
        state.withLock { $0.isOver = true }
        arrival.signal()
    }

    /// Runs jobs on this thread until there is an outcome.
    func runJobs<Outcome>(until outcome: () -> Outcome?) -> Outcome {
        while true {
            for job in nextJobs() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            if let outcome = outcome(), leaves() { return outcome }
        }
    }

    /// Waits for jobs, or for the end.
    private func nextJobs() -> [UnownedJob] {
        // Any time will do: the wait ends with the signal.
        let hour: UInt64 = 3_600_000_000_000
        let jobs = state.wait(at: arrival, nanoseconds: hour) { state, _ -> [UnownedJob]? in
            guard state.isOver || !state.jobs.isEmpty else { return nil }
            defer { state.jobs = [] }
            return state.jobs
        }
        return jobs ?? []
    }

    /// Leaves later jobs to other threads, unless there is one already.
    private func leaves() -> Bool {
        state.withLock { state in
            state.hasLeft = state.jobs.isEmpty
            return state.hasLeft
        }
    }
}

/// The usual methods of HTTP for a URL as text. For others ``fetch(_:)`` takes a request.
extension HTTPClient.Blocking {
    /// Gets the resource at a URL, with its whole body.
    public func get(_ url: String, headers: HTTPHeaders = [:]) throws -> HTTPClient.BufferedResponse {
        try fetch(HTTPClient.Request(.get, url, headers: headers))
    }

    /// Posts a body to a URL. Without a body it sends a length of zero.
    public func post(
        _ url: String,
        _ body: RequestBody = .none,
        headers: HTTPHeaders = [:]
    ) throws -> HTTPClient.BufferedResponse {
        try fetch(HTTPClient.Request(.post, url, headers: headers, body: body))
    }
}
