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
    /// Addresses are those of the request, its map or the client's map; a resolver is not asked. Not part of
    /// the command are credentials of authenticators, pins and other checks of certificates, time limits,
    /// redirects and retries.
    ///
    /// - Throws: `HTTPError` if URL, addresses or fields are invalid.
    public func curlCommand(
        for request: Request,
        redacting redaction: Redaction = Redaction()
    ) throws(HTTPError) -> String {
        let (request, proxy) = try firstRequest(for: request)
        return try CurlCommand(request, redacting: redaction, over: CurlProxy(proxy: proxy)).text
    }
}
