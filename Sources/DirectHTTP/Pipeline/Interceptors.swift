/// Sends calls through the client's interceptors.
final class CallInterceptors: CallLayer {
    let interceptors: [Interceptor]
    let next: any CallLayer

    init(interceptors: [Interceptor], next: any CallLayer) {
        self.interceptors = interceptors
        self.next = next
    }

    func send(_ request: Request, original: Request, isContinued: Bool, log: CallLog?) async throws
        -> Response
    {
        try await intercept(request, interceptors: interceptors[...]) { request in
            try await self.next.send(request, original: original, isContinued: isContinued, log: log)
        }
    }
}

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
