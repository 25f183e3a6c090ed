public import DirectCore
public import DirectHTTP1
internal import DirectIO
public import DirectTransport

extension HTTPClient {
    /// A request: method, URL, header fields and body, with options that take precedence over the client's
    /// settings.
    public struct Request: Sendable {
        /// The method.
        public var method: HTTPMethod
        /// The header fields that the caller sets. The client adds its default fields and those that it
        /// generates, such as `Host`, when it sends the request.
        public var headers: HTTPHeaders
        /// The body.
        public var body: RequestBody
        /// The addresses to connect to, in order of preference, instead of asking a resolver. The URL still
        /// determines SNI, the certificate check and `Host`. A port here changes only the port that the
        /// client connects to.
        ///
        /// An empty list is an error; it never falls back to DNS.
        public var addresses: [Endpoint]?
        /// Maps hosts to addresses, for this request if it has no ``addresses``, and for all redirects that
        /// it follows. It takes precedence over ``HTTPClient/Configuration/addresses``. Hosts that are not in
        /// it are resolved as the client's settings say.
        public var addressMap: StaticMap? {
            get { optionsBox?.options.addressMap }
            set { options.addressMap = newValue }
        }
        /// The time limits that differ from ``HTTPClient/Configuration/timeouts``.
        public var timeouts: RequestTimeouts {
            get { optionsBox?.options.timeouts ?? RequestTimeouts() }
            set { options.timeouts = newValue }
        }
        /// The redirect policy; `nil` for the client's policy.
        public var redirects: RedirectPolicy? {
            get { optionsBox?.options.redirects }
            set { options.redirects = newValue }
        }
        /// The retry policy; `nil` for the client's policy.
        public var retries: RetryPolicy? {
            get { optionsBox?.options.retries }
            set { options.retries = newValue }
        }
        /// The hedging policy; `nil` for the client's policy. ``HedgingPolicy/off`` sends this request to one
        /// address at a time.
        public var hedging: HedgingPolicy? {
            get { optionsBox?.options.hedging }
            set { options.hedging = newValue }
        }
        /// Values of the program's own that travel with the request: to interceptors, observers and
        /// redirects. They are never sent.
        public var tags: RequestTags {
            get { optionsBox?.options.tags ?? RequestTags() }
            set { if !newValue.isEmpty || !tags.isEmpty { options.tags = newValue } }
        }
        /// Asked for addresses instead of ``HTTPClient/Configuration/resolver``, for this request and the
        /// redirects that it follows. `nil` means the client's. ``addresses`` and the maps come before it.
        public var resolver: (any Resolver)? {
            get { optionsBox?.options.resolver }
            set { if hasOptions || newValue != nil { options.resolver = newValue } }
        }
        /// The proxies for this request and the redirects that it follows, in place of
        /// ``HTTPClient/Configuration/proxy``. `nil`, the default, means the client's; `ProxySettings()`
        /// means none.
        ///
        /// A proxy with ``Proxy/credentials`` gets these, and one without those that
        /// ``HTTPClient/Configuration/proxyAuthenticators`` has for it. Requests over a proxy share
        /// connections only with those over an equal one, its credentials included.
        public var proxy: ProxySettings? {
            get { optionsBox?.options.proxy }
            set { if hasOptions || newValue != nil { options.proxy = newValue } }
        }
        /// Provides credentials for the origin of this URL only, and for no other origin that a redirect
        /// leads to; `nil` for the client's authenticator.
        public var authenticator: (any Authenticator)? {
            get { optionsBox?.options.authenticator }
            set { options.authenticator = newValue }
        }
        /// Finds the authenticator for the origin of each request of the call, redirects included, if
        /// ``authenticator`` is not for it. It knows whose credentials it has, so that none gets elsewhere.
        package var authenticators: (@Sendable (Origin) -> (any Authenticator)?)? {
            get { optionsBox?.options.authenticators }
            set { options.authenticators = newValue }
        }
        /// The cookie store for all requests of the call, redirects included; `nil` for the client's store.
        package var cookies: (any CookieStore)? {
            get { optionsBox?.options.cookies }
            set { options.cookies = newValue }
        }

