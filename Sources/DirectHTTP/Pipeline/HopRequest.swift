internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// One request of a call on its way through the layers, with all that they know of it.
///
/// An ``HTTPClient/Request`` is a value that any code can build, so it cannot tell where it came from. State
/// that belongs to the call or to one origin (the authenticator, the caller's addresses, whether an origin
/// was crossed) is therefore kept beside it and derived from the URLs of the hops. A request that
/// interceptors or other code of the caller's return is accepted through `rebuilt` only.
struct HopRequest: Sendable {
    /// The request as it is to be sent, without the client's default fields.
    ///
    /// Its authenticator is removed and kept in the trail, so that code that is given the request cannot take
    /// the authenticator to another origin.
    var request: Request
    /// `nil` as long as the call has crossed no origin and has no authenticator.
    private(set) var trail: Trail?
    /// The state that all requests of the call share.
    var call: Call
    /// The endpoints that failed before, which are avoided if there are others; `nil` if there are none.
    var detour: Detour?
    /// Records the requests that are sent for it, for the cache; `nil` without a cache.
    var sent: SentRequests?
    /// Knows whether what was really sent may be sent again; `nil` without network interceptors.
    var repeatability: Repeatability?
    /// Makes credentials for each further time that it is sent; `nil` if no authenticator made them.
    var credentials: RequestCredentials?

    /// The response to it, if it was sent before it came to the layers.
    let early: EarlyResponse?

    /// Makes the hop of the caller's request, which has not begun.
    ///
    /// - Parameter early: the response to the request, if it was sent already.
    init(_ request: Request, _ call: Call, answered early: Response? = nil) {
        self.request = request
        self.call = call
        self.early = early.map(EarlyResponse.init)
    }

    /// Returns the first request of its call as it is sent: over TLS where HSTS asks for it, with an
    /// authenticator in place of the URL's user.
    ///
    /// The settings of a client with a base URL are for its origin: at another one the call begins as if a
    /// redirect had led there, but with all that was set for it; so it does for a request of another client
    /// that a redirect has made. A call that continues another one's redirects has crossed to its origin
    /// already.
    func begun(by crossing: Crossing) -> HopRequest {
        var hop = with(crossing.fields.upgraded(request).introducingURLUser())
        guard trail == nil else { return hop }
        if hop.request.hasOptions, hop.request.authenticator != nil { hop.takeAuthenticator() }
        let isServersChoice = hop.request.isServersChoice
        let isElsewhere = crossing.fields.base.map { !hop.request.isFor($0) } ?? false
        guard isServersChoice || isElsewhere else { return hop }
        hop.trail = hop.changed { facts in
            let authenticator = facts.authenticator
            facts.leaveOrigin(crossing, byServer: isServersChoice)
            (facts.authenticator, facts.home) = (authenticator, nil)
        }
        return hop
    }

    /// Returns the authenticator for the origin of the request: its own, that of its call, or the client's.
    func authenticator(
        for origin: Origin,
        or clients: [Origin: any Authenticator]
    ) -> (any Authenticator)? {
        trail?.authenticator ?? request.authenticators?(origin) ?? clients[origin]
    }

    /// Returns the first request of a call that continues another one's redirects, as if it had crossed an
    /// origin.
    func continued(_ crossing: Crossing) -> HopRequest {
        var hop = with(request.introducingURLUser())
        if hop.request.hasOptions { hop.request.authenticator = nil }
        hop.trail = hop.changed { facts in
            facts.leaveOrigin(crossing, byServer: true)
            facts.home = nil
        }
        return hop
    }

    /// Returns the request so that copies of it can be told from others.
    var traced: HopRequest { with(request.traced) }

    /// The request with none of the client's default fields: it has all of its fields.
    var withAllFields: HopRequest {
        var hop = self
        hop.trail = changed { $0.hasAllFields = true }
        return hop
    }

    /// Whether there is an authenticator for the request besides those of the client.
    var isAuthenticated: Bool {
        request.hasOptions && request.authenticators != nil || trail?.authenticator != nil
    }

    private func with(_ request: Request) -> HopRequest {
        var hop = self
        hop.request = request
        return hop
    }
}

/// The response to a request that was sent before it came to the layers, for the first one that asks.
final class EarlyResponse: Sendable {
    private let response: Locked<Response?>

