public import DirectHTTP1
public import DirectIO

/// What to ask, of which name, and, when the caller knows better than the resolver, at which addresses.
public struct Request: Sendable {
    public var method: Method
    public var headers: Headers
    public var body: RequestBody
    /// Where to connect, in order of preference, instead of asking any resolver; the URL keeps deciding
    /// SNI, certificate check and `Host`. A port here changes only the port that is dialled.
    ///
    /// An empty list is an error, never a silent "use DNS".
    public var addresses: [Endpoint]?
    /// Where to connect for which hosts: for the request itself, if it has no `addresses`, and for every request
    /// that a redirect makes of it. It comes before the client's map; for hosts that are not in it the client
    /// knows what to do.
    public var addressMap: StaticMap? {
        get { rare?.options.addressMap }
        set { options.addressMap = newValue }
    }
    /// The limits of time that differ from the client's.
    public var timeouts: RequestTimeouts {
        get { rare?.options.timeouts ?? RequestTimeouts() }
        set { options.timeouts = newValue }
    }
    /// Instead of the client's.
    public var redirects: RedirectPolicy? {
        get { rare?.options.redirects }
        set { options.redirects = newValue }
    }
    /// Instead of the client's.
    public var retries: RetryPolicy? {
        get { rare?.options.retries }
        set { options.retries = newValue }
    }
    /// Answers when the server asks who we are; for this URL's origin only, wherever redirects lead.
    public var authenticator: (any Authenticator)? {
        get { rare?.options.authenticator }
        set { options.authenticator = newValue }
    }
    /// Instead of the client's, for all requests of the call.
    package var cookies: (any CookieStore)? {
        get { rare?.options.cookies }
        set { options.cookies = newValue }
    }

    var target: Result<HTTPURL, URLFault>
    private var rare: Rare?

    /// What few requests say.
    struct Options: Sendable {
        var addressMap: StaticMap?
        /// No stored response answers it, not even one that the origin confirms.
        var ignoresStoredResponses = false
        var timeouts: RequestTimeouts?
        var redirects: RedirectPolicy?
        var retries: RetryPolicy?
        var authenticator: (any Authenticator)?
        var cookies: (any CookieStore)?
        /// Expectations, upgrades and callbacks, if there are any.
        var exchange: ExchangeOptions.Box?
    }

    var options: Options {
        get { rare?.options ?? Options() }
        set { rare = Rare(newValue) }
    }

    /// `nil` for the client's, so that a request without any costs nothing.
    var ownTimeouts: RequestTimeouts? { rare?.options.timeouts }

    /// Whether it says anything of that.
    var hasOptions: Bool { rare != nil }

    /// The options in a place of their own, so that a request is cheap to pass around.
    private final class Rare: Sendable {
        let options: Options

        init(_ options: Options) {
            self.options = options
        }
    }

    /// A request whose URL is already parsed.
    public init(_ method: Method, _ url: HTTPURL, headers: Headers = [:], body: RequestBody = .none) {
        self.init(method, .success(url), headers, body)
    }

    /// A request by the text of a URL. A text that is no URL is reported when the request is sent.
    public init(_ method: Method, _ url: String, headers: Headers = [:], body: RequestBody = .none) {
        do throws(URLFault) {
            self.init(method, .success(try HTTPURL(url)), headers, body)
        } catch {
            self.init(method, .failure(error), headers, body)
        }
    }

    /// The URL, or what is wrong with its text. `replace(url:)` sets it.
    public var url: HTTPURL {
        get throws(URLFault) { try target.get() }
    }

    private init(
        _ method: Method,
        _ target: Result<HTTPURL, URLFault>,
        _ headers: Headers,
        _ body: RequestBody
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}