        /// The URL, or the error of parsing its text, which is reported when the request is sent.
        var parsedURL: Result<HTTPURL, HTTPURLError>
        /// `nil` if no option is set: most requests set none, and a request is copied often.
        private(set) var optionsBox: OptionsBox?

        /// All options, to change some. To read one, use `optionsBox`: a copy of all takes 1,300 bytes, also
        /// in the frame of each function that is waiting.
        var options: Options {
            @inline(never) get { optionsBox?.options ?? Options() }
            @inline(never) set { optionsBox = OptionsBox(newValue) }
        }

        /// The time limits set for this request; `nil` for the client's limits. Unlike ``timeouts``, this
        /// makes no value for a request that sets none.
        var explicitTimeouts: RequestTimeouts? { optionsBox?.options.timeouts }

        /// Whether any option is set.
        var hasOptions: Bool { optionsBox != nil }

        /// The tags set for this request; `nil` if there are none.
        var explicitTags: RequestTags? { optionsBox?.options.tags }

        /// Takes from the request that code has been shown the options that the one it made of it, which is
        /// this one, does not set. Those of an origin are not taken for another one; an invalid URL has none.
        mutating func inheritOptions(of shown: Request) {
            guard let given = shown.optionsBox, given !== optionsBox else { return }
            var isSameOrigin = true
            if case .success(let former) = shown.parsedURL { isSameOrigin = isFor(former.origin) }
            options.inherit(given.options, isSameOrigin: isSameOrigin)
        }

        /// Returns the request so that copies of it can be told from requests that code builds anew. Only a
        /// request with options needs that, and one with addresses.
        var traced: Request {
            guard addresses != nil, !hasOptions else { return self }
            var request = self
            request.options = Options()
            return request
        }

        /// Whether this is a copy of the other one, whatever was changed in it. See ``traced``.
        func isCopy(of other: Request) -> Bool {
            guard let own = optionsBox, let others = other.optionsBox else { return false }
            return own.options.lineage == others.options.lineage
        }

        /// Throws if code has set an option in what it made of the request that it has been shown, and the
        /// client has read that option before.
        func check(madeOf shown: Request, for reader: OptionRule.Reader) throws(HTTPError) {
            guard let own = optionsBox, own !== shown.optionsBox else { return }
            let given = shown.options
            for rule in OptionRule.all where rule.reader < reader && rule.differs(own.options, from: given) {
                throw HTTPError(.request, .settings(.setTooLate(rule.name)))
            }
        }

        /// Holds the options by reference, so that a request stays small and cheap to copy.
        final class OptionsBox: Sendable {
            let options: Options

            fileprivate init(_ options: Options) {
                self.options = options
            }
        }

        /// Makes a request from a parsed URL.
        public init(
            _ method: HTTPMethod,
            _ url: HTTPURL,
            headers: HTTPHeaders = [:],
            body: RequestBody = .none
        ) {
            self.init(method, parsedURL: .success(url), headers: headers, body: body)
        }

        /// Makes a request from the text of a URL, or of a reference that is relative to
        /// ``HTTPClient/Configuration/baseURL``. An invalid URL is reported when the request is sent.
        public init(
            _ method: HTTPMethod,
            _ url: String,
            headers: HTTPHeaders = [:],
            body: RequestBody = .none
        ) {
            do throws(HTTPURLError) {
                self.init(method, parsedURL: .success(try HTTPURL(url)), headers: headers, body: body)
            } catch {
                self.init(method, parsedURL: .failure(error), headers: headers, body: body)
                if error == .notHTTP { options.reference = url }
            }
        }

        /// The URL. Use ``replacing(url:)-(String)`` to make a request with another URL.
        ///
        /// - Throws: ``HTTPURLError`` if the request was made from text that is not a valid URL.
        public var url: HTTPURL {
            get throws(HTTPURLError) { try parsedURL.get() }
        }

