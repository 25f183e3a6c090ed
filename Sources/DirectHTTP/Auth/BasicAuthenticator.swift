internal import DirectHTTP1

/// User name and password as they are (RFC 7617).
public struct BasicAuthenticator: Authenticator {
    private let credentials: String?

    init(user: String, password: String) {
        self.init(user: Array(user.utf8), password: Array(password.utf8))
    }

    /// The two as bytes, since those in a URL need not be UTF-8.
    init(user: [UInt8], password: [UInt8]) {
        // Nobody could tell where such a name ends, or take it for what it is (RFC 7617, section 2).
        let isSound =
            !user.contains(UInt8(ascii: ":")) && (user + password).allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        credentials = isSound ? "Basic " + base64(user + [UInt8(ascii: ":")] + password) : nil
    }

    public func authorization(for question: AuthenticationQuestion) throws -> String? {
        guard let credentials else { throw AuthenticationFault.unfitUserOrPassword }
        return credentials
    }

    public func authorization(
        for question: AuthenticationQuestion,
        answering challenges: [Challenge],
        after refused: String?
    ) throws -> String? {
        guard let credentials else { throw AuthenticationFault.unfitUserOrPassword }
        guard refused != credentials, challenges.contains(where: { $0.scheme == "basic" }) else { return nil }
        return credentials
    }
}

/// Why an authenticator has nothing to say.
@nonexhaustive
public enum AuthenticationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A colon in the user name, or a control character in either: no server could read it.
    case unfitUserOrPassword
    /// The digest algorithm that the server asks for is not one that we know.
    case unknownAlgorithm
    /// The server asks for a digest of the body, which does not lie in memory.
    case bodyNotAtHand

    public var description: String {
        switch self {
        case .unfitUserOrPassword: "the user name has a colon, or user name or password a control character"
        case .unknownAlgorithm: "the server asks for an unknown digest algorithm"
        case .bodyNotAtHand: "the server asks for a digest of the body, which does not lie in memory"
        }
    }
}

/// Bytes as letters (RFC 4648, section 4).
func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let count = min(3, bytes.count - start)
        var bits: UInt32 = 0
        for offset in 0..<3 { bits = bits << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0) }
        for place in 0..<4 {
            let index = Int(bits >> UInt32(18 - 6 * place) & 63)
            text.append(place <= count ? letters[index] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
