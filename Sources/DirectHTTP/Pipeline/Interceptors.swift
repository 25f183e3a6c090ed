/// Sends a request through the interceptors and then to `end`.
func intercept(
    _ request: Request,
    interceptors: ArraySlice<Interceptor>,
    end: @escaping Forward
) async throws -> Response {
    guard let next = interceptors.first else { return try await end(request) }
    return try await next(request) { request in
        try await intercept(request, interceptors: interceptors.dropFirst(), end: end)
    }
}
