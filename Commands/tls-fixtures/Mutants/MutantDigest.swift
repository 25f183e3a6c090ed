internal import DirectCore
internal import DirectTLS

/// The mutant client's answers to challenges: Basic (RFC 7617) and Digest (RFC 7616).
struct MutantDigest {
    private let user: String
    private let password: String
    private let mutation: Mutation?
    private var counts: [String: Int] = [:]

    init(_ user: String, _ password: String, _ mutation: Mutation?) {
        (self.user, self.password, self.mutation) = (user, password, mutation)
    }

    private struct Challenge {
        var scheme: String
        var parameters: [(name: String, value: String)] = []

        subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
    }

    /// The value of Authorization, or `nil` if there is nothing to answer.
    ///
    /// - Parameter isAgain: Whether an answer has been refused already.
    mutating func answer(
        to values: [[UInt8]],
        schemes: [String],
        method: String,
        target: String,
        isAgain: Bool
    ) throws(MutantFault) -> String? {
        let challenges = values.flatMap { self.challenges($0.latin1) }
        var order = schemes.isEmpty ? ["digest", "basic"] : schemes
        if mutation == .weakestScheme { order.reverse() }
        for scheme in order {
            for challenge in challenges where challenge.scheme == scheme {
                if scheme == "basic", !isAgain {
                    guard user.utf8.allSatisfy({ $0 < 128 }), password.utf8.allSatisfy({ $0 < 128 }) else {
                        throw .left("it has no letters beyond ASCII for Basic")
                    }
                    return "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))"
                }
                let isFit =
                    !isAgain || challenge["stale"]?.lowercased() == "true" || mutation == .retriesStale
                if scheme == "digest", isFit, let field = try digest(challenge, method, target) {
                    return field
                }
            }
        }
        return nil
    }

    private func challenges(_ text: String) -> [Challenge] {
        var found: [Challenge] = []
        for element in text.splitOutsideQuotes(",") where !element.isEmpty {
            var parameter = element
            let head = element.prefix { $0 != "=" && $0 != "\"" }.withoutBlanks
            // A scheme stands alone or before a blank and a parameter; a name may have a blank behind it.
            if head == element || head.contains(" ") {
                let scheme = head.prefix { $0 != " " }
                found.append(Challenge(scheme: scheme.lowercased()))
                parameter = element.dropFirst(scheme.count).withoutBlanks
            }
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !found.isEmpty, let value = parts[1].withoutBlanks.unquoted else {
                continue
            }
            let name = parts[0].withoutBlanks
            let spelled = mutation == .exactParameterNames ? name : name.lowercased()
            found[found.count - 1].parameters.append((spelled, value))
        }
        return found
    }

    private mutating func digest(
        _ challenge: Challenge,
        _ method: String,
        _ target: String
    ) throws(MutantFault) -> String? {
        let names = challenge.parameters.map(\.name)
        guard Set(names).count == names.count else { return nil }
        guard let realm = challenge["realm"], let nonce = challenge["nonce"] else { return nil }
        let algorithm = challenge["algorithm"] ?? "MD5"
        let hash: MessageDigest
        switch algorithm.lowercased() {
        case "md5": hash = .md5
        case "sha-256": hash = .sha256
        case "sha-512-256": hash = .sha512To256
        default: throw .left("it does not know the algorithm \(algorithm)")
        }
        func digested(_ text: String) -> String {
            let isPassword = mutation == .latin1Passwords && text.hasSuffix(":\(password)")
            let bytes = isPassword ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : nil
            let digest = hash.digest(of: bytes ?? Array(text.utf8)) ?? []
            return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let offered = challenge["qop"]?.splitOutsideQuotes(",").map { $0.lowercased() }
        if let offered, mutation == .unknownQopFails, offered.contains(where: { !$0.hasPrefix("auth") }) {
            return nil
        }
        var qop = offered.map { _ in "auth" }
        if let offered, !offered.contains("auth"), mutation != .qopNotOffered { return nil }
        if mutation == .withoutQop { qop = nil }
        let count = counts[nonce, default: 0] + 1
        counts[nonce] = count
        let digits = String(count, radix: 16)
        let padding = String(repeating: "0", count: max(0, 8 - digits.count))
        let nc = mutation == .shortCounts ? digits : padding + digits
        let cnonce = "0a4f113b\(count)"
        let path = mutation == .otherDigestTarget ? String(target.prefix { $0 != "?" }) : target
        let secret = digested("\(user):\(realm):\(password)")
        let message = digested("\(method):\(path)")
        let response = digested(
            qop.map { "\(secret):\(nonce):\(nc):\(cnonce):\($0):\(message)" }
                ?? "\(secret):\(nonce):\(message)"
        )
        let isHashed = challenge["userhash"]?.lowercased() == "true"
        let name = isHashed && mutation != .plainUser ? digested("\(user):\(realm)") : user
        var parts: [String] = []
        func quoted(_ name: String, _ value: String) {
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            parts.append(
                "\(name)=\(mutation == .quotesNothing && name == "cnonce" ? value : "\"\(escaped)\"")"
            )
        }
        func bare(_ name: String, _ value: String) {
            parts.append(mutation == .quotesEverything ? "\(name)=\"\(value)\"" : "\(name)=\(value)")
        }
        if name.utf8.allSatisfy({ $0 < 128 }) || mutation == .latin1Users {
            quoted("username", name)
        } else {
            parts.append("username*=UTF-8''\(name.percentEncoded)")
            if mutation == .twoUsers { quoted("username", "x") }
        }
        quoted("realm", realm)
        if mutation == .repeatedParameters { quoted("realm", realm) }
        quoted("nonce", nonce)
        quoted("uri", path)
        quoted("response", response)
        if challenge["algorithm"] != nil { bare("algorithm", algorithm) }
        if let qop {
            bare("qop", qop)
            if mutation != .withoutCounts { bare("nc", nc) }
            if mutation != .withoutClientNonce { quoted("cnonce", cnonce) }
        }
        if let opaque = challenge["opaque"] { quoted("opaque", opaque) }
        if isHashed { parts.append("userhash=true") }
        return "Digest \(parts.joined(separator: ", "))"
    }
}

extension String {
    fileprivate var percentEncoded: String {
        utf8.map { byte in
            byte.isTokenByte && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "*") && byte != 39
                ? String(Unicode.Scalar(byte))
                : "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16).uppercased())"
        }.joined()
    }
}
