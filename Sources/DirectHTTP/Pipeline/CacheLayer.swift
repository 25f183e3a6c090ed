internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Answers requests from the client's cache, or sends them on and stores their responses.
///
/// It adds the cookies of the store itself: to know the asker, the caller's own have to be told from them.
final class CacheLayer: Layer {
    private let cache: ResponseCache
    private let stores: CookiesAndHSTS?
    private let client: AskingClient
    private let fields: ClientFields
    private let redirects: RedirectPolicy
    private let loop: EventLoop
    private let next: any Layer

    init(
        _ configuration: HTTPClient.Configuration,
        cache: ResponseCache,
        stores: CookiesAndHSTS?,
        client: AskingClient,
        fields: ClientFields,
        next: any Layer
    ) {
        self.cache = cache
        self.stores = stores
        self.client = client
        self.fields = fields
        redirects = configuration.redirects
        loop = configuration.loop
        self.next = next
    }

    func send(_ request: Request, trail: Trail?, call: Call) async throws -> Response {
        let plain = stores?.upgraded(request) ?? request
        let url = try plain.checkedURL()
        let holder = client.cookieHolder()
        let asker = client.asker(of: plain, at: url, trail, cookies: holder)
        var request = stores?.withCookies(plain) ?? plain
        // If the program has changed the user of its store meanwhile, whose cookies these are is not known.
        if asker == nil || holder != client.cookieHolder() { request.bypassesCache = true }
        // The call may end first, and its report has the requests that its caller has waited for.
        let refresh = forward(request.withoutCallbacks, trail: trail, call: call.unobserved)
        let wait = DiskWait(
            within: call.limit,
            name: url.host.description,
            loop: loop,
            patience: DiskWait.cachePatience
        )
        return try await cache.send(
            request,
            defaults: fields.defaults(for: request, trail),
            asker: asker,
            wait: wait,
            refresh: { try await refresh($0.withoutCallbacks, $1) },
            forward: forward(request, trail: trail, call: call)
        )
    }

    /// Returns the function by which the cache sends on what it has made of a request.
    private func forward(_ request: Request, trail: Trail?, call: Call) -> CacheForward {
        { [self] changed, sent in
            var call = call
            call.sent = sent
            let crossing = fields.crossing(by: request.redirects ?? redirects)
            let hop = HopRequest(request, trail).rebuilt(as: changed, shown: [request], crossing)
            return try await next.send(hop.request, trail: hop.trail, call: call)
        }
    }
}

extension Request {
    /// The request without the functions that its call reports to, which may have ended.
    fileprivate var withoutCallbacks: Request {
        guard onInterim != nil || onUpload != nil || onDownload != nil else { return self }
        var request = self
        (request.onInterim, request.onUpload, request.onDownload) = (nil, nil, nil)
        return request
    }
}
