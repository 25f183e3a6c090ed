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
/// offers it, otherwise by Basic.
///
/// Like URLSession it waits for the first challenge. Once it has answered an origin, it sends the credential
/// with the following requests to that origin without a challenge.
public final class CredentialAuthenticator: Authenticator {
    private let find: @Sendable (Challenge, HTTPURL) -> URLCredential?
    private let memory = Locked(Memory())

    private struct Memory {
        /// The last answer for each origin.
        var known: [Origin: Known] = [:]
        /// One authenticator for each use of a credential: two of them would count the uses of one nonce
        /// twice.
        var made: [CredentialUse: any Authenticator] = [:]
    }

    /// An answer that was given to an origin.
    private struct Known {
        let challenge: Challenge
        let use: CredentialUse
        let authenticator: any Authenticator
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

    #if canImport(FoundationNetworking)
    fileprivate init(_ storage: WeakStorage) {
        find = { challenge, url in storage.strong?.credential(for: challenge, url) }
    }
    #endif

    /// Returns the `Authorization` field for an origin that has been answered before, or `nil` for any other.
    public func authorization(for request: AuthenticationRequest) async throws -> String? {
        try await known(for: request.url)?.authorization(for: request)
    }

    /// Returns the `Authorization` field that answers the challenges, or `nil` without a credential for them.
    public func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        if let known = known(for: request.url),
            let answer = try? await known.authorization(for: request, answering: challenges, after: refused)
        {
            return answer
        }
        let origin = request.url.origin
        var failure: (any Error)?
        for scheme in ["digest", "basic"] {
            guard let challenge = challenges.first(where: { $0.scheme == scheme }),
                let use = CredentialUse(of: find(challenge, request.url), by: scheme, at: origin)
            else { continue }
            let authenticator = authenticator(for: use)
            do {
                guard
                    let answer = try await authenticator.authorization(
                        for: request,
                        answering: challenges,
                        after: refused
                    )
                else { continue }
                let known = Known(challenge: challenge, use: use, authenticator: authenticator)
                memory.withLock { $0.known[origin] = known }
                return answer
            } catch {
                // A server may offer Digest with an unknown algorithm, and Basic beside it.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// The authenticator that answered an origin last, if its credential is still the one for that challenge.
    private func known(for url: HTTPURL) -> (any Authenticator)? {
        let origin = url.origin
        guard let known = memory.withLock({ $0.known[origin] }) else { return nil }
        let use = CredentialUse(of: find(known.challenge, url), by: known.challenge.scheme, at: origin)
        guard use == known.use else {
            memory.withLock { $0.known[origin] = nil }
            return nil
        }
        return known.authenticator
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

    init?(of credential: URLCredential?, by scheme: String, at origin: Origin) {
        guard let user = credential?.user, let password = credential?.password else { return nil }
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

#if canImport(FoundationNetworking)
extension CredentialAuthenticator {
    private static let ofSessions = Locked<[(storage: WeakStorage, authenticator: CredentialAuthenticator)]>(
        [])

    /// Returns the authenticator of all sessions with this storage. There is one, so that a nonce has one
    /// count of its uses.
    static func ofSessions(with storage: URLCredentialStorage) -> CredentialAuthenticator {
        let wanted = WeakStorage(storage)
        return ofSessions.withLock { all in
            all.removeAll { $0.storage.isGone }
            if let known = all.first(where: { $0.storage.isSame(as: wanted) }) { return known.authenticator }
            let new = CredentialAuthenticator(wanted)
            all.append((wanted, new))
            return new
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

extension HTTPClient.Configuration {
    /// Answers the origins for which the storage has credentials now. Origins that are added to it later are
    /// not looked up.
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

#if canImport(FoundationNetworking)
/// A storage that its sessions own.
private final class WeakStorage: @unchecked Sendable {
    private weak let storage: URLCredentialStorage?

    init(_ storage: URLCredentialStorage) {
        self.storage = storage
    }

    var strong: SharedStorage? { storage.map(SharedStorage.init) }
    var isGone: Bool { storage == nil }

    func isSame(as other: WeakStorage) -> Bool { storage === other.storage }
}
#endif

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
