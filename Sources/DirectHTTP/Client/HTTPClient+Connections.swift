public import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

extension HTTPClient {
    /// The client's open connections, what they are doing, and how many requests wait for one: a snapshot for
    /// diagnostics, grouped by origin and sorted by the origins' texts.
    public var connections: [OriginConnections] { pipeline.transport.pool.survey(at: configuration.loop.now) }

    /// Forgets everything that depends on the network. Call it when the machine has joined or left a network:
    /// addresses that were good there may not be good here.
    ///
    /// Idle connections are closed immediately. Connections that serve a request, or are being made for one,
    /// are closed after it. Which addresses were good is forgotten, and so is the cache of the client's
    /// resolver.
    public func forgetNetwork() {
        configuration.resolver?.forgetAll()
        pipeline.transport.dialler.forgetAll()
        pipeline.transport.pool.closeWhenIdle(at: configuration.loop.now)
    }

    /// Opens connections to the URL's origin ahead of the first requests, which then need not wait for them.
    ///
    /// Idle connections, and those that another call of this method is making, count towards `count`. The
    /// missing ones are made as far as the client's limits have room without waiting. Each is available to
    /// requests as soon as it is made. The method returns when its own connections are made.
    ///
    /// - Parameters:
    ///   - url: A URL of the origin.
    ///   - count: How many connections should be idle. The client's limit on idle connections applies.
    /// - Throws: What a request would throw. Some of the connections may have been made by then.
    @concurrent
    public func prewarm(_ url: String, connections count: Int = 1) async throws {
        try await pipeline.prewarm(Request(.get, url), count: count)
    }

    /// Opens connections to the URL's origin ahead of the first requests. See
    /// ``prewarm(_:connections:)-(String,_)``.
    @concurrent
    public func prewarm(_ url: HTTPURL, connections count: Int = 1) async throws {
        try await pipeline.prewarm(Request(.get, url), count: count)
    }

    /// Opens connections for the URL of a request, at the addresses it allows. The request is not sent.
    ///
    /// - Parameters:
    ///   - request: Its URL, addresses and time limits apply.
    ///   - count: How many connections should be idle. The client's limit on idle connections applies.
    /// - Throws: What sending the request would throw. Some of the connections may have been made by then.
    @concurrent
    public func prewarm(_ request: Request, connections count: Int = 1) async throws {
        try await pipeline.prewarm(request, count: count)
    }
}
