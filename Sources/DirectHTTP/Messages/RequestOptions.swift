internal import DirectCore
internal import DirectIO
internal import DirectTransport
internal import Synchronization

extension Request {
    /// The options that most requests do not set. ``OptionRule/all`` says for each of them who may change it,
    /// and until when.
    struct Options: Sendable {
        /// The text of the URL if it is a relative reference, which a client's base URL makes a URL of.
        var reference: String?
        var addressMap: StaticMap?
        /// Whether stored responses are ignored, even for validation with the origin.
        var ignoresStoredResponses = false
        /// Whether no stored response is used and the response is not stored.
        var bypassesCache = false
        /// Whether content is decoded although the request has an `Accept-Encoding` of its own.
        var isAlwaysDecoded = false
        /// The endpoints that a retry policy avoids from the first attempt on.
        var failedEndpoints = FailedEndpoints()
        /// Notes what is really sent, for a caller that sends the request several times.
        var repeatability: Repeatability?
        var timeouts: RequestTimeouts?
        /// The part of the call's time that had passed before the request was sent on.
        var waited: Duration?
        /// Whether a server has chosen its URL: a redirect of another client's, whose transport is this one.
        var isServersChoice = false
        var redirects: RedirectPolicy?
        var retries: RetryPolicy?
        var hedging: HedgingPolicy?
        var tags: RequestTags?
        var authenticator: (any Authenticator)?
        /// Finds the authenticator for an origin, wherever redirects lead.
        var authenticators: (@Sendable (Origin) -> (any Authenticator)?)?
        var cookies: (any CookieStore)?
        /// The resolver that is asked instead of the client's.
        var resolver: (any Resolver)?
        /// The proxies that are used instead of the client's.
        var proxy: ProxySettings?
        /// `Expect: 100-continue`, the upgrade, the callbacks and the rates; `nil` if none is set. The
        /// transport takes them, as it takes the settings of the connection, by reference.
        var exchangeBox: ExchangeOptions.Box?
        /// The settings of its connection; `nil` if none is set.
        var connectionBox: ConnectionSettings.Box?
        /// The reason for the request to be a copy.
        private(set) var lineage = Lineage()

        var exchange: ExchangeOptions {
            @inline(never) get { exchangeBox?.options ?? ExchangeOptions() }
            @inline(never) set { exchangeBox = ExchangeOptions.Box(newValue) }
        }

        var connection: ConnectionSettings {
            @inline(never) get { connectionBox?.settings ?? ConnectionSettings() }
            @inline(never) set { connectionBox = ConnectionSettings.Box(newValue) }
        }

        /// Takes over the options of the request that code has been shown, if it made this one of it.
        ///
        /// A copy has what the code has left in it. A request that was built anew lacks what the code did not
        /// think of, and gets each option that it does not set itself.
        ///
        /// - Parameter isSameOrigin: whether both requests are for one origin.
        mutating func inherit(_ shown: Options, isSameOrigin: Bool) {
            let isCopy = lineage == shown.lineage
            for rule in OptionRule.all where rule.belongs == .toCall || !isCopy {
                if isSameOrigin || rule.belongs != .toOrigin { rule.inherit(into: &self, from: shown) }
            }
            lineage = shown.lineage
        }

        /// Drops the options that hold for one origin only.
        mutating func leaveOrigin() {
            for rule in OptionRule.all where rule.belongs == .toOrigin { rule.clear(&self) }
            if case .config = connection.encryptedClientHello { connection.encryptedClientHello = .required }
        }
    }

    /// Copies of one request have the same lineage, whatever was changed in them.
    struct Lineage: Equatable {
        private static let numbers = Atomic<UInt64>(0)
        private let number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

/// The rule for one option of a request when an interceptor, `decide` or a delegate makes another request
/// of it.
struct OptionRule: Sendable {
    typealias Options = Request.Options
    typealias Path<Value> = any WritableKeyPath<Options, Value> & Sendable

    /// The side that has the last word about an option.
    enum Belonging: Equatable { case toCall, toRequest, toOrigin }

