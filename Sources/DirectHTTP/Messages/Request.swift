public import DirectCore
public import DirectHTTP1
internal import DirectIO
internal import DirectTransport

extension HTTPClient {
    /// A request: method, URL, header fields and body, and if you like the addresses to connect to.
    public struct Request: Sendable {
        /// The method.
        public var method: HTTPMethod
        /// The header fields. The client's default fields and those that it writes itself are not among them.
        public var headers: HTTPHeaders
        /// The body.
        public var body: RequestBody
        /// The addresses to connect to, in order of preference, instead of asking a resolver. The URL still
        /// determines SNI, the certificate check and `Host`. A port here changes only the port that is dialled.
        ///
        /// An empty list is an error; it never falls back to DNS.
        public var addresses: [Endpoint]?
        /// Maps hosts to addresses, for the request itself if it has no ``addresses``, and for all redirects that
        /// follow it. It comes before ``HTTPClient/Configuration/addresses``; hosts that are not in it are resolved
        /// as the client's settings say.
        public var addressMap: StaticMap? {
            get { rare?.options.addressMap }
            set { options.addressMap = newValue }
        }
        /// The time limits that differ from ``HTTPClient/Configuration/timeouts``.
        public var timeouts: RequestTimeouts {
            get { rare?.options.timeouts ?? RequestTimeouts() }
            set { options.timeouts = newValue }
        }
        /// The redirect policy; `nil` for the client's.
        public var redirects: RedirectPolicy? {
            get { rare?.options.redirects }
            set { options.redirects = newValue }
        }
        /// The retry policy; `nil` for the client's.
        public var retries: RetryPolicy? {
            get { rare?.options.retries }
            set { options.retries = newValue }
        }
        /// Provides credentials for the origin of this URL only, wherever redirects lead; `nil` for the client's.
        public var authenticator: (any Authenticator)? {
            get { rare?.options.authenticator }
            set { options.authenticator = newValue }
        }
        /// The cookie store for all requests of the call; `nil` for the client's.
        package var cookies: (any CookieStore)? {
            get { rare?.options.cookies }
            set { options.cookies = newValue }
        }

        var target: Result<HTTPURL, HTTPURLError>
        private var rare: Rare?

        /// The options that few requests set.
        struct Options: Sendable {
            var addressMap: StaticMap?
            /// Whether stored responses are ignored, even those that the origin would validate.
            var ignoresStoredResponses = false
            var timeouts: RequestTimeouts?
            var redirects: RedirectPolicy?
            var retries: RetryPolicy?
            var authenticator: (any Authenticator)?
            var cookies: (any CookieStore)?
            /// Expectation, upgrade and callbacks; `nil` if none is set.
            var exchange: ExchangeOptions.Box?
        }

        var options: Options {
            get { rare?.options ?? Options() }
            set { rare = Rare(newValue) }
        }

        /// `nil` for the client's limits, so that a request without its own pays nothing.
        var ownTimeouts: RequestTimeouts? { rare?.options.timeouts }

        /// Whether any option is set.
        var hasOptions: Bool { rare != nil }

        /// The cookie store of the request's own call; `nil` for the client's.
        var ownCookies: (any CookieStore)? { rare?.options.cookies }

        /// Holds the options by reference, so that a request is cheap to pass around.
        private final class Rare: Sendable {
            let options: Options

            init(_ options: Options) {
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
            self.init(method, .success(url), headers, body)
        }

        /// Makes a request from the text of a URL. An invalid URL is reported when the request is sent.
        public init(
            _ method: HTTPMethod,
            _ url: String,
            headers: HTTPHeaders = [:],
            body: RequestBody = .none
        ) {
            do throws(HTTPURLError) {
                self.init(method, .success(try HTTPURL(url)), headers, body)
            } catch {
                self.init(method, .failure(error), headers, body)
            }
        }

        /// The URL. Use ``replacing(url:)`` for a request with another one.
        ///
        /// - Throws: the fault of an invalid URL.
        public var url: HTTPURL {
            get throws(HTTPURLError) { try target.get() }
        }

        private init(
            _ method: HTTPMethod,
            _ target: Result<HTTPURL, HTTPURLError>,
            _ headers: HTTPHeaders,
            _ body: RequestBody
        ) {
            self.method = method
            self.target = target
            self.headers = headers
            self.body = body
        }
    }
}

/// The short name within the package.
package typealias Request = HTTPClient.Request
