internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The cookie store and the HSTS store of a client or of one call. Both are keyed by the name in the URL and
/// never by an address.
struct CookiesAndHSTS: Sendable {
    private let cookies: (any CookieStore)?
    private let hsts: HSTSStore?

    /// `nil` if there is neither store.
    init?(cookies: (any CookieStore)?, hsts: HSTSStore?) {
        guard cookies != nil || hsts != nil else { return nil }
        self.cookies = cookies
        self.hsts = hsts
    }

    /// Returns the request as it is to be sent: with an `https` URL if HSTS asks for that, before anything
    /// else is derived from the URL, and with its cookies.
    func prepared(_ request: Request) -> Request {
        withCookies(upgraded(request))
    }

    /// Returns the request with an `https` URL if HSTS asks for that.
    func upgraded(_ request: Request) -> Request {
        guard let hsts, case .success(let url) = request.parsedURL,
            let upgraded = hsts.upgrades(url, at: .now)
        else { return request }
        var request = request
        request.parsedURL = .success(upgraded)
        return request
    }

    /// Returns the request with its cookies.
    func withCookies(_ request: Request) -> Request {
        // RFC 9110, section 9.3.8: the response to TRACE discloses what it sends.
        guard let cookies, request.method != .trace, case .success(let url) = request.parsedURL
        else { return request }
        var request = request
        request.headers.add(cookies: cookies.cookies(for: url))
        return request
    }

    /// Stores the cookies and the HSTS policy of a response.
    ///
    /// A server that has not proved the name is believed no more than one over plain HTTP, which anyone on
    /// the path could be: it sets no HSTS policy (RFC 6797, section 8.1) and no `Secure` cookie, and replaces
    /// none.
    func learn(from response: Response, until end: Instant, on loop: EventLoop) async {
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

extension ClientFields {
    /// Returns the request with an `https` URL if HSTS asks for that (RFC 6797, section 8.3).
    func upgraded(_ request: Request) -> Request {
        CookiesAndHSTS(cookies: nil, hsts: hsts)?.upgraded(request) ?? request
    }
}

extension ClientFields {
    /// Returns a request that code of the caller's has made, with the URL that it is for: a reference is
    /// relative to the client's base, and HSTS decides as about any other.
    func completed(_ request: Request) -> Request {
        upgraded(request.resolved(against: base).introducingURLUser())
    }
}

/// Sends requests with their cookies, and over TLS if HSTS asks for it.
final class CookieLayer: Layer {
    private let stores: CookiesAndHSTS
    private let next: any Layer

    init(stores: CookiesAndHSTS, next: any Layer) {
        self.stores = stores
        self.next = next
    }

    func send(_ request: Request, trail: Trail?, call: Call) async throws -> Response {
        try await next.send(stores.prepared(request), trail: trail, call: call)
    }
}

/// Stores the cookies and the HSTS policy of each response of the network, whatever becomes of it.
final class CookieLearning: NetworkLayer {
    private let stores: CookiesAndHSTS
    private let loop: EventLoop
    private let next: any NetworkLayer

    init(stores: CookiesAndHSTS, loop: EventLoop, next: any NetworkLayer) {
        self.stores = stores
        self.loop = loop
        self.next = next
    }

    func send(_ request: Request, trail: Trail?, call: Call, detour: Detour?) async throws -> Response {
        let response = try await next.send(request, trail: trail, call: call, detour: detour)
        await stores.learn(from: response, until: call.end, on: loop)
        return response
    }
}
