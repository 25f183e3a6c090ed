/// Authenticates by one of the schemes `Basic`, `Bearer` and `Digest`.
///
/// Make one by ``Authenticator/basic(user:password:)``, ``Authenticator/bearer(_:)``,
/// ``Authenticator/bearer(refreshing:)``, ``Authenticator/bearer(renewedAhead:_:)`` or
/// ``Authenticator/digest(user:password:)``.
public struct StandardAuthenticator: Authenticator {
    private let scheme: any Authenticator

    init(_ scheme: any Authenticator) {
        self.scheme = scheme
    }

    /// Returns the credentials, if the scheme knows them before a challenge.
    public func authorization(for request: AuthenticationRequest) async throws -> String? {
        try await scheme.authorization(for: request)
    }

    /// Answers a challenge of the scheme; `nil` if there is none, or if the server has refused the answer.
    public func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        try await scheme.authorization(for: request, answering: challenges, after: refused)
    }
}
