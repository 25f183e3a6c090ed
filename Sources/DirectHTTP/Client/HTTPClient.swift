public import DirectCore
public import DirectHTTP1
public import DirectIO
internal import DirectTransport

/// Sends HTTP/1.1 requests: for the name in the URL, to the address that you choose.
///
/// A client is cheap to make and to copy; copies share their connections. It need not be shut down: when the
/// last copy is released, idle connections are closed, and requests in progress continue to their end.
public struct HTTPClient: Sendable {
    /// The layers of a call, which all copies of the client share.
    let pipeline: Pipeline

    /// The object whose release shows the simulation that the client is gone.
    package var identity: any AnyObject & Sendable { pipeline }
}

extension HTTPClient {
    /// A shared client with the default settings.
    public static let shared = HTTPClient()

    /// Makes a client with these settings.
    public init(_ configuration: Configuration = Configuration()) {
        self.init(pipeline: Pipeline(configuration))
    }

    init(_ configuration: Configuration, network: Network) {
        self.init(pipeline: Pipeline(configuration, network: network))
    }

    // Two initialisers, and none that rethrows: Swift 6.3.1 crashes on a function with such a call whose
    // closure throws nothing, and with typed errors that it catches in part (docs/Deployment.md).
    /// Makes a client with the default settings as `configure` changes them.
    public init(_ configure: (inout Configuration) -> Void) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(configuration)
    }

    /// Makes a client with the default settings as `configure` changes them.
    ///
    /// - Throws: any error that `configure` throws.
    public init(_ configure: (inout Configuration) throws -> Void) throws {
        var configuration = Configuration()
        try configure(&configuration)
        self.init(configuration)
    }

    /// The settings that the client was made with.
    public var configuration: Configuration { pipeline.configuration }

    /// The client's event loop, as a task executor.
    ///
    /// A task that prefers it (`withTaskExecutorPreference(client.executor)`) does not change threads when it
    /// waits for the network, which is the cheapest way to make many small requests. Such a task must not
    /// block or compute for long: all other requests would wait.
    public var executor: EventLoop { pipeline.configuration.loop }

    /// The executor of tasks that the library makes for a call, as for one with a completion handler.
    ///
    /// It is no event loop: what such a call runs of other people's code (interceptors, callbacks, cookie
    /// stores) may block, and would stop every client of the loop. The threads are the client's own, so they
    /// do not delay others either. Nor are they Swift's: those are libdispatch's, which may all wait for
    /// calls with handlers.
    package var threads: BlockingWork { pipeline.threads }

    /// Sends a request and returns the response as soon as its head has arrived. The body is received as it
    /// is read.
    ///
    /// - Throws: ``HTTPError``, `CancellationError` if the task is cancelled, or an error of an interceptor
    ///   or another function of yours.
    @inline(never)
    public func send(_ request: Request) async throws -> Response {
        // Not inlined into the calls of this module: the usual layers are inlined here.
        guard Self.isNoActor(#isolation) else { return try await sendFromActor(request) }
        return try await pipeline.send(request).delivered(to: request)
    }

    /// Sends a request that continues redirects that other code has followed so far: the client's credentials
    /// and other secrets are not sent, wherever the request goes.
    @concurrent
    package func sendContinued(_ request: Request) async throws -> Response {
        try await pipeline.sendContinued(request).delivered(to: request)
    }

    /// Sends a request and returns the response with its whole body.
    ///
    /// - Throws: the errors of ``send(_:)``, and ``HTTPError/Reason/bodyTooLarge(limit:)`` if the body is
    ///   larger than ``HTTPClient/Configuration/maximumBufferedBody``.
    public func fetch(_ request: Request) async throws -> BufferedResponse {
        guard Self.isNoActor(#isolation) else { return try await fetchFromActor(request) }
        let response = try await pipeline.send(request)
        let limit = pipeline.configuration.maximumBufferedBody
        // Most bodies arrive together with their head: there is nothing to wait for.
        if response.status.isSuccess, let body = response.body.shortBytes(upTo: limit) {
            return BufferedResponse(response, body)
        }
        return try await response.collected(for: request, upTo: limit)
    }

    // Not inlined: the optimiser of Swift 6.3 fails where `#isolation` is compared in place.
    @inline(never)
    private static func isNoActor(_ actor: (any Actor)?) -> Bool { actor == nil }

    // A request never runs on its caller's actor. A caller without one does not come through here: to enter
    // and to leave a concurrent function, Swift looks up the task's executor, which takes 410 instructions.
    //
    // The outcome is returned, and thrown by the caller: where a function passes on what a concurrent one
    // throws, the optimiser of Swift 6.3.1 drops the way back to the actor (swiftlang/swift#88259).
    @concurrent
    private func sendOffActor(_ request: Request) async -> Result<Response, any Error> {
        do { return .success(try await send(request)) } catch { return .failure(error) }
    }

    @inline(never)
    private func sendFromActor(_ request: Request) async throws -> Response {
        try await sendOffActor(request).get()
    }

    @inline(never)
    private func fetchFromActor(_ request: Request) async throws -> BufferedResponse {
        try await fetchOffActor(request).get()
    }

    @concurrent
    private func fetchOffActor(_ request: Request) async -> Result<BufferedResponse, any Error> {
        do { return .success(try await fetch(request)) } catch { return .failure(error) }
    }
}

extension HTTPClient: CustomReflectable {
    /// Shows the settings only.
    public var customMirror: Mirror { Mirror(self, children: ["settings": configuration]) }
}

/// The methods of HTTP for a URL as text. An invalid URL is an ``HTTPError``. A value that comes from
/// elsewhere belongs into an ``HTTPURL``, which keeps it in its place: `url.appending(path: "items", id)`.
extension HTTPClient {
    /// Gets the resource at a URL, with its whole body. See ``fetch(_:)``.
    public func get(_ url: String, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.get, url, headers: headers))
    }

    /// Gets the header fields of the resource at a URL, without its body. See ``fetch(_:)``.
    public func head(_ url: String, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.head, url, headers: headers))
    }

    /// Deletes the resource at a URL. See ``fetch(_:)``.
    public func delete(_ url: String, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.delete, url, headers: headers))
    }

    /// Posts a body to a URL. Without a body it sends a length of zero. See ``fetch(_:)``.
    public func post(
        _ url: String,
        _ body: RequestBody = .none,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.post, url, headers: headers, body: body))
    }

    /// Puts a body to a URL, as the resource's new state. See ``fetch(_:)``.
    public func put(
        _ url: String,
        _ body: RequestBody,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.put, url, headers: headers, body: body))
    }

    /// Changes the resource at a URL by the patch in the body. See ``fetch(_:)``.
    public func patch(
        _ url: String,
        _ body: RequestBody,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.patch, url, headers: headers, body: body))
    }
}

