internal import DirectCore
internal import DirectIO
internal import DirectTransport

extension HTTPClient {
    /// Returns the URL that this client asks for in place of another one: with `https` where HSTS asks for
    /// it.
    package func upgraded(_ url: HTTPURL) -> HTTPURL {
        pipeline.fields.hsts?.upgrades(url, at: .now) ?? url
    }

    /// Returns a request as this client would send it first: over `https` where HSTS asks for it, with the
    /// addresses of the request, its map or the client's map, with cookies, the client's fields and the
    /// settings of its connection. No resolver is asked.
    package func firstRequest(for request: Request) throws(HTTPError) -> Request {
        var request = pipeline.fields.upgraded(request.resolved(against: configuration.baseURL))
        let url = try request.checkedURL()
        if request.unixSocket == nil, request.addresses == nil {
            request.unixSocket = configuration.unixSockets[url.origin]
        }
        if request.unixSocket == nil, request.addresses == nil {
            let map = request.addressMap ?? StaticMap()
            request.addresses =
                map.endpoints(for: url.host, port: url.port)
                ?? configuration.addresses.endpoints(for: url.host, port: url.port)
        }
        if let stores = CookiesAndHSTS(cookies: request.cookies ?? configuration.cookies, hsts: nil) {
            request = stores.withCookies(request)
        }
        let fields = ClientFields(configuration)
        let crossing = fields.crossing(by: request.redirects ?? configuration.redirects)
        let trail = HopRequest.beginning(request, by: crossing).trail
        if request.tls == nil {
            var tls = configuration.tls
            if trail?.isForeign(to: url) == true { tls.clientIdentity = nil }
            request.tls = tls
        }
        request.encryptedClientHello = request.encryptedClientHello ?? configuration.encryptedClientHello
        if request.unixSocket == nil {
            request.localBinding = request.localBinding ?? configuration.localBinding
        }
        request.headers.complete(with: fields.defaults(for: request, trail))
        return request
    }
}
