internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// Authenticates with user name and password by the `Digest` scheme, without sending the password (RFC 7616).
///
/// Supports SHA-256, SHA-512-256 and, for old servers, MD5, their `-sess` variants, and the protections
/// `auth` and `auth-int`.
///
/// It remembers the nonces of each origin, and uses the latest that was accepted for further requests without
/// waiting for a challenge.
final class DigestAuthenticator: Authenticator {
    private let user: String
    private let password: String
    private let memories = Locked(Memories())

    private struct Memories {
        var all: [Origin: DigestMemory] = [:]
    }

    /// Creates an authenticator for one user.
    init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Returns an answer with the origin's latest nonce; `nil` if there is none yet.
    func authorization(for request: AuthenticationRequest) throws -> String? {
        let own = request.pending.use?.nonce
        let session = memories.withLock { $0.all[request.url.origin]?.next(own: own) }
        return try session.map { try answer(request, in: $0) }
    }

    /// Answers the first `digest` challenge whose algorithm is supported; `nil` if there is none, or if the
    /// password itself was refused.
    ///
    /// - Throws: ``AuthenticationError/bodyNotInMemory``.
    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) throws -> String? {
        guard let offered = DigestSession.best(of: challenges) else { return nil }
        let use = refused == nil ? nil : request.pending.use
        let session = memories.withLock {
            $0.all[request.url.origin, default: DigestMemory()].take(offered, after: use)
        }
        return try session.map { try answer(request, in: $0) }
    }

    private func answer(_ request: AuthenticationRequest, in session: DigestSession) throws -> String {
        let clientNonce = session.clientNonce()
        let answer = try session.answer(request, user: user, password: password, clientNonce: clientNonce)
        let use = session.use
        let origin = request.url.origin
        return request.pending.note(answer, use) { [memories] in
            memories.withLock { $0.all[origin]?.accept(use.nonce) }
        }
    }
}
