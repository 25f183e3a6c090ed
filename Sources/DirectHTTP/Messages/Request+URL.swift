internal import DirectCore
internal import DirectIO

extension Request {
    /// Returns the request with another URL.
    ///
    /// Options for the former URL are dropped: `addresses` if the host or the port changes; `authenticator`,
    /// `tls`, `insecureServerIdentity` and `unixSocket` if the origin changes. Everything else is kept,
    /// including the header fields.
    public func replacing(url: HTTPURL) -> HTTPClient.Request {
        var request = self
        if case .success(let former) = parsedURL { request.forget(former, for: url) }
        request.parsedURL = .success(url)
        return request
    }

    /// Returns the request with another URL, from text. See ``replacing(url:)``.
    ///
    /// - Throws: the fault of an invalid URL.
    public func replacing(url text: String) throws(HTTPURLError) -> HTTPClient.Request {
        replacing(url: try HTTPURL(text))
    }

    /// Changes the URL, as ``replacing(url:)-(HTTPURL)`` does. A method, because Swift has no setters beside
    /// getters that throw.
    public mutating func setURL(_ url: HTTPURL) {
        self = replacing(url: url)
    }

    /// Drops the options that must not be used for the new URL.
    private mutating func forget(_ former: HTTPURL, for url: HTTPURL) {
        if let addresses, !former.lends(addresses, to: url) { self.addresses = nil }
        if hasOptions, former.origin != url.origin { options.leaveOrigin() }
    }
}

extension Request {
    /// Returns the URL; throws if it is invalid.
    package func checkedURL() throws(HTTPError) -> HTTPURL {
        switch parsedURL {
        case .success(let url): return url
        case .failure(let fault): throw fault.ofRequest
        }
    }

    /// The same for a caller on the way of every request: with a concrete type it would need room for the
    /// error.
    @inline(__always)
    func checkedURLOfAnyError() throws -> HTTPURL {
        switch parsedURL {
        case .success(let url): return url
        case .failure(let fault): throw fault.ofAnyRequest
        }
    }
}

extension HTTPURLError {
    fileprivate var ofRequest: HTTPError { HTTPError(.request, .url(self)) }

    @inline(never)
    fileprivate var ofAnyRequest: any Error { ofRequest }
}
