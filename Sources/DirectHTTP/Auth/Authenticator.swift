public import DirectHTTP1

/// Says who we are, to one origin: before being asked, or in answer to a challenge.
///
/// Give one to a request, or to a client for an origin (`settings.authenticators`). Redirects never take what
/// it says to another origin. It is asked by many tasks at a time.
public protocol Authenticator: Sendable {
    /// What to say in `Authorization` without having been asked; nothing to wait for a challenge.
    func authorization(for question: AuthenticationQuestion) async throws -> String?

    /// What to say after the server has refused; nothing to let the refusal stand.
    ///
    /// It is asked at most twice for one request, so that a wrong password is not tried for ever.
    func authorization(
        for question: AuthenticationQuestion,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String?
}

/// The request that somebody has to vouch for.
public struct AuthenticationQuestion: Sendable {
    /// The method.
    public let method: Method
    /// The URL, which names the origin.
    public let url: HTTPURL
    /// The body, if it lies in memory.
    public let body: [UInt8]?
}

extension Authenticator where Self == BasicAuthenticator {
    /// User name and password as they are (RFC 7617); safe over TLS only. A user name has no colon.
    public static func basic(user: String, password: String) -> BasicAuthenticator {
        BasicAuthenticator(user: user, password: password)
    }
}

extension Authenticator where Self == BearerAuthenticator {
    /// A token that whoever holds it may use (RFC 6750).
    public static func bearer(_ token: String) -> BearerAuthenticator {
        BearerAuthenticator(token: token)
    }

    /// A token from `source`, which is asked again when the server refuses the one that it gave last.
    ///
    /// However many requests are refused at a time, the source is asked once, and all of them go on with
    /// what it says.
    ///
    /// The source may use the client that the token is for: requests made inside it, in its task or in tasks that inherit
    /// its task-local values, are sent without this authenticator. A detached task is not inside.
    public static func bearer(
        refreshing source: @escaping @Sendable () async throws -> String
    ) -> BearerAuthenticator {
        BearerAuthenticator(source: source)
    }
}
