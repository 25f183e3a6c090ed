internal import DirectCore
public import DirectHTTP
internal import DirectIO

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers a server's challenge with the user and password of a `URLCredential`: by Digest if the server
/// offers it, otherwise by Basic. Where a password has answered by Digest, it is never sent by Basic.
///
/// Like URLSession it waits for the first challenge. Once it has answered an origin, it sends the credential
/// with the following requests to that origin without a challenge.
public final class CredentialAuthenticator: Authenticator {
    private let login: LoginAuthenticator

    /// Answers every challenge of every server with this credential.
    public init(_ credential: URLCredential) {
        let login = Login(credential)
        self.login = LoginAuthenticator { _, _ in login }
    }

    /// Answers with the credential that the storage holds for the host in the URL, its port and the realm.
    public convenience init(_ storage: URLCredentialStorage) {
        self.init { storage }
    }

    /// - Parameter storage: returns `nil` if the sessions that own the storage are gone.
    fileprivate init(_ storage: @escaping @Sendable () -> URLCredentialStorage?) {
        login = LoginAuthenticator { storage()?.login(for: $0, $1) }
    }

    /// Returns the `Authorization` field for an origin that has been answered before, or `nil` for any other.
    public func authorization(for request: AuthenticationRequest) async throws -> String? {
        try await login.authorization(for: request)
    }

    /// Returns the `Authorization` field that answers the challenges, or `nil` without a credential for them.
    public func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        try await login.authorization(for: request, answering: challenges, after: refused)
    }
}

extension Login {
    /// The user and the password of a credential; `nil` if it has none.
    fileprivate init?(_ credential: URLCredential) {
        guard let user = credential.user, let password = credential.password else { return nil }
        self.init(user: user, password: password)
    }
}

#if canImport(FoundationNetworking)
extension URLCredentialStorage {
    /// One for each storage, so that a nonce has one count of its uses in all sessions with the storage.
    private static let authenticators = WeakTable<CredentialAuthenticator>()

    /// Returns the authenticator of the sessions with this storage; `nil` if it has nothing for the origin.
    func authenticator(for origin: Origin) -> CredentialAuthenticator? {
        guard allCredentials.keys.contains(where: { $0.origin == origin }) else { return nil }
        return Self.authenticators.value(of: self) {
            CredentialAuthenticator { [weak self] in self }
        }
    }
}
#endif

extension CredentialAuthenticator: CustomStringConvertible, CustomReflectable {
    /// A description that never shows user and password.
    public var description: String { "CredentialAuthenticator(hidden)" }
    /// A mirror that never shows user and password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension URLCredentialStorage {
    /// Compares the protection spaces here, because on Linux no two of them are equal (Swift 6.3.1). So there
    /// several may be the same, and the storage does not tell which was set last: where they name different
    /// logins there is no answer. As in URLSession, a default credential counts before the others.
    fileprivate func login(for challenge: Challenge, _ url: HTTPURL) -> Login? {
        let covering = allCredentials.filter { $0.key.covers(challenge, url: url) }
        // On Linux the default stays the former object when its user gets another password.
        let defaults = covering.compactMap { space, credentials in
            defaultCredential(for: space).map { credentials[$0.user ?? ""] ?? $0 }
        }
        let found = defaults.isEmpty ? covering.values.flatMap(\.values) : defaults
        let logins = Set(found.compactMap(Login.init))
        return logins.count == 1 ? logins.first : nil
    }
}

extension URLProtectionSpace {
    /// The scheme, host and port of the protected server; `nil` for a proxy.
    fileprivate var origin: Origin? {
        guard let scheme = self.protocol, !isProxy() else { return nil }
        let host = host.contains(":") ? "[\(host)]" : host
        return try? HTTPURL("\(scheme)://\(host):\(port)/").origin
    }

    /// Whether the credentials of this space answer the challenge.
    fileprivate func covers(_ challenge: Challenge, url: HTTPURL) -> Bool {
        guard origin == url.origin, realm == challenge.realm else { return false }
        switch authenticationMethod {
        case NSURLAuthenticationMethodHTTPDigest: return challenge.scheme == "digest"
        case NSURLAuthenticationMethodHTTPBasic: return challenge.scheme == "basic"
        case NSURLAuthenticationMethodDefault: return true
        // A password for a form, NTLM or Negotiate is not meant for these schemes.
        default: return false
        }
    }
}
