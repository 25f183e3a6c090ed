internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

extension Request {
    /// Returns the request with its cookies of a store, which is keyed by the name in the URL and never by an
    /// address.
    ///
    /// - Parameter fields: the client's own fields for it. Their `Cookie`, which is added to requests without
    ///   one, would be lost beside those of the store.
    func with(cookiesOf store: any CookieStore, beside fields: HTTPHeaders) -> Request {
        // RFC 9110, section 9.3.8: the response to TRACE discloses what it sends.
        guard method != .trace, case .success(let url) = parsedURL else { return self }
        let cookies = store.cookies(for: url)
        guard !cookies.isEmpty || headers.contains("Cookie") else { return self }
        var request = self
        if !headers.contains("Cookie") {
            for index in fields.indices where fields[index].name.lowercased() == "cookie" {
                request.headers.add(fieldAt: index, of: fields)
            }
        }
        request.headers.add(cookies: cookies)
        return request
    }
}

/// Sends requests with their cookies.
final class CookieLayer: Layer {
    private let store: any CookieStore
    private let fields: ClientFields
    private let next: any Layer

    init(_ store: any CookieStore, fields: ClientFields, next: any Layer) {
        self.store = store
        self.fields = fields
        self.next = next
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        var hop = copy hop
        hop.request = hop.request.with(cookiesOf: store, beside: fields.identifying(hop.trail))
        return try await next.send(hop)
    }
}

/// Stores the cookies and the HSTS policy of each response of the network, whatever becomes of it.
final class CookieLearning: Layer {
    private let cookies: (any CookieStore)?
    private let hsts: HSTSStore?
    private let loop: EventLoop
    private let next: any Layer

    init(_ configuration: HTTPClient.Configuration, cookies: (any CookieStore)?, next: any Layer) {
        self.cookies = cookies
        hsts = configuration.hsts
        loop = configuration.loop
        self.next = next
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        let response = try await next.send(hop)
        // Another client may have answered for the network from its cache, with cookies of long ago.
        guard response.cacheUse != .hit, response.cacheUse != .stale else { return response }
        await learn(from: response, until: hop.call.end)
        return response
    }

    /// A server that has not proved the name is believed no more than one over plain HTTP, which anyone on
    /// the path could be: it sets no HSTS policy (RFC 6797, section 8.1) and no `Secure` cookie, and replaces
    /// none.
    private func learn(from response: Response, until end: Instant) async {
        let (url, headers) = (response.url, response.headers)
        let isProved = response.unprovedIdentity == nil
        if url.scheme == .https, isProved { hsts?.learn(from: headers, host: url.host, at: .now) }
        guard let cookies else { return }
        let source = isProved ? url : url.with(scheme: .http)
        guard headers.index(of: "set-cookie") != nil, cookies is any BlockingCookieStore else {
            return cookies.take(headers, from: source)
        }
        try? await BlockingWork.shared.carryOut(until: end, on: loop) { cookies.take(headers, from: source) }
    }
}
