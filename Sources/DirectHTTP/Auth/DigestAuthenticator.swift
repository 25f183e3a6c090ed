internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// User name and password proved by a digest over a server's nonce (RFC 7616): SHA-256 and, for old servers,
/// MD5; with session variants, `auth` and `auth-int`.
///
/// It keeps the last challenge of each origin and answers it beforehand the next time.
public final class DigestAuthenticator: Authenticator {
    private let user: String
    private let password: String
    private let memories = Locked<[Origin: DigestMemory]>([:])

    /// Proves that we know the password of this user.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    public func authorization(for question: AuthenticationQuestion) throws -> String? {
        let session = memories.withLock { $0[question.url.origin]?.next() }
        return try session?.answer(question, user, password, clientNonce: Self.clientNonce())
    }

    public func authorization(
        for question: AuthenticationQuestion,
        answering challenges: [Challenge],
        after refused: String?
    ) throws -> String? {
        guard let offered = try DigestSession.best(of: challenges) else { return nil }
        let session = memories.withLock {
            $0[question.url.origin, default: DigestMemory()].take(
                offered,
                after: refused.flatMap(DigestUse.init)
            )
        }
        return try session?.answer(question, user, password, clientNonce: Self.clientNonce())
    }

    /// 128 bits that nobody can foresee.
    private static func clientNonce() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension Authenticator where Self == DigestAuthenticator {
    /// User name and password proved by a digest (RFC 7616).
    public static func digest(user: String, password: String) -> DigestAuthenticator {
        DigestAuthenticator(user: user, password: password)
    }
}