/// The methods of HTTP for a URL that has been parsed or built.
extension HTTPClient {
    /// Gets the resource at a URL, with its whole body. See ``fetch(_:)``.
    public func get(_ url: HTTPURL, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.get, url, headers: headers))
    }

    /// Gets the header fields of the resource at a URL, without its body. See ``fetch(_:)``.
    public func head(_ url: HTTPURL, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.head, url, headers: headers))
    }

    /// Deletes the resource at a URL. See ``fetch(_:)``.
    public func delete(_ url: HTTPURL, headers: HTTPHeaders = [:]) async throws -> BufferedResponse {
        try await fetch(Request(.delete, url, headers: headers))
    }

    /// Posts a body to a URL. Without a body it sends a length of zero. See ``fetch(_:)``.
    public func post(
        _ url: HTTPURL,
        _ body: RequestBody = .none,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.post, url, headers: headers, body: body))
    }

    /// Puts a body to a URL, as the resource's new state. See ``fetch(_:)``.
    public func put(
        _ url: HTTPURL,
        _ body: RequestBody,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.put, url, headers: headers, body: body))
    }

    /// Changes the resource at a URL by the patch in the body. See ``fetch(_:)``.
    public func patch(
        _ url: HTTPURL,
        _ body: RequestBody,
        headers: HTTPHeaders = [:]
    ) async throws -> BufferedResponse {
        try await fetch(Request(.patch, url, headers: headers, body: body))
    }
}
