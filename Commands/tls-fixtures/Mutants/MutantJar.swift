internal import DirectCore
internal import DirectHTTP

/// The mutant client's cookies: those of this package's jar, to which a switch tells something else than the
/// server has said, or from which it gives something else (RFC 6265bis).
struct MutantJar {
    private let mutation: Mutation?
    private let jar = CookieJar()

    init(_ mutation: Mutation?) { self.mutation = mutation }

    /// The value of Cookie, or `nil` if there is none.
    func field(for url: HTTPURL, at now: Int64) -> String? {
        let path = url.target.prefix { $0 != "?" }
        let others = mutation == .pathsByText ? path.indices.dropFirst().map { path[..<$0] } : []
        let origin = "\(url.scheme.rawValue)://\(url.authority)"
        let urls = [url] + others.compactMap { try? HTTPURL("\(origin)\($0)") }
        let texts = urls.compactMap { jar.fieldBytes(for: $0, at: UnixTime(seconds: now))?.latin1 }
        let cookies = texts.flatMap { $0.split(separator: "; ") }.reduce(into: [Substring]()) { all, cookie in
            if !all.contains(cookie) { all.append(cookie) }
        }
        return cookies.isEmpty ? nil : cookies.joined(separator: "; ")
    }

    /// Takes the cookies of a response.
    func take(_ values: [String], from url: HTTPURL, at now: Int64) {
        for value in values {
            var attributes = value.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
            var (pair, source) = (attributes.removeFirst(), url)
            change(&pair, &attributes, &source)
            var headers = HTTPHeaders()
            headers.add("Set-Cookie", bytes: ([pair] + attributes).joined(separator: ";").bytesOfField)
            jar.take(headers, from: source, at: UnixTime(seconds: now))
        }
    }

    private func change(_ pair: inout String, _ attributes: inout [String], _ source: inout HTTPURL) {
        let known = ["Secure", "Path", "Domain", "Max-Age", "Expires", "HttpOnly", "SameSite"]
        let keys = attributes.map { $0.nameAndValue.name.lowercased() }
        for index in attributes.indices.reversed() {
            let (name, text) = attributes[index].nameAndValue
            let value = text ?? ""
            switch (mutation, keys[index]) {
            case (.ignoresExpires, "expires"), (.ignoresMaxAge, "max-age"), (.ignoresSecure, "secure"),
                (.keepsExpiredCookies, "expires"), (.keepsExpiredCookies, "max-age"):
                attributes.remove(at: index)
            case (.datesInOneForm, "expires") where !value.isIMFDate: attributes.remove(at: index)
            case (.exactAttributes, _) where !known.contains(name): attributes.remove(at: index)
            case (.keepsHttpOnly, "httponly"), (.keepsSameSite, "samesite"): pair += ",\(attributes[index])"
            case (.keepsUnknownAttributes, let key) where !known.map({ $0.lowercased() }).contains(key):
                pair += ",\(attributes[index])"
            case (.dropsAllDots, "domain"): attributes[index] = "Domain=\(value.drop { $0 == "." })"
            case (.foreignCookies, "domain"): source = (try? HTTPURL("https://\(value)/")) ?? source
            case (.pathsGetSlash, "path") where !value.hasPrefix("/"): attributes[index] = "Path=/\(value)"
            case (.decodesPaths, "path"): attributes[index] = "Path=\(value.withoutEscapes)"
            default: break
            }
        }
        switch mutation {
        case .defaultPathIsRoot where !keys.contains("path"): attributes.append("Path=/")
        case .cookiesOfHostsForAll where !keys.contains("domain"): attributes.append("Domain=\(source.host)")
        case .cutsAtEquals: pair = pair.split(separator: "=").prefix(2).joined(separator: "=")
        case .cookiesAsUTF8: pair = String(decoding: pair.bytesOfField, as: UTF8.self)
        default: break
        }
    }
}

extension String {
    /// With each escape of two hexadecimal digits as the letter that it stands for.
    fileprivate var withoutEscapes: String {
        let parts = split(separator: "%", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts.first ?? "")) { text, part in
            let letter = UInt8(part.prefix(2), radix: 16).map { String(Unicode.Scalar($0)) }
            text += letter.map { $0 + part.dropFirst(2) } ?? "%\(part)"
        }
    }

    /// Whether a date has the length and the zone of the form that senders use.
    var isIMFDate: Bool { utf8.count == 29 && hasSuffix("GMT") }

    /// The time of a date in any form, in seconds since 1970.
    var cookieDate: Int64? { CookieDate.parse(utf8)?.seconds }
}

extension StringProtocol {
    /// What is before and behind the first equals sign. The value is `nil` if there is none.
    var nameAndValue: (name: String, value: String?) {
        let parts = split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0].withoutBlanks, parts.count > 1 ? parts[1].withoutBlanks : nil)
    }
}
