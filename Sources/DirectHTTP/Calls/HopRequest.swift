internal import DirectHTTP1
internal import DirectIO

/// One request of a call, with what it may carry.
///
/// A `Request` is a value that any code may build anew, so it cannot tell where it came from. What belongs to the
/// call, or to a place on its way, stands beside it and is derived from the URLs walked. Every layer below the
/// interceptors of calls takes the two together; a request that code outside of the client returns gets in by
/// `rebuilt` only.
struct HopRequest: Sendable {
    /// As it is to be sent, but for the client's own fields.
    ///
    /// It has no authenticator. That stands beside it, so that code which is shown the request cannot take it to
    /// another origin.
    private(set) var request: Request
    /// nil as long as the call is where its caller sent it, and has no authenticator.
    private(set) var trail: Trail?

    /// The first request of a call.
    static func beginning(_ request: Request) -> HopRequest {
        // Almost every request has none. An initialiser that may change itself would copy the whole once more.
        guard request.hasOptions, request.authenticator != nil else { return HopRequest(request) }
        var hop = HopRequest(request)
        hop.takeAuthenticator()
        return hop
    }

    private init(_ request: Request) {
        self.request = request
        trail = nil
    }

    /// The first request of a call that continues another one's redirects: it has left its origin before.
    init(continuing request: Request, _ crossing: Crossing) {
        self = .beginning(request)
        var facts = facts
        facts.leaveOrigin(crossing)
        facts.home = nil
        trail = Trail(facts)
    }

    /// Answers for the origin of the request, if that asks who we are.
    var authenticator: (any Authenticator)? { trail?.facts.authenticator }

    /// Changes the fields, and nothing else.
    mutating func withHeaders(_ change: (inout Headers) -> Void) {
        change(&request.headers)
    }

    /// The same request over TLS, if the name wants that (RFC 6797, section 8.3).
    func upgraded(by memory: Memory?) -> HopRequest {
        memory.map { with($0.upgraded(request)) } ?? self
    }

    /// The same request with what the client remembers: over TLS if the name wants that, and with cookies.
    func prepared(by memory: Memory?) -> HopRequest {
        memory.map { with($0.prepared(request)) } ?? self
    }

    /// The same request without the expectation that the server has refused.
    func withoutExpectation(after status: Status) -> HopRequest? {
        request.withoutExpectation(after: status).map(with)
    }

    private func with(_ request: Request) -> HopRequest {
        var hop = self
        hop.request = request
        return hop
    }
}

/// What may go along where a call comes to another origin.
struct Crossing {
    /// Names of fields that the policy lets follow although they are not known to be harmless.
    let surviving: [String]
    let core: ClientCore

    /// The client's own fields, as far as they may.
    var clientFields: ContentDecoding { core.fields(surviving: surviving) }
}

/// The steps from one request to the next.
extension HopRequest {
    /// The request that a redirect asks for.
    func redirected(_ next: NextHop, _ crossing: Crossing) -> HopRequest {
        var request = next.request
        request.addresses = nil
        return moved(to: next.url, request, next.crossesOrigins ? crossing : nil)
    }

    /// What code outside of the client has made of the request, as it may be sent.
    ///
    /// What the code says nothing of stays as it was. Where it leads to another origin it may say what is meant
    /// for that; what it has only copied from requests for other origins stays behind, as on a redirect.
    ///
    /// - Parameter shown: the requests that the code could copy from.
    func rebuilt(as other: Request, shown: [Request], _ crossing: Crossing) -> HopRequest {
        var next = other.introducingURLUser()
        next.inheritOptions(of: request)
        // What is wrong with a URL is reported when the request is sent.
        guard case .success(let url) = next.target else { return with(next) }
        // A text that is no URL has led nowhere: the call begins here, with what was given for it.
        guard case .success(let origin) = request.target.map(\.origin) else {
            next.addresses = next.addresses ?? request.addresses
            if let authenticator, next.authenticator == nil { next.authenticator = authenticator }
            return HopRequest.beginning(next)
        }
        for copied in shown where !copied.isFor(url.origin) {
            next.headers.dropCopies(
                of: copied.headers,
                hasBody: !next.body.isNone,
                surviving: crossing.surviving
            )
        }
        return moved(to: url, next, url.origin == origin ? nil : crossing)
    }

    private func moved(to url: HTTPURL, _ next: Request, _ crossing: Crossing?) -> HopRequest {
        var hop = with(next)
        if next.addresses == nil { hop.request.addresses = addresses(for: url) }
        if let crossing {
            var facts = facts
            facts.leaveOrigin(crossing)
            hop.trail = Trail(facts)
        }
        if next.hasOptions, next.authenticator != nil { hop.takeAuthenticator() }
        return hop
    }

    /// The addresses that were given for this place: by the last request for it, or by the caller.
    private func addresses(for url: HTTPURL) -> [Endpoint]? {
        if case .success(let own) = request.target, let addresses = request.addresses,
            own.lends(addresses, to: url)
        {
            return addresses
        }
        guard let facts = trail?.facts, let home = facts.home, let addresses = facts.addresses else {
            return nil
        }
        return home.lends(addresses, to: url) ? addresses : nil
    }

    private mutating func takeAuthenticator() {
        var facts = facts
        facts.authenticator = request.authenticator
        request.authenticator = nil
        trail = Trail(facts)
    }

    private var facts: Trail.Facts {
        trail?.facts ?? Trail.Facts(home: try? request.target.get(), addresses: request.addresses)
    }
}

/// Where the requests of a call have been. In a place of its own, so that the others do not carry it about.
final class Trail: Sendable {
    fileprivate struct Facts: Sendable {
        /// Where the caller sent the call; nil if something else had led it before.
        var home: HTTPURL?
        /// The addresses that the caller gave for that place.
        var addresses: [Endpoint]?
        /// Whether a step has led to another origin. There is no way back (CVE-2024-45336).
        private(set) var hasCrossed = false
        private(set) var clientFields: ContentDecoding?
        var authenticator: (any Authenticator)?

        init(home: HTTPURL?, addresses: [Endpoint]?) {
            self.home = home
            self.addresses = addresses
        }

        mutating func leaveOrigin(_ crossing: Crossing) {
            hasCrossed = true
            clientFields = crossing.clientFields
            authenticator = nil
        }
    }

    fileprivate let facts: Facts

    fileprivate init(_ facts: Facts) {
        self.facts = facts
    }

    /// Those of the client's fields that may go along; `nil` for all of them.
    var clientFields: ContentDecoding? { facts.clientFields }

    /// Whether it was a redirect or an interceptor that led to this URL, and not the caller: the client's certificate is
    /// shown only where the caller sent the call.
    func isForeign(to url: HTTPURL) -> Bool {
        guard facts.hasCrossed else { return false }
        return facts.home.map { !$0.isSamePlace(as: url) } ?? true
    }
}

extension HTTPURL {
    /// Whether the other one is for the same host and port; from one scheme's default port to the other's, too,
    /// which is the step from `http` to `https`.
    func isSamePlace(as other: HTTPURL) -> Bool {
        guard host == other.host else { return false }
        return port == other.port || hasDefaultPort && other.hasDefaultPort
    }

    /// Whether addresses that were given for this URL are good for the other one. Those that name a port are not
    /// good for another port.
    func lends(_ addresses: [Endpoint], to other: HTTPURL) -> Bool {
        isSamePlace(as: other) && (port == other.port || addresses.allSatisfy { $0.port == nil })
    }

    private var hasDefaultPort: Bool { port == scheme.defaultPort }
}
