public import DirectHTTP
internal import DirectIO
internal import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A call whose result goes to a completion handler.
public struct CallHandle: Sendable {
    fileprivate let task: Task<Void, Never>

    /// Ends the call, unless it has ended. Its handler is called with the error of a cancelled call.
    public func cancel() { task.cancel() }
}

/// Calls for programs without `async`. They begin at once and return a handle to cancel them, which may be
/// ignored.
///
/// Each handler is called exactly once, also after `cancel()`: on the queue that is given, or on one of a few
/// threads for handlers. Calls and handlers do not need libdispatch's threads, so these may all wait for
/// them.
extension HTTPClient {
    /// Sends a request and passes the response with its whole body to a handler. See `fetch(_:)`.
    ///
    /// - Parameter handler: Gets the response, or an `HTTPError`, a `CancellationError` or an error of your
    ///   own functions.
    @discardableResult
    public func fetch(
        _ request: HTTPClient.Request,
        on queue: OperationQueue? = nil,
        completionHandler handler:
            @escaping @Sendable (Result<HTTPClient.BufferedResponse, any Error>) -> Void
    ) -> CallHandle {
        begin(on: queue, handler) { try await self.fetch(request) }
    }

    /// Sends a request and passes data and head to a handler, as
    /// `URLSession.dataTask(with:completionHandler:)` does.
    ///
    /// - Parameter handler: Gets data and head, or a `URLError`; see `data(for:progress:)`.
    @discardableResult
    public func data(
        for request: URLRequest,
        progress: Progress? = nil,
        on queue: OperationQueue? = nil,
        completionHandler handler: @escaping @Sendable (Data?, HTTPURLResponse?, URLError?) -> Void
    ) -> CallHandle {
        begin(on: queue, { Self.pass($0, to: handler) }) {
            try await self.data(for: request, progress: progress)
        }
    }

    /// Gets the resource at a URL, as `URLSession.dataTask(with:completionHandler:)` does. See
    /// `data(for:progress:on:completionHandler:)`.
    @discardableResult
    public func data(
        from url: URL,
        progress: Progress? = nil,
        on queue: OperationQueue? = nil,
        completionHandler handler: @escaping @Sendable (Data?, HTTPURLResponse?, URLError?) -> Void
    ) -> CallHandle {
        data(for: URLRequest(url: url), progress: progress, on: queue, completionHandler: handler)
    }

    /// Sends a request with a body of these bytes, as `URLSession.uploadTask(with:from:completionHandler:)`
    /// does. See `data(for:progress:on:completionHandler:)`.
    @discardableResult
    public func upload(
        for request: URLRequest,
        from body: Data,
        progress: Progress? = nil,
        on queue: OperationQueue? = nil,
        completionHandler handler: @escaping @Sendable (Data?, HTTPURLResponse?, URLError?) -> Void
    ) -> CallHandle {
        begin(on: queue, { Self.pass($0, to: handler) }) {
            try await self.upload(for: request, from: body, progress: progress)
        }
    }

    /// Sends a request with the content of a file as its body, as
    /// `URLSession.uploadTask(with:fromFile:completionHandler:)` does. See
    /// `data(for:progress:on:completionHandler:)`.
    @discardableResult
    public func upload(
        for request: URLRequest,
        fromFile file: URL,
        progress: Progress? = nil,
        on queue: OperationQueue? = nil,
        completionHandler handler: @escaping @Sendable (Data?, HTTPURLResponse?, URLError?) -> Void
    ) -> CallHandle {
        begin(on: queue, { Self.pass($0, to: handler) }) {
            try await self.upload(for: request, fromFile: file, progress: progress)
        }
    }

    /// Sends a request and writes the response's body to a new file, as
    /// `URLSession.downloadTask(with:completionHandler:)` does. The handler moves or removes the file: it
    /// stays.
    ///
    /// - Parameter handler: Gets the file's URL and head, or a `URLError`; see `download(for:in:progress:)`.
    @discardableResult
    public func download(
        for request: URLRequest,
        in folder: URL = FileManager.default.temporaryDirectory,
        progress: Progress? = nil,
        on queue: OperationQueue? = nil,
        completionHandler handler: @escaping @Sendable (URL?, HTTPURLResponse?, URLError?) -> Void
    ) -> CallHandle {
        begin(on: queue, { Self.pass($0, to: handler) }) {
            try await self.download(for: request, in: folder, progress: progress)
        }
    }

    /// Downloads the resource at a URL to a new file, as `URLSession.downloadTask(with:completionHandler:)`
    /// does. See `download(for:in:progress:on:completionHandler:)`.
    @discardableResult
    public func download(
        from url: URL,
        in folder: URL = FileManager.default.temporaryDirectory,
        progress: Progress? = nil,
        on queue: OperationQueue? = nil,
        completionHandler handler: @escaping @Sendable (URL?, HTTPURLResponse?, URLError?) -> Void
    ) -> CallHandle {
        let request = URLRequest(url: url)
        return download(for: request, in: folder, progress: progress, on: queue, completionHandler: handler)
    }

    private func begin<Value: Sendable>(
        on queue: OperationQueue?,
        _ handler: @escaping @Sendable (Result<Value, any Error>) -> Void,
        call: @escaping @Sendable () async throws -> Value
    ) -> CallHandle {
        CallHandle(
            // Not detached: what code of the program sends while it is asked is known by a task-local value.
            task: Task(executorPreference: threads) { [threads] in
                let result: Result<Value, any Error>
                do { result = .success(try await call()) } catch { result = .failure(error) }
                guard let queue else { return threads.submit { handler(result) } }
                queue.addOperation { handler(result) }
            }
        )
    }

    /// The asynchronous calls throw a `URLError` in any case.
    private static func pass<Value>(
        _ result: Result<(Value, HTTPURLResponse), any Error>,
        to handler: (Value?, HTTPURLResponse?, URLError?) -> Void
    ) {
        switch result {
        case .success(let (value, head)): handler(value, head, nil)
        case .failure(let error): handler(nil, nil, error as? URLError ?? URLError(.unknown))
        }
    }
}
