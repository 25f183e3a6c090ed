internal import DirectCore
public import DirectHTTP1

/// Supplies the value of the `Authorization` field for one origin, or of `Proxy-Authorization` for one proxy,
/// in advance or in answer to a challenge.
///
/// Set one on a request (``HTTPClient/Request/authenticator``), or on the client for an origin
/// (``HTTPClient/Configuration/authenticators``) or a proxy
/// (``HTTPClient/Configuration/proxyAuthenticators``). After a redirect to another origin its answers are no
/// longer sent. Many tasks may call it concurrently.
///
/// If it throws an error, the call ends with ``HTTPError/Reason/authenticator(_:)``, or for a proxy with
/// ``ProxyError/authenticator(_:)``, which has that error.
public protocol Authenticator: Sendable {
    /// Returns the value to send in `Authorization` preemptively, without a challenge. It is called anew for
    /// each further time that a request is sent: for each retry, and for each hedge.
    ///
    /// - Parameter request: The request to authenticate.
    /// - Returns: The field's value, or `nil` to wait for a challenge.
    func authorization(for request: AuthenticationRequest) async throws -> String?

    /// Returns the value to send after the server has answered with 401, or the proxy with 407.
    ///
    /// It is called at most twice for each request, so that a wrong password is not retried for ever.
    ///
    /// - Parameter request: The request to authenticate.
    /// - Parameter challenges: The challenges of the response, in order.
    /// - Parameter refused: The `Authorization` value of the request that was refused; `nil` if it had none.
    /// - Returns: The field's value, or `nil` to hand the 401 to the caller. A proxy's 407 to a
    ///   `CONNECT` becomes ``ProxyError/refused(_:)``.
    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String?
}

/// The request that an ``Authenticator`` authenticates.
public struct AuthenticationRequest: Sendable {
    /// The request's method.
    public let method: HTTPMethod
    /// The URL, whose origin gets the credentials: that of the request or, for a proxy, the proxy's own.
    public let url: HTTPURL
    /// The request's body, or `nil` if it is streamed and not in memory.
    public let body: [UInt8]?
    /// The target in the request line, if a proxy gets the credentials; `nil` otherwise.
    var proxyTarget: String?
    /// The answers of this package's authenticators for the request.
    let pending = PendingAnswer()

    /// The target in the request line: path and query. For a proxy the whole URL of the request or, if the
    /// method is `CONNECT`, the host and the port to connect to.
    public var target: String { proxyTarget ?? url.target }
}

extension Authenticator where Self == StandardAuthenticator {
    /// Sends user name and password in the clear (RFC 7617); safe only over TLS.
    ///
    /// Requests fail because of ``AuthenticationError/invalidUserOrPassword`` if the user name contains a
    /// colon, or if either contains a control character.
    public static func basic(user: String, password: String) -> StandardAuthenticator {
        StandardAuthenticator(BasicAuthenticator(user: user, password: password))
    }

    /// Sends a fixed bearer token (RFC 6750).
    public static func bearer(_ token: String) -> StandardAuthenticator {
        StandardAuthenticator(BearerAuthenticator(token: token))
    }

    /// Sends bearer tokens from `source`, which is called again when the server refuses the last one.
    ///
    /// When several requests are refused concurrently, `source` is called once and all of them continue with
    /// the token that it returns.
    ///
    /// `source` may send requests with the same client. They are sent without this authenticator, because
    /// they would wait for the token that `source` is to return. A task-local value marks them, so do not
    /// send them from a detached task.
    public static func bearer(
        refreshing source: @escaping @Sendable () async throws -> String
    ) -> StandardAuthenticator {
        StandardAuthenticator(BearerAuthenticator(ahead: .zero) { BearerToken(try await source()) })
    }

    /// Sends bearer tokens from `source`, which is called again before the last one expires.
    ///
    /// In the last part of a token's life, of the length `ahead`, the next request starts the renewal.
    /// Requests go on with the old token until the new one is there, so none of them waits. Once a token has
    /// expired, or the server has refused it, all requests wait for one renewal. A renewal that fails before
    /// the expiry fails no request; it is tried again after half of the time that is left.
    ///
    /// What ``bearer(refreshing:)`` says about requests of `source` itself applies.
    ///
    /// - Parameters:
    ///   - ahead: The time before the expiry at which the renewal begins; at most half of a token's lifetime.
    ///   - source: Returns a new token and its lifetime.
    public static func bearer(
        renewedAhead ahead: Duration,
        _ source: @escaping @Sendable () async throws -> BearerToken
    ) -> StandardAuthenticator {
        StandardAuthenticator(BearerAuthenticator(ahead: ahead, source: source))
    }

    /// Authenticates with user name and password by the `Digest` scheme, without sending the password
    /// (RFC 7616).
    ///
    /// Supports SHA-256, SHA-512-256 and, for old servers, MD5, their `-sess` variants, and the protections
    /// `auth` and `auth-int`. The nonces of each origin are remembered, and the latest is used for further
    /// requests without waiting for a challenge.
    public static func digest(user: String, password: String) -> StandardAuthenticator {
        StandardAuthenticator(DigestAuthenticator(user: user, password: password))
    }
}

/// A bearer token, and how long it is valid.
public struct BearerToken: Sendable {
    let secret: Secret
    /// The time for which the token is valid, counted from the call of its source: the `expires_in` of OAuth
    /// 2.0. `nil` until the server refuses it.
    public let lifetime: Duration?

    /// Makes a token.
    public init(_ token: String, lifetime: Duration? = nil) {
        secret = Secret(token)
        self.lifetime = lifetime
    }
}
