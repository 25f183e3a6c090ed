internal import DirectCore
internal import DirectIO
internal import DirectTransport

extension HTTPClient {
    /// Returns the URL that this client asks for in place of another one: with `https` where HSTS asks for
    /// it.
    package func upgraded(_ url: HTTPURL) -> HTTPURL {
        pipeline.fields.hsts?.upgrades(url, at: .now) ?? url
    }

    /// Whether an authenticator would be asked for the request's `Authorization` field.
    package func hasAuthenticator(for request: Request) -> Bool {
        let hop = pipeline.begun(request)
        guard let url = try? hop.request.checkedURL() else { return false }
        return hop.authenticator(for: url.origin, or: configuration.authenticators) != nil
    }

    /// Whether an authenticator would be asked for the proxy's credentials.
    package func hasAuthenticator(for proxy: Proxy) -> Bool {
        proxy.credentials == nil
            && ProxyAuthentication(configuration.proxyAuthenticators, for: proxy) != nil
    }

    /// Returns a request as this client would send it first: over `https` where HSTS asks for it, with the
    /// addresses of the request, its map or the client's map, with cookies, the client's fields and the
    /// settings of its connection; and the proxy that it goes over, if any. No resolver is asked.
    package func firstRequest(for request: Request) throws(HTTPError) -> (Request, over: Proxy?) {
        var request = pipeline.fields.upgraded(request.resolved(against: configuration.baseURL))
        let plan = try pipeline.plan(for: request)
        switch plan.way.target.route {
        case .unixSocket(let path): request.unixSocket = path
        case .chosen(let selection): request.addresses = selection.endpoints
        case .system, .literal, .byProxy: break
        }
        if let cookies = request.cookies ?? configuration.cookies {
            request = request.with(cookiesOf: cookies, beside: plan.message.defaults)
        }
        if request.tls == nil {
            var tls = configuration.tls
            if plan.way.isAnonymous { tls.clientIdentity = nil }
            request.tls = tls
        }
        request.encryptedClientHello = request.encryptedClientHello ?? configuration.encryptedClientHello
        if request.unixSocket == nil {
            request.localBinding = request.localBinding ?? configuration.localBinding
        }
        request.headers.complete(with: plan.message.defaults)
        return (request, plan.way.target.proxy?.proxy)
    }
}
