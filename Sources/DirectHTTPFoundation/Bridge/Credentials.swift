internal import DirectCore
public import DirectHTTP
internal import DirectIO

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers a server's challenge with the user and password of a `URLCredential`: by Digest if the server offers it,
/// otherwise by Basic.
///
/// Like URLSession it waits for the first challenge. Once it has answered an origin, it sends the credential with
/// the following requests to that origin without a challenge.
public final class CredentialAuthenticator: Authenticator {
    private let find: @Sendable (Challenge, HTTPURL) -> URLCredential?
    private let memory = Locked(CookiesAndHSTS())

    private struct CookiesAndHSTS {
        /// The authenticators that answered an origin last.
        var known: [Origin: any Authenticator] = [:]
        /// One authenticator for each use of a credential: two of them would count the uses of one nonce twice.
        var made: [CredentialUse: any Authenticator] = [:]
    }

    /// Answers every challenge of every server with this credential.
    public init(_ credential: URLCredential) {
        let credential = SharedCredential(credential)
        find = { _, _ in credential.value }
    }

    /// Answers with the credential that the storage holds for the host in the URL, its port and the realm.
    public init(_ storage: URLCredentialStorage) {
        let storage = SharedStorage(storage)
        find = { challenge, url in storage.credential(for: challenge, url) }
    }

    /// Returns the `Authorization` field for an origin that has been answered before, or `nil` for any other.
    public func authorization(for request: AuthenticationRequest) async throws -> String? {
        try await memory.withLock { $0.known[request.url.origin] }?.authorization(for: request)
    }

    /// Returns the `Authorization` field that answers the challenges, or `nil` without a credential for them.
    public func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        let origin = request.url.origin
        if let known = memory.withLock({ $0.known[origin] }),
            let answer = try await known.authorization(for: request, answering: challenges, after: refused)
        {
            return answer
        }
        for scheme in ["digest", "basic"] {
            guard let challenge = challenges.first(where: { $0.scheme == scheme }),
                let credential = find(challenge, request.url),
                let use = CredentialUse(of: credential, by: scheme, at: origin)
            else { continue }
            let authenticator = authenticator(for: use)
            guard
                let answer = try await authenticator.authorization(
                    for: request,
                    answering: challenges,
                    after: refused
                )
            else { continue }
            memory.withLock { $0.known[origin] = authenticator }
            return answer
        }
        return nil
    }

    private func authenticator(for use: CredentialUse) -> any Authenticator {
        memory.withLock { memory in
            if let made = memory.made[use] { return made }
            let new = use.authenticator
            memory.made[use] = new
            return new
        }
    }
}

/// A user and a password in use for one scheme at one origin.
private struct CredentialUse: Hashable {
    private let user: Secret
    private let password: Secret
    private let scheme: String
    private let origin: Origin

    init?(of credential: URLCredential, by scheme: String, at origin: Origin) {
        guard let user = credential.user, let password = credential.password else { return nil }
        self.user = Secret(user)
        self.password = Secret(password)
        self.scheme = scheme
        self.origin = origin
    }

    /// A new authenticator for the scheme.
    var authenticator: any Authenticator {
        scheme == "digest"
            ? .digest(user: user.text, password: password.text)
            : .basic(user: user.text, password: password.text)
    }
}

extension CredentialAuthenticator: CustomStringConvertible, CustomReflectable {
    /// A description that never shows user and password.
    public var description: String { "CredentialAuthenticator(hidden)" }
    /// A mirror that never shows user and password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPClient.Configuration {
    /// Answers the origins for which the storage has credentials now. Origins that are added to it later are not
    /// looked up.
    public mutating func useCredentials(of storage: URLCredentialStorage) {
        let authenticator = CredentialAuthenticator(storage)
        for origin in storage.origins { authenticators[origin] = authenticator }
    }
}

extension URLCredentialStorage {
    /// The origins for which the storage has credentials.
    var origins: [Origin] {
        allCredentials.keys.compactMap(\.origin)
    }
}

// `URLCredential` is immutable, and thread-safe by its documentation, but not marked `Sendable` everywhere.
private struct SharedCredential: @unchecked Sendable {
    let value: URLCredential

    init(_ value: URLCredential) {
        self.value = value
    }
}

/// The storage is thread-safe by its documentation.
private struct SharedStorage: @unchecked Sendable {
    private let storage: URLCredentialStorage

    init(_ storage: URLCredentialStorage) {
        self.storage = storage
    }

    /// Compares the protection spaces here, because on Linux no two of them are equal (Swift 6.3.1).
    func credential(for challenge: Challenge, _ url: HTTPURL) -> URLCredential? {
        for (space, credentials) in storage.allCredentials where space.covers(challenge, url: url) {
            if let found = storage.defaultCredential(for: space) ?? credentials.first?.value { return found }
        }
        return nil
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
        default: return true
        }
    }
}
