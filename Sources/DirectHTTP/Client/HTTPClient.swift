internal import DirectCore
public import DirectHTTP1
public import DirectIO
internal import DirectTransport

/// Sends HTTP/1.1 requests: for the name in the URL, to the address that you choose.
///
/// A client is cheap to make and to copy; copies share their connections. It need not be shut down: when the last
/// copy is released, idle connections are closed, and requests in progress continue to their end.
public struct HTTPClient: Sendable {
    let core: ClientCore

    /// A shared client with the default settings.
    public static let shared = HTTPClient()

    /// Makes a client with these settings.
    public init(_ settings: Settings = Settings()) {
        core = ClientCore(settings)
    }

    init(_ settings: Settings, network: Network) {
        core = ClientCore(settings, network: network)
    }

    /// Makes a client with the default settings as `configure` changes them.
    ///
    /// - Throws: any error that `configure` throws.
    public init(_ configure: (inout Settings) throws -> Void) rethrows {
        var settings = Settings()
        try configure(&settings)
        self.init(settings)
    }

    /// The settings that the client was made with.
    public var settings: Settings { core.settings }

    /// The client's event loop, as a task executor.
    ///
    /// A task that prefers it (`withTaskExecutorPreference(client.executor)`) does not change threads when it waits
    /// for the network, which is the cheapest way to make many small requests. Such a task must not block or
    /// compute for long: all other requests would wait.
    public var executor: EventLoop { core.settings.loop }

    /// Sends a request and returns the response as soon as its head has arrived. The body is received as it is
    /// read.
    ///
    /// - Throws: ``HTTPError``, `CancellationError` if the task is cancelled, or an error of an interceptor or
    ///   another function of yours.
    @concurrent
    public func send(_ request: Request) async throws -> Response {
        var response = try await core.send(request)
        response.body = response.body.readableOnce
        return response
    }

    /// Sends a request that continues redirects that other code has followed so far: the client's credentials and
    /// other secrets are not sent, wherever the request goes.
    @concurrent
    package func sendContinued(_ request: Request) async throws -> Response {
        var response = try await core.observedSend(request, isContinued: true)
        response.body = response.body.readableOnce
        return response
    }

    /// Sends a request and returns the response with its whole body.
    ///
    /// - Throws: the errors of ``send(_:)``, and ``HTTPError/Reason/bodyTooLarge(limit:)`` if the body is larger
    ///   than ``HTTPClient/Settings/maximumBufferedBody``.
    @concurrent
    public func fetch(_ request: Request) async throws -> FullResponse {
        let response = try await core.send(request)
        let limit = core.settings.maximumBufferedBody
        // Most bodies arrive together with their head: there is nothing to wait for.
        if let body = try response.body.completeBytes(upTo: limit) { return FullResponse(response, body) }
        return try await response.collected(upTo: limit)
    }

    /// Gets the resource at a URL, with its whole body. See ``fetch(_:)``.
    @concurrent
    public func get(_ url: String, headers: HTTPHeaders = [:]) async throws -> FullResponse {
        try await fetch(Request(.get, url, headers: headers))
    }

    /// Posts a body to a URL and returns the response with its whole body. See ``fetch(_:)``.
    @concurrent
    public func post(_ url: String, _ body: RequestBody, headers: HTTPHeaders = [:]) async throws
        -> FullResponse
    {
        try await fetch(Request(.post, url, headers: headers, body: body))
    }
}

extension HTTPClient: CustomReflectable {
    /// Shows the settings only.
    public var customMirror: Mirror { Mirror(self, children: ["settings": settings]) }
}