    init(_ response: Response) {
        self.response = Locked(response)
    }

    func take() -> Response? {
        response.withLock { response in
            defer { response = nil }
            return response
        }
    }
}

/// The steps that derive the next request from this one.
extension HopRequest {
    /// Returns the request that a redirect leads to.
    func redirected(_ next: NextHop, crossing: Crossing) -> HopRequest {
        var request = next.request
        request.addresses = nil
        return moved(to: next.url, request, crossing: next.crossesOrigins ? crossing : nil, byServer: true)
    }

    /// Returns a request that other code made from this one, reduced to what it may carry to its origin.
    ///
    /// Options that the code does not set are inherited, unless it has removed them from a copy. HSTS decides
    /// about its URL as about any other. If the URL is of another origin, fields that the code sets for it
    /// are kept; fields that are mere copies of those of requests for other origins are removed, as on a
    /// redirect.
    ///
    /// - Parameter shown: the requests that the code could copy from.
    func rebuilt(as other: Request, shown: [Request], _ crossing: Crossing) -> HopRequest {
        var former = with(crossing.fields.upgraded(request))
        former.dropOptionsRemoved(by: other, comparedTo: shown)
        var next = crossing.fields.completed(other)
        next.inheritOptions(of: former.request)
        // An invalid URL is reported when the request is sent.
        guard case .success(let url) = next.parsedURL else { return with(next) }
        // An invalid URL has crossed no origin: the call begins here, with the options that were set for it.
        guard case .success(let origin) = former.request.parsedURL.map(\.origin) else {
            next.addresses = next.addresses ?? former.request.addresses
            if let authenticator = former.trail?.authenticator, next.authenticator == nil {
                next.authenticator = authenticator
            }
            var hop = with(next)
            hop.trail = nil
            return hop.begun(by: crossing)
        }
        for copied in shown {
            next = next.withoutCopies(of: crossing.fields.upgraded(copied), surviving: crossing.surviving)
        }
        return former.moved(to: url, next, crossing: url.origin == origin ? nil : crossing, byServer: false)
    }

    /// Returns a request that code made after a redirect to a URL that is none of HTTP. It gets what a
    /// redirect to another origin would carry there, and nothing that was set for an origin.
    func restarted(as other: Request, _ crossing: Crossing) throws(HTTPError) -> HopRequest {
        var former = self
        if former.request.hasOptions { former.request.options.leaveOrigin() }
        try other.check(madeOf: former.request, for: .hop)
        former.request.headers.keepCrossOriginSafe(hasBody: false, surviving: crossing.surviving)
        var next = crossing.fields.completed(other)
        next = next.withoutCopies(of: crossing.fields.upgraded(request), surviving: crossing.surviving)
        next.headers.complete(with: former.request.headers)
        next.inheritOptions(of: former.request)
        // An invalid URL is reported when the request is sent.
        guard case .success(let url) = next.parsedURL else { return with(next) }
        return former.moved(to: url, next, crossing: crossing, byServer: false)
    }

    /// Returns the request at another URL, with the addresses that are for it.
    ///
    /// - Parameter crossing: the fields that may be sent along if the URL is of another origin; `nil` if it
    ///   is of the same.
    /// - Parameter byServer: whether a server has chosen the URL.
    private func moved(to url: HTTPURL, _ next: Request, crossing: Crossing?, byServer: Bool) -> HopRequest {
        var hop = with(next)
        if next.addresses == nil { hop.request.addresses = addresses(for: url) }
        if let crossing { hop.trail = changed { $0.leaveOrigin(crossing, byServer: byServer) } }
        if next.hasOptions, next.authenticator != nil { hop.takeAuthenticator() }
        return hop
    }

    /// Forgets the addresses and the authenticator that code has removed from a copy of each request that it
    /// could copy.
    private mutating func dropOptionsRemoved(by copy: Request, comparedTo shown: [Request]) {
        guard shown.allSatisfy(copy.isCopy) else { return }
        var facts = facts
        if copy.addresses == nil, shown.allSatisfy({ $0.addresses(for: copy) != nil }) {
            request.addresses = nil
            if facts.hasAddresses(for: copy) { facts.addresses = nil }
        }
        if copy.authenticator == nil, shown.allSatisfy({ $0.authenticator != nil }) {
            facts.authenticator = nil
        }
        if trail != nil { trail = Trail(facts) }
    }

