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
        to values: [String],
        schemes: [String],
        method: String,
        target: String,
        isAgain: Bool = false
    ) throws(MutantFault) -> String? {
        var order = schemes.isEmpty ? ["digest", "basic"] : schemes
        if mutation == .weakestScheme { order.reverse() }
        for scheme in order {
            for challenge in challenges(values) where challenge.scheme == scheme {
                if scheme == "basic", !isAgain {
                    let text = "\(user):\(password)"
                    guard text.utf8.allSatisfy({ $0 < 128 }) else { throw .left("Basic of it is ASCII") }
                    return "Basic \(Base64.encode(Array(text.utf8)))"
                }
                let isStale = challenge["stale"]?.lowercased() == "true" || mutation == .retriesStale
                if scheme == "digest", !isAgain || isStale,
                    let field = try digest(challenge, method, target)
                {
                    return field
                }
            }
        }
        return nil
    }

    private func challenges(_ values: [String]) -> [Challenge] {
        var found: [Challenge] = []
        for element in values.flatMap({ $0.splitOutsideQuotes(",") }) where !element.isEmpty {
            var parameter = element
            let head = element.prefix { $0 != "=" && $0 != "\"" }.withoutBlanks
            // A scheme stands alone or before a blank and a parameter; a name may have a blank behind it.
            if head == element || head.contains(" ") {
                let scheme = head.prefix { $0 != " " }
                found.append(Challenge(scheme: scheme.lowercased()))
                parameter = element.dropFirst(scheme.count).withoutBlanks
            }
            let (name, text) = parameter.nameAndValue
            guard !found.isEmpty, let text, let value = text.unquoted else { continue }
            let isRaw = mutation == .keepsQuotedPairs && text != value
            found[found.count - 1].parameters.append(
                (
                    mutation == .exactParameterNames ? name : name.lowercased(),
                    isRaw ? String(text.dropFirst().dropLast()) : value
                )
            )
        }
        return found
    }

    private func hash(of challenge: Challenge) throws(MutantFault) -> (String) -> String {
        let hash: MessageDigest
        switch challenge["algorithm"]?.lowercased() ?? "md5" {
        case "md5": hash = .md5
        case "sha-256": hash = .sha256
        case "sha-512-256": hash = .sha512To256
        default: throw .left("it does not know the algorithm")
        }
        return { text in
            let isPassword = mutation == .latin1Passwords && text.hasSuffix(":\(password)")
            let latin1 = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            let digest = hash.digest(of: isPassword ? latin1 : Array(text.utf8)) ?? []
            return digest.map(\.hexadecimal).joined()
        }
    }

    private mutating func digest(
        _ challenge: Challenge,
        _ method: String,
        _ target: String
    ) throws(MutantFault) -> String? {
        let names = challenge.parameters.map(\.name)
        guard Set(names).count == names.count, let realm = challenge["realm"], let nonce = challenge["nonce"]
        else { return nil }
        let digested = try hash(of: challenge)
        let offered = challenge["qop"]?.splitOutsideQuotes(",").map { $0.lowercased() } ?? ["auth"]
        let isKnown = mutation != .unknownQopFails || offered.allSatisfy { $0.hasPrefix("auth") }
        guard isKnown, offered.contains("auth") || mutation == .qopNotOffered else { return nil }
        let hasQop = challenge["qop"] != nil && mutation != .withoutQop
        let count = counts[nonce, default: 0] + 1
        counts[nonce] = count
        let digits = String(count, radix: 16)
        let padding = mutation == .shortCounts ? 0 : max(0, 8 - digits.count)
        let nc = String(repeating: "0", count: padding) + digits
        let cnonce = "0a4f113b\(count)"
        let path = mutation == .otherDigestTarget ? String(target.prefix { $0 != "?" }) : target
        let ends = [digested("\(user):\(realm):\(password)"), digested("\(method):\(path)")]
        let middle = hasQop ? [nonce, nc, cnonce, "auth"] : [nonce]
        let isHashed = challenge["userhash"]?.lowercased() == "true"
        let name = isHashed && mutation != .plainUser ? digested("\(user):\(realm)") : user
        var parts: [String] = []
        func quoted(_ name: String, _ value: String?) {
            let escaped = value?.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            let isBare = mutation == .quotesNothing && name == "cnonce"
            parts += [escaped.map { isBare ? "\(name)=\($0)" : "\(name)=\"\($0)\"" }].compactMap(\.self)
        }
        func bare(_ name: String, _ value: String?) {
            let isQuoted = mutation == .quotesEverything
            parts += [value.map { isQuoted ? "\(name)=\"\($0)\"" : "\(name)=\($0)" }].compactMap(\.self)
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
        quoted("response", digested(([ends[0]] + middle + [ends[1]]).joined(separator: ":")))
        bare("algorithm", challenge["algorithm"])
        bare("qop", hasQop ? "auth" : nil)
        bare("nc", hasQop && mutation != .withoutCounts ? nc : nil)
        quoted("cnonce", hasQop && mutation != .withoutClientNonce ? cnonce : nil)
        quoted("opaque", challenge["opaque"])
        bare("userhash", isHashed ? "true" : nil)
        return "Digest \(parts.joined(separator: ", "))"
    }
}

extension UInt8 {
    fileprivate var hexadecimal: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
}

extension String {
    fileprivate var percentEncoded: String {
        utf8.map { byte in
            let isPlain = byte.isTokenByte && !Array("%*'".utf8).contains(byte)
            return isPlain ? String(Unicode.Scalar(byte)) : "%\(byte.hexadecimal.uppercased())"
        }
        .joined()
    }
}
