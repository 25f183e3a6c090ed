internal import DirectCore
internal import DirectHTTP1
internal import DirectTLS

/// A `digest` challenge of a server, and how often it has been answered.
struct DigestSession: Sendable {
    private let algorithm: Algorithm
    // Bytes, not text: the server compares with what it sent, which need not be UTF-8.
    private let realm: [UInt8]
    let nonce: [UInt8]
    private let opaque: [UInt8]?
    private let protections: [String]
    private let hashesUser: Bool
    /// Whether the server reports the nonce as stale: it did not reject the password.
    let isStale: Bool
    /// The number of requests that have been signed with the nonce.
    var count: UInt32 = 1
    /// The client nonce of all answers if the algorithm is a `-sess` one, else `nil`. The server makes the
    /// secret of the session once, with the client nonce of the first answer (RFC 7616, section 3.4.2).
    private let ownClientNonce: String?

    private struct Algorithm {
        /// The name in the server's spelling.
        var name: String
        var digest: MessageDigest
        var isSession: Bool
    }

    /// Returns a session for the first challenge whose algorithm is supported; servers list them by
    /// preference.
    ///
    /// Returns `nil` if there is none: a client that does not know the algorithm has to ignore the challenge
    /// (RFC 7616, section 3.3).
    static func best(of challenges: [Challenge]) -> DigestSession? {
        challenges.lazy.compactMap { DigestSession($0) }.first
    }

    /// Reads a challenge; `nil` if it is of another scheme, if its algorithm is not known, or if a parameter
    /// is missing.
    init?(_ challenge: Challenge) {
        guard challenge.scheme == "digest" else { return nil }
        let parameters = challenge.parameters
        let name = parameters["algorithm"] ?? "MD5"
        let digest: MessageDigest
        switch name.lowercased() {
        case "md5", "md5-sess": digest = .md5
        case "sha-256", "sha-256-sess": digest = .sha256
        case "sha-512-256", "sha-512-256-sess": digest = .sha512To256
        default: return nil
        }
        // OpenSSL may be configured without the algorithm, for example without MD5.
        guard digest.digest(of: []) != nil, let realm = challenge.values["realm"],
            let nonce = challenge.values["nonce"]
        else { return nil }
        algorithm = Algorithm(name: name, digest: digest, isSession: name.lowercased().hasSuffix("-sess"))
        self.realm = realm
        self.nonce = nonce
        opaque = challenge.values["opaque"]
        protections = HTTPHeaders([("qop", parameters["qop"] ?? "")]).elements(of: "qop").map {
            $0.lowercased()
        }
        hashesUser = parameters["userhash"]?.lowercased() == "true"
        isStale = parameters["stale"]?.lowercased() == "true"
        ownClientNonce = algorithm.isSession ? Self.makeClientNonce() : nil
    }

    /// The answer that was made last.
    var use: DigestUse { DigestUse(nonce: nonce, count: protections.isEmpty ? nil : count) }

    /// Returns the client nonce for the next answer.
    func clientNonce() -> String { ownClientNonce ?? Self.makeClientNonce() }

    /// Returns 128 random bits.
    private static func makeClientNonce() -> String {
        var random = SystemRandom()
        return (0..<2).map { _ in Hex.encode(padded: random.next()) }.joined()
    }

    /// Returns the value for `Authorization`.
    func answer(
        _ request: AuthenticationRequest,
        user: String,
        password: String,
        clientNonce: String
    ) throws(AuthenticationError) -> [UInt8] {
        let (user, target) = (Array(user.utf8), Array(request.target.utf8))
        let protection = try protection(for: request)
        let paddedCount = Hex.encode(padded: count)

        var secret = try hash(user, realm, Array(password.utf8))
        if algorithm.isSession { secret = try hash(secret, nonce, Array(clientNonce.utf8)) }
        var subject = [Array("\(request.method)".utf8), target]
        if protection == "auth-int" { subject.append(try hash(request.body ?? [])) }
        // Without `qop` the form of RFC 2069.
        let middle = protection.map { [paddedCount, clientNonce, $0].map { Array($0.utf8) } } ?? []
        let proof = try hash([secret, nonce] + middle + [hash(subject)])

        var fields: [(name: String, value: [UInt8])] = [
            ("username=", quoted(hashesUser ? try hash(user, realm) : user)), ("realm=", quoted(realm)),
            ("nonce=", quoted(nonce)), ("uri=", quoted(target)), ("response=", quoted(proof)),
            ("algorithm=", Array(algorithm.name.utf8)),
        ]
        if let opaque { fields.append(("opaque=", quoted(opaque))) }
        if let protection {
            fields += [("qop=", Array(protection.utf8)), ("nc=", Array(paddedCount.utf8))]
        }
        if protection != nil || algorithm.isSession {
            fields.append(("cnonce=", quoted(Array(clientNonce.utf8))))
        }
        if hashesUser { fields.append(("userhash=", Array("true".utf8))) }
        let list = fields.map { Array($0.name.utf8) + $0.value }
        return Array("Digest ".utf8) + list.joined(separator: Array(", ".utf8))
    }

    private func protection(for request: AuthenticationRequest) throws(AuthenticationError) -> String? {
        if protections.contains("auth") || protections.isEmpty { return protections.isEmpty ? nil : "auth" }
        guard protections.contains("auth-int") else { return nil }
        guard request.body != nil else { throw .bodyNotInMemory }
        return "auth-int"
    }

    /// Returns the digest of the parts, with colons between them, in hexadecimal digits.
    private func hash(_ parts: [UInt8]...) throws(AuthenticationError) -> [UInt8] {
        try hash(parts)
    }

    private func hash(_ parts: [[UInt8]]) throws(AuthenticationError) -> [UInt8] {
        let text = Array(parts.joined(separator: [UInt8(ascii: ":")]))
        guard let digest = algorithm.digest.digest(of: text) else { throw .unknownAlgorithm }
        return Array(Hex.encode(digest).utf8)
    }

    private func quoted(_ text: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\""), backslash = UInt8(ascii: "\\")
        return [quote] + text.flatMap { $0 == quote || $0 == backslash ? [backslash, $0] : [$0] } + [quote]
    }
}