    /// The place where an option is read. Code that runs later cannot change it any more.
    enum Reader: Int, Comparable {
        /// Once, when the call begins.
        case call
        /// For each hop, that is for the first request and each redirect.
        case hop
        /// For each request on the network.
        case sending

        static func < (left: Reader, right: Reader) -> Bool { left.rawValue < right.rawValue }
    }

    /// The option, as the property of ``HTTPClient/Request`` is called.
    let name: String
    let belongs: Belonging
    let reader: Reader
    /// Returns the value; `nil` if the option is not set.
    private let value: @Sendable (Options) -> (any Sendable)?
    private let set: @Sendable (inout Options, (any Sendable)?) -> Void
    /// Makes one value of the request's own and of the one to inherit.
    private let combine: @Sendable (_ own: any Sendable, any Sendable) -> any Sendable
    private let isSame: @Sendable (any Sendable, any Sendable) -> Bool

    /// An option that is `nil` unless it is set.
    ///
    /// - Parameter combine: makes one value of the request's own and of the one to inherit; by default the
    ///   own one counts.
    /// - Parameter isSame: tells values apart; for options that are not read before each request on the
    ///   network.
    private init<Value: Sendable>(
        _ name: String,
        _ path: Path<Value?>,
        _ belongs: Belonging,
        readBy reader: Reader = .sending,
        combine: (@Sendable (Value, Value) -> Value)? = nil,
        isSame: (@Sendable (Value, Value) -> Bool)? = nil
    ) {
        self.name = name
        self.belongs = belongs
        self.reader = reader
        value = { $0[keyPath: path] }
        set = { $0[keyPath: path] = $1 as? Value }
        self.combine = { own, other in
            if let combine, let own = own as? Value, let other = other as? Value {
                combine(own, other)
            } else {
                own
            }
        }
        self.isSame = { left, right in
            if let isSame, let left = left as? Value, let right = right as? Value {
                isSame(left, right)
            } else {
                false
            }
        }
    }

    /// An option that is set if it has another value than in a new request.
    private init<Value: Equatable & Sendable>(_ name: String, flag path: Path<Value>, _ belongs: Belonging) {
        self.name = name
        self.belongs = belongs
        reader = .sending
        let unset = Options()[keyPath: path]
        value = { $0[keyPath: path] == unset ? nil : $0[keyPath: path] }
        set = { $0[keyPath: path] = $1 as? Value ?? unset }
        combine = { own, _ in own }
        isSame = { $0 as? Value == $1 as? Value }
    }

    /// Takes the value of the second request, unless the first has one that comes before it.
    func inherit(into own: inout Options, from shown: Options) {
        guard let given = value(shown) else { return }
        let mine = belongs == .toCall ? nil : value(own)
        set(&own, mine.map { combine($0, given) } ?? given)
    }

    func clear(_ own: inout Options) {
        if value(own) != nil { set(&own, nil) }
    }

    /// Whether the first has another value than the second, and one of its own.
    func differs(_ own: Options, from shown: Options) -> Bool {
        guard let mine = value(own) else { return false }
        return value(shown).map { !isSame(mine, $0) } ?? true
    }

