internal import DirectCore
internal import DirectHTTP1
internal import DirectTLS

/// A `digest` challenge of a server, and how often it has been answered.
struct DigestSession: Sendable {
    private let algorithm: Algorithm
    private let realm: String
    let nonce: String
    private let opaque: String?
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
        challenges.lazy.compactMap { $0.scheme == "digest" ? DigestSession($0) : nil }.first
    }

    private init?(_ challenge: Challenge) {
        let name = challenge.parameters["algorithm"] ?? "MD5"
        let digest: MessageDigest
        switch name.lowercased() {
        case "md5", "md5-sess": digest = .md5
        case "sha-256", "sha-256-sess": digest = .sha256
        case "sha-512-256", "sha-512-256-sess": digest = .sha512To256
        default: return nil
        }
        // OpenSSL may be configured without the algorithm, for example without MD5.
        guard digest.digest(of: []) != nil, let realm = challenge.realm,
            let nonce = challenge.parameters["nonce"]
        else { return nil }
        algorithm = Algorithm(name: name, digest: digest, isSession: name.lowercased().hasSuffix("-sess"))
        self.realm = realm
        self.nonce = nonce
        opaque = challenge.parameters["opaque"]
        protections = HTTPHeaders([("qop", challenge.parameters["qop"] ?? "")]).elements(of: "qop").map {
            $0.lowercased()
        }
        hashesUser = challenge.parameters["userhash"]?.lowercased() == "true"
        isStale = challenge.parameters["stale"]?.lowercased() == "true"
        ownClientNonce = algorithm.isSession ? Self.makeClientNonce() : nil
    }

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
    ) throws(AuthenticationError) -> String {
        let target = request.target
        let protection = try protection(for: request)
        let paddedCount = Hex.encode(padded: count)

        var secret = try hash("\(user):\(realm):\(password)")
        if algorithm.isSession { secret = try hash("\(secret):\(nonce):\(clientNonce)") }
        var subject = "\(request.method):\(target)"
        if protection == "auth-int" { subject += ":" + (try hash(bytes: request.body ?? [])) }
        let proof: String
        if let protection {
            let middle = "\(nonce):\(paddedCount):\(clientNonce):\(protection)"
            proof = try hash("\(secret):\(middle):\(try hash(subject))")
        } else {
            // The form of RFC 2069, for servers that send no `qop`.
            proof = try hash("\(secret):\(nonce):\(try hash(subject))")
        }

        let name = hashesUser ? try hash("\(user):\(realm)") : user
        var fields = ["username=\(quoted(name))", "realm=\(quoted(realm))", "nonce=\(quoted(nonce))"]
        fields += ["uri=\(quoted(target))", "response=\"\(proof)\"", "algorithm=\(algorithm.name)"]
        if let opaque { fields.append("opaque=\(quoted(opaque))") }
        if let protection {
            fields += ["qop=\(protection)", "nc=\(paddedCount)", "cnonce=\"\(clientNonce)\""]
        } else if algorithm.isSession {
            fields.append("cnonce=\"\(clientNonce)\"")
        }
        if hashesUser { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private func protection(for request: AuthenticationRequest) throws(AuthenticationError) -> String? {
        if protections.contains("auth") || protections.isEmpty { return protections.isEmpty ? nil : "auth" }
        guard protections.contains("auth-int") else { return nil }
        guard request.body != nil else { throw .bodyNotInMemory }
        return "auth-int"
    }

    private func hash(_ text: String) throws(AuthenticationError) -> String {
        try hash(bytes: Array(text.utf8))
    }

    private func hash(bytes: [UInt8]) throws(AuthenticationError) -> String {
        guard let digest = algorithm.digest.digest(of: bytes) else { throw .unknownAlgorithm }
        return Hex.encode(digest)
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { result += "\\" }
            result.unicodeScalars.append(character)
        }
        return result + "\""
    }
}