    /// Returns the addresses that were set for this host and port, by the last request for it or by the
    /// caller.
    private func addresses(for url: HTTPURL) -> [Endpoint]? {
        if let addresses = request.addresses(for: url) { return addresses }
        guard let facts = trail?.facts, let home = facts.home, let addresses = facts.addresses else {
            return nil
        }
        return home.lends(addresses, to: url) ? addresses : nil
    }

    /// Moves the request's authenticator to the trail.
    private mutating func takeAuthenticator() {
        trail = changed { $0.authenticator = request.authenticator }
        request.authenticator = nil
    }

    private func changed(_ change: (inout Trail.Facts) -> Void) -> Trail {
        var facts = facts
        change(&facts)
        return Trail(facts)
    }

    private var facts: Trail.Facts {
        trail?.facts ?? Trail.Facts(home: try? request.parsedURL.get(), addresses: request.addresses)
    }
}

/// The part of a call's state that depends on the origins it has visited. A class, so that requests without
/// such state stay small.
final class Trail: Sendable {
    fileprivate struct Facts: Sendable {
        /// The URL of the caller's request; `nil` if other code had followed redirects before.
        var home: HTTPURL?
        /// The addresses that the caller set for that URL.
        var addresses: [Endpoint]?
        /// Whether it was a server that chose the present origin, and not the caller or its code.
        private(set) var isServersChoice = false
        /// The names of the client's own fields that may be sent although they are not known to be safe for
        /// other origins; `nil` before the first crossing, when all may be sent. Not reset by the way back
        /// either (CVE-2024-45336).
        private(set) var surviving: [String]?
        /// Whether the client adds no fields at all.
        var hasAllFields = false
        /// The authenticator of the current origin.
        var authenticator: (any Authenticator)?

        init(home: HTTPURL?, addresses: [Endpoint]?) {
            self.home = home
            self.addresses = addresses
        }

        /// Whether the caller's addresses hold for the place of the request.
        func hasAddresses(for request: Request) -> Bool {
            guard case .success(let url) = request.parsedURL, let home, let addresses else { return false }
            return home.lends(addresses, to: url)
        }

        /// Notes a crossing: the client's own fields are reduced and the authenticator is dropped.
        mutating func leaveOrigin(_ crossing: Crossing, byServer: Bool) {
            isServersChoice = byServer
            surviving = crossing.surviving
            authenticator = nil
        }
    }

    fileprivate let facts: Facts

    fileprivate init(_ facts: Facts) {
        self.facts = facts
    }

    /// The authenticator that the caller, or its code, has set for the origin of the request.
    var authenticator: (any Authenticator)? { facts.authenticator }

    /// Returns those of the client's own fields that may be sent. Those that describe a body go to another
    /// origin with a body only.
    func reduced(_ fields: HTTPHeaders, hasBody: Bool) -> HTTPHeaders {
        guard let surviving = facts.surviving else { return fields }
        var fields = fields
        fields.keepCrossOriginSafe(hasBody: hasBody, surviving: surviving)
        return fields
    }

    /// Whether the request has all of its fields, so that the client adds none.
    var hasAllFields: Bool { facts.hasAllFields }

    /// Whether a redirect from another origin led to the present one.
    var isServersChoice: Bool { facts.isServersChoice }

    /// Whether a redirect or an interceptor led to this URL, and not the caller: the client certificate is
    /// used only for the host and port of the caller's request.
    func isForeign(to url: HTTPURL) -> Bool {
        guard facts.surviving != nil else { return false }
        return facts.home.map { !$0.isSamePlace(as: url) } ?? true
    }
}

extension Request {
    /// Whether the request has neither options nor a user in its URL.
    var isPlain: Bool {
        if case .success(let url) = parsedURL, url.hasCredentials { return false }
        return !hasOptions
    }

    /// Moves user and password from the URL to an authenticator for the URL's origin.
    package func introducingURLUser() -> Request {
        guard case .success(let url) = parsedURL, let (user, password) = url.credentialBytes
        else { return self }
        var request = self
        request.parsedURL = .success(url.withoutCredentials)
        if request.authenticator == nil, !(user.isEmpty && password.isEmpty) {
            request.authenticator = StandardAuthenticator(BasicAuthenticator(user: user, password: password))
        }
        return request
    }
}
