/// Sends a request on its way and returns the response.
public typealias Forward = @Sendable (Request) async throws -> Response

/// Stands in the way of requests: may change them, answer them, send them several times or refuse them.
///
/// Of several, the first sees the request first and the response last. Errors and cancellation pass through
/// it like through any other function.
///
/// What the request that is sent on does not say (addresses, callbacks and other options) is as in the one that was
/// received. One that is sent on to another origin is like a redirect to there: fields that are copied and not
/// known to be harmless stay behind, and so do the client's own; what is written for that origin goes along.
public typealias Interceptor = @Sendable (_ request: Request, _ forward: Forward) async throws -> Response

/// Takes a request through the rest of the interceptors and then to the end of the way.
func intercept(
    _ request: Request,
    _ interceptors: ArraySlice<Interceptor>,
    _ end: @escaping Forward
) async throws -> Response {
    guard let next = interceptors.first else { return try await end(request) }
    return try await next(request) { request in
        try await intercept(request, interceptors.dropFirst(), end)
    }
}