    /// The options of a request. A test fails if one is missing.
    static let all: [OptionRule] = [
        OptionRule("reference", \.reference, .toRequest),
        OptionRule("addressMap", \.addressMap, .toRequest),
        OptionRule("ignoresStoredResponses", flag: \.ignoresStoredResponses, .toCall),
        OptionRule("bypassesCache", flag: \.bypassesCache, .toCall),
        OptionRule("isAlwaysDecoded", flag: \.isAlwaysDecoded, .toCall),
        OptionRule("failedEndpoints", flag: \.failedEndpoints, .toCall),
        OptionRule("repeatability", \.repeatability, .toCall),
        OptionRule(
            "timeouts",
            \.timeouts,
            .toRequest,
            readBy: .call,
            combine: { $0.inheriting($1) },
            isSame: ==
        ),
        OptionRule("waited", \.waited, .toRequest),
        OptionRule("isServersChoice", flag: \.isServersChoice, .toRequest),
        OptionRule("redirects", \.redirects, .toRequest, readBy: .call, isSame: { $0.isSame(as: $1) }),
        OptionRule("retries", \.retries, .toRequest, readBy: .hop, isSame: { $0.isSame(as: $1) }),
        OptionRule("hedging", \.hedging, .toRequest, readBy: .call, isSame: { $0.isSame(as: $1) }),
        OptionRule("tags", \.tags, .toRequest, combine: { $0.inheriting($1) }),
        OptionRule("authenticator", \.authenticator, .toOrigin, readBy: .hop),
        OptionRule("authenticators", \.authenticators, .toCall),
        OptionRule("cookies", \.cookies, .toCall),
        OptionRule("resolver", \.resolver, .toRequest),
        OptionRule("proxy", \.proxy, .toRequest),
        OptionRule("expectsContinue", flag: \.exchange.expectsContinue, .toRequest),
        OptionRule("closes", flag: \.exchange.closes, .toRequest),
        OptionRule("upgrade", flag: \.exchange.upgrade, .toRequest),
        OptionRule("onInterim", \.exchange.onInterim, .toRequest),
        OptionRule("onUpload", \.exchange.onUpload, .toRequest),
        OptionRule("onDownload", \.exchange.onDownload, .toRequest),
        OptionRule("sendingRate", \.exchange.sendingRate, .toRequest),
        OptionRule("receivingRate", \.exchange.receivingRate, .toRequest),
        OptionRule("tls", \.connection.tls, .toOrigin),
        OptionRule("identity", \.connection.identity, .toOrigin),
        OptionRule("encryptedClientHello", \.connection.encryptedClientHello, .toRequest),
        OptionRule("unixSocket", \.connection.unixSocket, .toOrigin),
        OptionRule("local", \.connection.local, .toRequest),
        OptionRule("keepAlive", \.connection.keepAlive, .toRequest),
    ]
}

extension Request {
    /// Whether the response must come whole from the origin: no stored response is used, not even after
    /// validation. The new response is stored as usual.
    package var ignoresStoredResponses: Bool {
        get { optionsBox?.options.ignoresStoredResponses ?? false }
        set { if newValue != ignoresStoredResponses { options.ignoresStoredResponses = newValue } }
    }

    /// Whether content is decoded although the request has an `Accept-Encoding` of its own, which otherwise
    /// means that the caller decodes.
    package var isAlwaysDecoded: Bool {
        get { optionsBox?.options.isAlwaysDecoded ?? false }
        set { if newValue != isAlwaysDecoded { options.isAlwaysDecoded = newValue } }
    }
}

extension Request {
    /// The time that the call has already waited for the request of another one: its own has the rest of
    /// ``Timeouts/total``.
    package var waited: Duration? {
        get { optionsBox?.options.waited }
        set { if newValue != waited { options.waited = newValue } }
    }

    /// Whether a server has chosen its URL, in a call of another client that sends it by this one.
    var isServersChoice: Bool {
        get { optionsBox?.options.isServersChoice ?? false }
        set { if newValue != isServersChoice { options.isServersChoice = newValue } }
    }

    /// Whether the cache takes no part: no stored response is used, and the response is not stored.
    var bypassesCache: Bool {
        get { optionsBox?.options.bypassesCache ?? false }
        set { if newValue != bypassesCache { options.bypassesCache = newValue } }
    }

    /// The endpoints where earlier requests for the same have failed. A request with a retry policy avoids
    /// them.
    var failedEndpoints: FailedEndpoints {
        get { optionsBox?.options.failedEndpoints ?? FailedEndpoints() }
        set { options.failedEndpoints = newValue }
    }

    /// Notes what is really sent, for a caller that sends the request several times; `nil` for one that does
    /// not.
    var repeatability: Repeatability? {
        get { optionsBox?.options.repeatability }
        set { options.repeatability = newValue }
    }
}
