internal import DirectCore
internal import DirectTLS

/// An answer to a challenge of the scheme Digest, as RFC 7616 wants it.
struct DigestAnswer: Decodable, Sendable {
    private var user: String
    private var password: String
    private var realm: String
    private var nonce: String
    private var uri: String
    @Or<Get> private var method: String
    /// `nil`: the challenge names none, so it is MD5.
    private var algorithm: String?
    /// `nil`: the challenge names none, so the answer has the form of RFC 2069.
    private var qop: String?
    private var count: Int?
    private var opaque: String?
    /// Whether the name must be hashed.
    @Or<False> private var hashesUser: Bool
    /// Whether it is judged which parameters are quoted, and not what the answer is made of.
    @Or<False> private var isAboutForm: Bool

    private enum CodingKeys: String, CodingKey {
        case user, password, realm, nonce, uri, method, algorithm, qop, count = "nc", opaque
        case hashesUser = "userhash", isAboutForm = "form"
    }

    /// Compares the value of a field with credentials.
    func differences(from value: String?, body: [UInt8]) -> [Difference] {
        guard let value, value.lowercased().hasPrefix("digest ") else {
            return [Difference(what: "credentials", expected: "Digest", got: value ?? "none")].asLess
        }
        let got = Self.parameters(value.dropFirst("digest ".count))
        if let name = got.first(where: { one in got.count { $0.name == one.name } > 1 })?.name {
            return [Difference(what: name, expected: "once", got: "more often")]
        }
        return isAboutForm ? formDifferences(got) : contentDifferences(got, body: body)
    }

    private struct Parameter {
        var name: String
        var value: String
        var isQuoted: Bool
    }

    /// RFC 7616, section 3.4, the last two paragraphs.
    private func formDifferences(_ got: [Parameter]) -> [Difference] {
        let quoted = ["username", "realm", "nonce", "uri", "response", "cnonce", "opaque"]
        let bare = ["algorithm", "qop", "nc"]
        return got.flatMap { parameter in
            let wanted =
                quoted.contains(parameter.name) || !bare.contains(parameter.name) && parameter.isQuoted
            return Difference.between(
                "\(parameter.name) is quoted",
                expected: wanted,
                got: parameter.isQuoted
            )
        }
    }

    private func contentDifferences(_ got: [Parameter], body: [UInt8]) -> [Difference] {
        func value(_ name: String) -> String? { got.first { $0.name == name }?.value }
        var found = Difference.between("realm", expected: realm, got: value("realm"))
        found += Difference.between("nonce", expected: nonce, got: value("nonce"))
        found += Difference.between("uri", expected: uri, got: value("uri"))
        if let opaque { found += Difference.between("opaque", expected: opaque, got: value("opaque")) }
        found += Difference.between("qop", expected: qop ?? "none", got: value("qop") ?? "none")
        found += userDifferences(value)
        if qop != nil {
            let digits = value("nc") ?? "none"
            let isRight = digits.utf8.count == 8 && UInt32(digits, radix: 16) != nil
            found += Difference.between(
                "nc",
                expected: "eight digits",
                got: isRight ? "eight digits" : digits
            )
            if isRight, let count {
                found += Difference.between("nc", expected: count, got: Int(digits, radix: 16))
            }
            found += Difference.between("has cnonce", expected: true, got: !(value("cnonce") ?? "").isEmpty)
        }
        if let algorithm {
            found += Difference.between("algorithm", expected: algorithm, got: value("algorithm") ?? "none")
        }
        let wanted = response(cnonce: value("cnonce") ?? "", nc: value("nc") ?? "", body: body)
        return found + Difference.between("response", expected: wanted, got: value("response"))
    }

    /// The name comes hashed, in UTF-8, or in the form of RFC 8187, and never twice.
    private func userDifferences(_ value: (String) -> String?) -> [Difference] {
        if hashesUser {
            let found = Difference.between("userhash", expected: "true", got: value("userhash") ?? "none")
            return found
                + Difference.between("username", expected: hash("\(user):\(realm)"), got: value("username"))
        }
        guard let extended = value("username*") else {
            return Difference.between("username", expected: user, got: value("username"))
        }
        let isRight = extended.lowercased() == "utf-8''\(Self.percentEncoded(user))".lowercased()
        return Difference.between("username*", expected: user, got: isRight ? user : extended)
            + Difference.between(
                "username beside username*",
                expected: "none",
                got: value("username") ?? "none"
            )
    }

    private func hash(_ text: String) -> String { hash(Array(text.utf8)) }

    private func hash(_ bytes: [UInt8]) -> String {
        let name = (algorithm ?? "MD5").uppercased()
        let digest: MessageDigest =
            name.hasPrefix("SHA-512-256") ? .sha512To256 : name.hasPrefix("SHA-256") ? .sha256 : .md5
        return digest.digest(of: bytes).map(Hex.encode) ?? "not computed"
    }

    /// RFC 7616, sections 3.4.1 to 3.4.3; without `qop`, RFC 2069, section 2.1.2.
    private func response(cnonce: String, nc: String, body: [UInt8]) -> String {
        var secret = hash("\(user):\(realm):\(password)")
        if (algorithm ?? "").lowercased().hasSuffix("-sess") { secret = hash("\(secret):\(nonce):\(cnonce)") }
        let subject = hash("\(method):\(uri)" + (qop == "auth-int" ? ":\(hash(body))" : ""))
        guard let qop else { return hash("\(secret):\(nonce):\(subject)") }
        return hash("\(secret):\(nonce):\(nc):\(cnonce):\(qop):\(subject)")
    }

    /// The parameters of credentials, their names in lower case.
    private static func parameters(_ text: some StringProtocol) -> [Parameter] {
        var rest = Array(text.unicodeScalars)[...]
        var found: [Parameter] = []
        while !rest.isEmpty {
            rest = rest.drop { $0 == " " || $0 == "," || $0 == "\t" }
            let name = rest.prefix { $0 != "=" }
            rest = rest.dropFirst(name.count + 1)
            let isQuoted = rest.first == "\""
            var value = String.UnicodeScalarView()
            if isQuoted {
                rest = rest.dropFirst()
                while let scalar = rest.popFirst(), scalar != "\"" {
                    value.append(scalar == "\\" ? rest.popFirst() ?? scalar : scalar)
                }
            } else {
                value.append(contentsOf: rest.prefix { $0 != "," })
                rest = rest.drop { $0 != "," }
            }
            var title = String.UnicodeScalarView()
            title.append(contentsOf: name)
            let text = String(value)
            found.append(Parameter(name: String(title).lowercased(), value: text, isQuoted: isQuoted))
        }
        return found.filter { !$0.name.isEmpty }
    }

    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || (48...57).contains(byte))
            return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
        }.joined()
    }
}
