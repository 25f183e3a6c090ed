package import DirectCore
internal import DirectHTTP1

/// A user and the password.
package struct Login: Hashable, Sendable {
    fileprivate let user: Secret
    fileprivate let password: Secret

    /// Creates a login.
    package init(user: String, password: String) {
        self.user = Secret(user)
        self.password = Secret(password)
    }
}

/// Answers challenges with a user and a password, by the strongest scheme that the server offers: by Digest,
/// otherwise by Basic. Once it has answered an origin, it sends its answer to it in advance.
///
/// The scheme of a login is picked once for each origin, and a weaker one never replaces it: otherwise one
/// refused answer, or one challenge that was changed on the way, would send the password in the clear.
package final class LoginAuthenticator: Authenticator {
    private let find: @Sendable (Challenge, HTTPURL) -> Login?
    private let memory = Locked(Memory())

    private struct Memory {
        /// The last answer for each origin.
        var known: [Origin: Known] = [:]
        /// One authenticator for each login at an origin: two of them would count the uses of one nonce
        /// twice.
        var picked: [Place: Pick] = [:]
    }

    private struct Place: Hashable {
        let login: Login
        let origin: Origin
    }

    private struct Known {
        let challenge: Challenge
        let place: Place
    }

    private struct Pick {
        let isDigest: Bool
        let authenticator: any Authenticator

        init(_ login: Login, isDigest: Bool) {
            let (user, password) = (login.user.text, login.password.text)
            self.isDigest = isDigest
            authenticator =
                isDigest
                ? DigestAuthenticator(user: user, password: password)
                : BasicAuthenticator(user: user, password: password)
        }
    }

    /// Creates an authenticator.
    ///
    /// - Parameter find: Returns the login for a challenge to a request with this URL; `nil` if there is
    ///   none. It is called for each request.
    package init(_ find: @escaping @Sendable (Challenge, HTTPURL) -> Login?) {
        self.find = find
    }

    /// Returns the credentials for an origin that has been answered before; `nil` for any other.
    package func authorization(for request: AuthenticationRequest) async throws -> String? {
        let origin = request.url.origin
        guard let known = memory.withLock({ $0.known[origin] }) else { return nil }
        guard find(known.challenge, request.url) == known.place.login else {
            memory.withLock { $0.known[origin] = nil }
            return nil
        }
        let pick = memory.withLock { $0.picked[known.place] }
        return try await pick?.authenticator.authorization(for: request)
    }

    /// Answers the strongest challenge for which there is a login; `nil` if there is none, and if that answer
    /// was refused.
    package func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        let origin = request.url.origin
        for challenge in Self.byStrength(challenges) {
            guard let login = find(challenge, request.url) else { continue }
            let place = Place(login: login, origin: origin)
            guard let authenticator = authenticator(at: place, for: challenge) else { continue }
            let answer = try await authenticator.authorization(
                for: request,
                answering: [challenge],
                after: refused
            )
            if answer != nil {
                memory.withLock { $0.known[origin] = Known(challenge: challenge, place: place) }
            }
            return answer
        }
        return nil
    }

    /// The challenges that can be answered, the strongest first. A digest by an unknown algorithm has to be
    /// ignored (RFC 7616, section 3.3).
    private static func byStrength(_ challenges: [Challenge]) -> [Challenge] {
        challenges.filter { DigestSession($0) != nil } + challenges.filter { $0.scheme == "basic" }
    }

    /// The authenticator that answers the challenge; `nil` if the login has a stronger scheme at this place.
    private func authenticator(at place: Place, for challenge: Challenge) -> (any Authenticator)? {
        let isDigest = challenge.scheme == "digest"
        return memory.withLock { memory in
            if let pick = memory.picked[place], pick.isDigest || !isDigest {
                return pick.isDigest == isDigest ? pick.authenticator : nil
            }
            let pick = Pick(place.login, isDigest: isDigest)
            memory.picked[place] = pick
            return pick.authenticator
        }
    }
}
