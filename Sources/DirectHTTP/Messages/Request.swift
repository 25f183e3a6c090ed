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
    /// Instead of the client's.
    public var timeouts: Timeouts?
    /// Instead of the client's.
    public var redirects: RedirectPolicy?
    /// Instead of the client's.
    public var retries: RetryPolicy?
    /// Answers when the server asks who we are; for this URL's origin only, wherever redirects lead.
    public var authenticator: (any Authenticator)?
    /// A redirect has led it to another origin at some time: no secret of the client's goes along any more.
    var isAwayFromHome = false
    var target: Result<HTTPURL, URLFault>

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

    /// The URL, or what is wrong with its text.
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
