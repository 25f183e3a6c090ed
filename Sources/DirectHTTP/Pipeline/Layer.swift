internal import DirectTransport

/// A layer of the pipeline around whole calls.
protocol CallLayer: AnyObject, Sendable {
    /// Sends the request through the layers inside this one, and returns the caller's response.
    ///
    /// - Parameters:
    ///   - original: the request that the caller made; an interceptor may have made another one of it.
    ///   - isContinued: whether the request continues redirects that other code has followed so far.
    ///   - log: records the call's events; `nil` without an observer.
    func send(_ request: Request, original: Request, isContinued: Bool, log: CallLog?) async throws
        -> Response
}

/// A layer of the pipeline between the redirects and the attempts.
///
/// The request and its trail are the two parts of a ``HopRequest``. They are passed apart, because to copy a
/// request costs about 300 instructions.
protocol Layer: AnyObject, Sendable {
    /// Sends one request of a call through the layers inside this one, and returns the response.
    func send(_ request: Request, trail: Trail?, call: Call) async throws -> Response
}

/// A layer of the pipeline below the attempts.
protocol NetworkLayer: AnyObject, Sendable {
    /// Sends one request to the network through the layers inside this one, and returns the response.
    ///
    /// - Parameter detour: the endpoints that failed before, which are avoided if there are others.
    func send(_ request: Request, trail: Trail?, call: Call, detour: Detour?) async throws -> Response
}
