internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The client's cookie store and HSTS store. Both are keyed by the name in the URL and never by an address.
struct CookiesAndHSTS: Sendable {
    private let cookies: (any CookieStore)?
    private let hsts: HSTSStore?

    /// `nil` if the client has neither store.
    init?(_ configuration: HTTPClient.Configuration) {
        guard configuration.cookies != nil || configuration.hsts != nil else { return nil }
        cookies = configuration.cookies
        hsts = configuration.hsts
    }

    /// The stores of a call that has a cookie store of its own.
    init(cookies: any CookieStore, hsts: HSTSStore?) {
        self.cookies = cookies
        self.hsts = hsts
    }

    /// Returns the request as it is to be sent: with an `https` URL if HSTS asks for that, before anything else is
    /// derived from the URL, and with its cookies.
    func prepared(_ request: Request) -> Request {
        guard case .success(var url) = request.target else { return request }
        var request = request
        if let upgraded = upgraded(url) {
            url = upgraded
            request.target = .success(upgraded)
        }
        if let cookies { request.headers.add(cookies: cookies.cookies(for: url)) }
        return request
    }

    /// Returns the request with an `https` URL if HSTS asks for that; without cookies.
    func upgraded(_ request: Request) -> Request {
        guard case .success(let url) = request.target, let upgraded = upgraded(url) else { return request }
        var request = request
        request.target = .success(upgraded)
        return request
    }

    /// Returns the `https` URL to use instead; `nil` if HSTS does not ask for one.
    func upgraded(_ url: HTTPURL) -> HTTPURL? {
        hsts?.upgrades(url, at: .now)
    }

    /// Stores the cookies and the HSTS policy of a response.
    func learn(from response: Response) {
        cookies?.take(response.headers, from: response.url)
        // Over plain HTTP anyone on the path could set it (RFC 6797, section 8.1); our TLS is always verified.
        if response.url.scheme == .https, response.transaction?.tls != nil || response.transaction == nil {
            hsts?.learn(from: response.headers, host: response.url.host, at: .now)
        }
    }
}
