internal import DirectCore
public import DirectIO
internal import DirectTransport

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

    /// Makes a client with the default settings as `configure` changes them.
    ///
    /// - Throws: any error that `configure` throws.
    public init(_ configure: (inout Configuration) throws -> Void) rethrows {
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
    package var threads: any TaskExecutor { pipeline.threads }

    /// Sends a request and returns the response as soon as its head has arrived. The body is received as it
    /// is read.
    ///
    /// - Throws: ``HTTPError``, `CancellationError` if the task is cancelled, or an error of an interceptor
    ///   or another function of yours.
    public func send(_ request: Request) async throws -> Response {
        guard Self.isNoActor(#isolation) else { return try await sendOffActor(request) }
        return try await pipeline.send(request).delivered(to: request)
    }

    /// Sends a request that continues redirects that other code has followed so far: the client's credentials
    /// and other secrets are not sent, wherever the request goes.
    @concurrent
    package func sendContinued(_ request: Request) async throws -> Response {
        try await pipeline.send(request, isContinued: true).delivered(to: request)
    }

    /// Sends a request and returns the response with its whole body.
    ///
    /// - Throws: the errors of ``send(_:)``, and ``HTTPError/Reason/bodyTooLarge(limit:)`` if the body is
    ///   larger than ``HTTPClient/Configuration/maximumBufferedBody``.
    public func fetch(_ request: Request) async throws -> BufferedResponse {
        guard Self.isNoActor(#isolation) else { return try await fetchOffActor(request) }
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
    @concurrent
    private func sendOffActor(_ request: Request) async throws -> Response { try await send(request) }

    @concurrent
    private func fetchOffActor(_ request: Request) async throws -> BufferedResponse {
        try await fetch(request)
    }
}

extension HTTPClient: CustomReflectable {
    /// Shows the settings only.
    public var customMirror: Mirror { Mirror(self, children: ["settings": configuration]) }
}
