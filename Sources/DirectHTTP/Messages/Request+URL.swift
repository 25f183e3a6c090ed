internal import DirectIO

extension Request {
    /// Sets the URL.
    ///
    /// What was given for the former one's place stays there: `addresses`, if host or port are others, and
    /// `authenticator`, if the origin is. All else stays in the request, its fields too.
    public mutating func replace(url: HTTPURL) {
        if case .success(let former) = target { forget(former, for: url) }
        target = .success(url)
    }

    /// Sets the URL to what the text says, or leaves it and says what is wrong with the text.
    public mutating func replace(url text: String) throws(URLFault) {
        replace(url: try HTTPURL(text))
    }

    /// The same request for another URL, as `replace(url:)` makes it.
    public func replacing(url: HTTPURL) -> Request {
        var request = self
        request.replace(url: url)
        return request
    }

    /// The same request for the URL that the text says.
    public func replacing(url text: String) throws(URLFault) -> Request {
        replacing(url: try HTTPURL(text))
    }

    private mutating func forget(_ former: HTTPURL, for url: HTTPURL) {
        if let addresses, !former.lends(addresses, to: url) { self.addresses = nil }
        if hasOptions, authenticator != nil, former.origin != url.origin { authenticator = nil }
    }

    /// What this request says nothing of is as in the other one: but for what belongs to a place.
    mutating func inheritOptions(of other: Request) {
        guard other.hasOptions else { return }
        let given = other.options
        var own = options
        own.addressMap = own.addressMap ?? given.addressMap
        own.timeouts = own.timeouts ?? given.timeouts
        own.redirects = own.redirects ?? given.redirects
        own.retries = own.retries ?? given.retries
        own.exchange = own.exchange ?? given.exchange
        options = own
    }
}
