public import DirectHTTP
internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

extension HTTPClient {
    /// Returns a curl command for a request as this client would send it first: with the client's fields,
    /// cookies, addresses and proxy, and over `https` where HSTS asks for it. See
    /// `HTTPClient.Request.curlCommand`.
    ///
    /// Addresses are those of the request, its map or the client's map; a resolver is not asked. Credentials
    /// of authenticators are named as missing. Not part of the command are what interceptors change, time
    /// limits, redirects and retries. For a request that a network interceptor has seen the command has what
    /// authenticators and interceptors have added.
    ///
    /// - Throws: `HTTPError` if URL, addresses or fields are invalid.
    public func curlCommand(
        for request: Request,
        redacting redaction: Redaction = Redaction()
    ) throws(HTTPError) -> String {
        let (first, proxy) = try firstRequest(for: request)
        var command = try CurlCommand(first, redacting: redaction, over: CurlProxy(proxy: proxy))
        if hasAuthenticator(for: request) { command.noteMissingCredentials(for: .server) }
        if let proxy, first.unixSocket == nil, hasAuthenticator(for: proxy) {
            command.noteMissingCredentials(for: .proxy)
        }
        return command.text
    }
}
