internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Answers requests from the client's cache, or sends them on and stores their responses.
///
/// It adds the cookies of the store itself: to know the asker, the caller's own have to be told from them.
final class CacheLayer: Layer {
    private let cache: ResponseCache
    private let client: AskingClient
    private let fields: ClientFields
    private let redirects: RedirectPolicy
    private let loop: EventLoop
    private let next: any Layer

    init(
        _ configuration: HTTPClient.Configuration,
        cache: ResponseCache,
        client: AskingClient,
        fields: ClientFields,
        next: any Layer
    ) {
        self.cache = cache
        self.client = client
        self.fields = fields
        redirects = configuration.redirects
        loop = configuration.loop
        self.next = next
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        let url = try hop.request.checkedURL()
        let holder = client.cookieHolder()
        let asker = client.asker(of: hop, at: url, cookies: holder)
        var hop = copy hop
        if let cookies = client.cookies {
            hop.request = hop.request.with(cookiesOf: cookies, beside: fields.identifying(hop.trail))
        }
        // If the program has changed the user of its store meanwhile, whose cookies these are is not known.
        if asker == nil || holder != client.cookieHolder() { hop.request.bypassesCache = true }
        // The call may end first, and its report has the requests that its caller has waited for.
        var unobserved = hop
        unobserved.request = hop.request.withoutCallbacks
        unobserved.call.log = nil
        let refresh = forward(unobserved)
        let wait = DiskWait(
            within: hop.call.limit,
            name: url.host.description,
            loop: loop,
            patience: DiskWait.cachePatience
        )
        return try await cache.send(
            hop.request,
            defaults: fields.defaults(for: hop.request, trail: hop.trail),
            asker: asker,
            wait: wait,
            refresh: { try await refresh($0.withoutCallbacks, $1) },
            forward: forward(hop)
        )
    }

    /// Returns the function by which the cache sends on what it has made of a request.
    private func forward(_ hop: HopRequest) -> CacheForward {
        { [self] changed, sent in
            let crossing = fields.crossing(by: hop.request.redirects ?? redirects)
            var next = hop.rebuilt(as: changed, shown: [hop.request], crossing)
            next.sent = sent
            return try await self.next.send(next)
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
