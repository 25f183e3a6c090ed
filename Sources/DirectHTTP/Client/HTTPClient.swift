public import DirectHTTP1
public import DirectIO

/// Sends HTTP/1.1 requests: to the name in their URL, at the address you choose.
///
/// A client is cheap to make and to copy; copies share their connections. There is nothing to shut down:
/// when the last copy is gone, idle connections are closed, and requests under way still end.
public struct HTTPClient: Sendable {
    let core: ClientCore

    /// A client to share, with the default settings.
    public static let shared = HTTPClient()

    /// A client with these settings.
    public init(_ settings: Settings = Settings()) {
        core = ClientCore(settings)
    }

    init(_ settings: Settings, network: Network) {
        core = ClientCore(settings, network: network)
    }

    /// A client with the default settings, changed in `configure`; what that throws is thrown on.
    public init(_ configure: (inout Settings) throws -> Void) rethrows {
        var settings = Settings()
        try configure(&settings)
        self.init(settings)
    }

    /// What the client was made with.
    public var settings: Settings { core.settings }

    /// The thread that watches the client's sockets, as an executor.
    ///
    /// A task that prefers it (`withTaskExecutorPreference(client.executor)`) changes no threads while it waits
    /// for the network, which is the cheapest way to make many small requests. It must not block or compute
    /// for long there: every other request would wait.
    public var executor: EventLoop { core.settings.loop }

    /// Sends a request; returns when the head of the response is there. Its body is read as it is used.
    @concurrent
    public func send(_ request: Request) async throws -> Response {
        var response = try await core.send(request)
        response.body = response.body.readableOnce
        return response
    }

    /// Sends a request that follows redirects for which something else has sent the requests so far: no secret of
    /// the client's goes along, wherever the request leads.
    @concurrent
    package func sendContinued(_ request: Request) async throws -> Response {
        var response = try await core.observedSend(request, isContinued: true)
        response.body = response.body.readableOnce
        return response
    }

    /// Sends a request and collects the whole response, up to `maximumBufferedBody`.
    @concurrent
    public func fetch(_ request: Request) async throws -> FullResponse {
        let response = try await core.send(request)
        let limit = core.settings.maximumBufferedBody
        // Most bodies have come with their head: nothing to wait for.
        if let body = try response.body.completeBytes(upTo: limit) { return FullResponse(response, body) }
        return try await response.collected(upTo: limit)
    }

    /// Gets a whole resource.
    @concurrent
    public func get(_ url: String, headers: Headers = [:]) async throws -> FullResponse {
        try await fetch(Request(.get, url, headers: headers))
    }

    /// Posts a body and collects the whole answer.
    @concurrent
    public func post(_ url: String, _ body: RequestBody, headers: Headers = [:]) async throws -> FullResponse
    {
        try await fetch(Request(.post, url, headers: headers, body: body))
    }
}

extension HTTPClient: CustomReflectable {
    /// The settings, not the machinery.
    public var customMirror: Mirror { Mirror(self, children: ["settings": settings]) }
}
