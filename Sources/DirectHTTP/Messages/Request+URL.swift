internal import DirectCore
internal import DirectIO

extension Request {
    /// Returns the request with another URL.
    ///
    /// Options for the former URL are dropped: `addresses` if the host or the port changes; `authenticator`, `tls`,
    /// `insecureServerIdentity` and `unixSocket` if the origin changes. Everything else is kept, including the header fields.
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

    /// Changes the URL, as ``replacing(url:)-(HTTPURL)`` does. A method, because Swift has no setters beside getters that
    /// throw.
    public mutating func setURL(_ url: HTTPURL) {
        self = replacing(url: url)
    }

    /// Drops the options that must not be used for the new URL.
    private mutating func forget(_ former: HTTPURL, for url: HTTPURL) {
        if let addresses, !former.lends(addresses, to: url) { self.addresses = nil }
        guard hasOptions, former.origin != url.origin else { return }
        if authenticator != nil { authenticator = nil }
        leaveOrigin()
    }

    /// Takes from the other request the options that this one does not set, except those that belong to an origin.
    mutating func inheritOptions(of other: Request) {
        guard other.hasOptions else { return }
        let given = other.options
        var own = options
        own.addressMap = own.addressMap ?? given.addressMap
        own.timeouts = own.timeouts ?? given.timeouts
        own.redirects = own.redirects ?? given.redirects
        own.retries = own.retries ?? given.retries
        own.hedging = own.hedging ?? given.hedging
        if let tags = given.tags { own.tags = own.tags.map { $0.inheriting(tags) } ?? tags }
        own.resolver = own.resolver ?? given.resolver
        own.exchange = own.exchange ?? given.exchange
        // These belong to the call, whatever code builds its requests.
        own.bypassesCache = own.bypassesCache || given.bypassesCache
        if own.failedEndpoints.isEmpty { own.failedEndpoints = given.failedEndpoints }
        own.repeatability = given.repeatability ?? own.repeatability
        options = own
        inheritConnection(of: other)
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

    /// The same for a caller on the way of every request: with a concrete type it would need room for the error.
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
