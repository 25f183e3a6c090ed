internal import DirectHTTP1
internal import DirectIO

/// What a client remembers of responses for later requests, all of it under the name that was asked for, and
/// none of it under an address: cookies, and who wants to be reached over TLS only.
struct Memory: Sendable {
    private let cookies: (any CookieStore)?
    private let hsts: HSTSStore?

    /// Nothing if the client is to remember nothing.
    init?(_ settings: HTTPClient.Settings) {
        guard settings.cookies != nil || settings.hsts != nil else { return nil }
        cookies = settings.cookies
        hsts = settings.hsts
    }

    /// What is remembered for a call whose cookies are not the client's.
    init(cookies: any CookieStore, hsts: HSTSStore?) {
        self.cookies = cookies
        self.hsts = hsts
    }

    /// The request as it is to be sent: over TLS if the name wants that, before anything else is decided by its
    /// URL, and with its cookies.
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

    /// The request with the URL that the name wants; without cookies.
    func upgraded(_ request: Request) -> Request {
        guard case .success(let url) = request.target, let upgraded = upgraded(url) else { return request }
        var request = request
        request.target = .success(upgraded)
        return request
    }

    /// The URL that the name wants instead, if it does.
    func upgraded(_ url: HTTPURL) -> HTTPURL? {
        hsts?.upgrades(url, at: .now)
    }

    /// Keeps what the response says.
    func learn(from response: Response) {
        cookies?.take(response.headers, from: response.url)
        // Over plain HTTP anybody could say it (RFC 6797, section 8.1); our TLS is always verified.
        if response.url.scheme == .https, response.transaction?.tls != nil || response.transaction == nil {
            hsts?.learn(from: response.headers, host: response.url.host, at: .now)
        }
    }
}
