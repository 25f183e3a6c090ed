internal import DirectIO

/// Sends calls through the client's interceptors. A call that is cancelled does not wait for them.
final class CallInterceptors: CallLayer {
    let interceptors: [Interceptor]
    let next: any CallLayer
    private let redirects: RedirectPolicy
    private let loop: EventLoop

    init(interceptors: [Interceptor], redirects: RedirectPolicy, loop: EventLoop, next: any CallLayer) {
        self.interceptors = interceptors
        self.redirects = redirects
        self.loop = loop
        self.next = next
    }

    func send(_ request: Request, original: Request, isContinued: Bool, log: CallLog?) async throws
        -> Response
    {
        let surviving = (original.redirects ?? redirects).extraCrossOriginFields
        let answer: Result<Response, any Error>
        do throws(BlockingWork.Abandoned) {
            // The time limits are not known yet: an interceptor may set them.
            answer = try await callersCode(until: .never, on: loop) {
                try await intercept(request, interceptors: self.interceptors[...], surviving: surviving) {
                    try await self.next.send($0, original: original, isContinued: isContinued, log: log)
                }
            }
        } catch {
            throw CancellationError()
        }
        return try answer.get()
    }
}

/// Sends a request through the interceptors and then to `end`.
func intercept(
    _ request: Request,
    interceptors: ArraySlice<Interceptor>,
    surviving: [String],
    end: @escaping Forward
) async throws -> Response {
    guard let next = interceptors.first else { return try await end(request) }
    return try await next(request) { returned in
        let kept = returned.withoutCopies(of: request, surviving: surviving)
        return try await intercept(
            kept,
            interceptors: interceptors.dropFirst(),
            surviving: surviving,
            end: end
        )
    }
}

extension Request {
    /// Returns the request that an interceptor has made of `shown`. If it is for another origin, without the fields that
    /// were only copied: an interceptor before it may have added a secret of the former origin.
    func withoutCopies(of shown: Request, surviving: [String]) -> Request {
        guard case .success(let url) = parsedURL, !shown.isFor(url.origin) else { return self }
        var kept = self
        kept.headers.dropCopies(of: shown.headers, hasBody: !body.isNone, surviving: surviving)
        return kept
    }
}