        private init(
            _ method: HTTPMethod,
            parsedURL: Result<HTTPURL, HTTPURLError>,
            headers: HTTPHeaders,
            body: RequestBody
        ) {
            self.method = method
            self.parsedURL = parsedURL
            self.headers = headers
            self.body = body
        }
    }
}

/// The short name within the package.
package typealias Request = HTTPClient.Request

/// Values of a program's own that travel with a request, one of each type.
///
/// ```swift
/// struct JobNumber { let value: Int }
/// request.tags[JobNumber.self] = JobNumber(value: 7)
/// ```
///
/// The client does not look at them and sends none of them. Retries, hedges and redirects keep them, and so
/// does a request that an interceptor builds anew, unless it sets a value of that type itself.
public struct RequestTags: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Makes an empty collection.
    public init() {}

    /// The value of this type; `nil` if there is none.
    public subscript<Value: Sendable>(type: Value.Type) -> Value? {
        get { values[ObjectIdentifier(type)] as? Value }
        set { values[ObjectIdentifier(type)] = newValue }
    }

    /// Whether there are no values.
    public var isEmpty: Bool { values.isEmpty }

    /// Returns the values with those of the other collection whose types have none here.
    func inheriting(_ other: RequestTags) -> RequestTags {
        var tags = self
        tags.values.merge(other.values) { own, _ in own }
        return tags
    }
}

extension Request {
    /// Returns the request with another URL.
    ///
    /// Options for the former URL are dropped: `addresses` if the host or the port changes; `authenticator`,
    /// `tls`, `insecureServerIdentity` and `unixSocket` if the origin changes. Everything else is kept,
    /// including the header fields, but for a `Host` of the former URL, as a network interceptor sees it.
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

    /// The request with https in place of http, and with all that was set for it.
    package var upgraded: HTTPClient.Request {
        var request = self
        request.parsedURL = parsedURL.map { $0.with(scheme: .https) }
        return request
    }

    /// Drops the options that must not be used for the new URL.
    private mutating func forget(_ former: HTTPURL, for url: HTTPURL) {
        if let addresses, !former.lends(addresses, to: url) { self.addresses = nil }
        if let host = headers["Host"] {
            let (_, own) = former.targetAndAuthority(of: method, isForwarded: false)
            if host.utf8.elementsEqual(own) { headers.remove("Host") }
        }
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
    @inline(never)
    fileprivate var ofRequest: HTTPError { HTTPError(.request, .url(self)) }

    @inline(never)
    fileprivate var ofAnyRequest: any Error { ofRequest }
}

extension HTTPURL {
    /// Whether the other URL has the same host and port. The default ports of the two schemes count as the
    /// same, for the step from `http` to `https`.
    package func isSamePlace(as other: HTTPURL) -> Bool {
        guard host == other.host else { return false }
        return port == other.port || hasDefaultPort && other.hasDefaultPort
    }

    /// Whether addresses that were set for this URL may be used for the other one. Addresses with a port may
    /// not be used for another port.
    func lends(_ addresses: [Endpoint], to other: HTTPURL) -> Bool {
        isSamePlace(as: other) && (port == other.port || addresses.allSatisfy { $0.port == nil })
    }

    private var hasDefaultPort: Bool { port == scheme.defaultPort }
}

extension Request {
    /// The addresses that hold for the place of the other request as well; `nil` if none do.
    func addresses(for other: Request) -> [Endpoint]? {
        guard case .success(let url) = other.parsedURL else { return nil }
        return addresses(for: url)
    }

    /// The addresses that hold for a URL as well; `nil` if none do.
    func addresses(for url: HTTPURL) -> [Endpoint]? {
        guard case .success(let own) = parsedURL, let addresses, own.lends(addresses, to: url) else {
            return nil
        }
        return addresses
    }
}

/// The method and the URL of a request, which errors of its response's body name. A class, so that a body
/// holds no more than a reference.
final class RequestLine: Sendable {
    let method: HTTPMethod
    let url: HTTPURL

    init(_ method: HTTPMethod, _ url: HTTPURL) {
        self.method = method
        self.url = url
    }
}
