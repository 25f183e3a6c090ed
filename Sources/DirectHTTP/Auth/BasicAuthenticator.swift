internal import DirectCore
internal import DirectHTTP1

/// Sends user name and password in the clear, as the `Basic` scheme does (RFC 7617).
struct BasicAuthenticator: Authenticator {
    private let credentials: String?

    init(user: String, password: String) {
        self.init(user: Array(user.utf8), password: Array(password.utf8))
    }

    /// Takes user name and password as bytes, since those in a URL need not be UTF-8.
    init(user: [UInt8], password: [UInt8]) {
        // RFC 7617, section 2: a server could not tell where a user name with a colon ends, and control
        // characters are not allowed in either.
        let isSound =
            !user.contains(UInt8(ascii: ":")) && (user + password).allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        credentials = isSound ? "Basic " + Base64.encode(user + [UInt8(ascii: ":")] + password) : nil
    }

    /// Returns the credentials without waiting for a challenge.
    ///
    /// - Throws: ``AuthenticationError/invalidUserOrPassword``.
    func authorization(for request: AuthenticationRequest) throws -> String? {
        guard let credentials else { throw AuthenticationError.invalidUserOrPassword }
        return credentials
    }

    /// Returns the credentials if a challenge names `basic` and they are not the ones that were refused.
    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) throws -> String? {
        guard let credentials else { throw AuthenticationError.invalidUserOrPassword }
        guard refused != credentials, challenges.contains(where: { $0.scheme == "basic" }) else { return nil }
        return credentials
    }
}

/// A reason why an ``Authenticator`` cannot produce credentials.
@nonexhaustive
public enum AuthenticationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The user name contains a colon, or user name or password contains a control character: no server could
    /// read it.
    case invalidUserOrPassword
    /// OpenSSL has refused to compute a digest with an algorithm that it supports. A server that offers only
    /// algorithms that are not supported gets no answer, and its response is the caller's.
    case unknownAlgorithm
    /// The server requires a digest of the body (`auth-int`), and the body is not in memory.
    case bodyNotInMemory

    /// A description of the error, without the credentials.
    public var description: String {
        switch self {
        case .invalidUserOrPassword:
            "a colon in the user name, or a control character in user name or password"
        case .unknownAlgorithm: "OpenSSL refuses to compute the digest"
        case .bodyNotInMemory: "the server asks for a digest of the body, which is not in memory"
        }
    }
}
