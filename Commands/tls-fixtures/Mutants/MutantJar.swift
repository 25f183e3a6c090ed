internal import DirectCore

/// The mutant client's cookies (RFC 6265bis).
struct MutantJar {
    private struct Cookie {
        var name: String
        var value: String
        var domain: String
        var isHostOnly = true
        var path: String
        var isSecure = false
        var end: Int64?
        var number: Int
    }

    private let mutation: Mutation?
    private var cookies: [Cookie] = []
    private var count = 0

    init(_ mutation: Mutation?) { self.mutation = mutation }

    /// The value of Cookie, or `nil` if there is none.
    mutating func field(for url: HTTPURL, at now: Int64) -> String? {
        if mutation != .keepsExpiredCookies { cookies.removeAll { $0.end.map { $0 <= now } ?? false } }
        let host = url.cookieHost
        let path = String(url.target.prefix { $0 != "?" })
        let fitting = cookies.filter { cookie in
            let fits =
                cookie.isHostOnly && mutation != .cookiesOfHostsForAll
                ? cookie.domain == host : host.isWithin(cookie.domain)
            return fits && pathFits(path, cookie.path)
                && (!cookie.isSecure || url.scheme == .https)
        }
        .sorted { ($1.path.count, $0.number) < ($0.path.count, $1.number) }
        let texts = fitting.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    private func pathFits(_ path: String, _ own: String) -> Bool {
        guard path.hasPrefix(own) else { return false }
        return path == own || own.hasSuffix("/") || mutation == .pathsByText
            || path.dropFirst(own.count).first == "/"
    }

    mutating func take(_ values: [[UInt8]], from url: HTTPURL, at now: Int64) {
        for value in values {
            take(
                mutation == .cookiesAsUTF8 ? String(decoding: value, as: UTF8.self) : value.latin1,
                from: url,
                at: now
            )
        }
    }

    private mutating func take(_ text: String, from url: HTTPURL, at now: Int64) {
        guard !text.unicodeScalars.contains(where: { $0.value < 32 && $0.value != 9 || $0.value == 127 })
        else {
            return
        }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(\.withoutBlanks)
        guard let pair = parts.first else { return }
        let (name, value): (String, String)
        if let equals = pair.firstIndex(of: "=") {
            name = pair[..<equals].withoutBlanks
            let rest = pair[pair.index(after: equals)...]
            value = (mutation == .cutsAtEquals ? rest.prefix { $0 != "=" } : rest).withoutBlanks
        } else {
            (name, value) = ("", pair)
        }
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= 4096 else { return }
        let host = url.cookieHost
        count += 1
        var cookie = Cookie(
            name: name,
            value: value,
            domain: host,
            path: mutation == .defaultPathIsRoot ? "/" : url.defaultCookiePath,
            number: count
        )
        var domain = ""
        var ageEnd: Int64?
        for part in parts.dropFirst() where !part.isEmpty {
            let equals = part.firstIndex(of: "=") ?? part.endIndex
            let spelled = part[..<equals].withoutBlanks
            let isKnown = ["Secure", "Path", "Domain", "Max-Age", "Expires"].contains(spelled)
            let attribute = mutation == .exactAttributes && !isKnown ? "" : spelled.lowercased()
            let value = equals < part.endIndex ? part[part.index(after: equals)...].withoutBlanks : ""
            guard value.unicodeScalars.count <= 1024 else { continue }
            switch attribute {
            case "expires" where mutation != .ignoresExpires:
                let isRead = mutation != .datesInOneForm || value.isIMFDate
                guard isRead, let end = value.cookieDate else { break }
                cookie.end = min(end, now + Self.longest)
            case "max-age" where mutation != .ignoresMaxAge:
                let digits = value.hasPrefix("-") ? value.dropFirst() : value[...]
                guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { break }
                let age = min(Int64(value) ?? (value.hasPrefix("-") ? 0 : .max), Int64.max / 4)
                ageEnd = age <= 0 ? 0 : now + min(age, Self.longest)
            case "domain":
                domain = value.lowercased()
                if domain.hasPrefix(".") { domain.removeFirst() }
                if mutation == .dropsAllDots { domain = String(domain.drop { $0 == "." }) }
            case "path":
                cookie.path = value.hasPrefix("/") ? value : url.defaultCookiePath
                if mutation == .decodesPaths { cookie.path = cookie.path.withoutEscapes }
                if mutation == .pathsGetSlash, !value.hasPrefix("/") { cookie.path = "/\(value)" }
            case "secure": cookie.isSecure = mutation != .ignoresSecure
            case "httponly" where mutation != .keepsHttpOnly, "samesite" where mutation != .keepsSameSite:
                break
            case "httponly", "samesite": cookie.value += "; \(part)"
            default: if mutation == .keepsUnknownAttributes { cookie.value += "; \(part)" }
            }
        }
        if let ageEnd { cookie.end = ageEnd }
        guard accepts(&cookie, domain: domain, from: url, parts: parts) else { return }
        if let old = cookies.firstIndex(where: {
            $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
                && $0.isHostOnly == cookie.isHostOnly
        }) {
            cookie.number = cookies[old].number
            cookies.remove(at: old)
        }
        cookies.append(cookie)
    }

    private func accepts(_ cookie: inout Cookie, domain: String, from url: HTTPURL, parts: [String]) -> Bool {
        let host = url.cookieHost
        if !domain.isEmpty {
            if domain == host, !domain.contains(".") || url.host.address != nil {
                // The host itself, as if there were no attribute.
            } else {
                guard url.host.address == nil, domain.contains("."), !domain.isLikeSuffix else {
                    return false
                }
                guard host.isWithin(domain) || mutation == .foreignCookies else { return false }
                cookie.domain = domain
                cookie.isHostOnly = false
            }
        }
        if cookie.isSecure, url.scheme == .http { return false }
        let name = cookie.name.isEmpty ? cookie.value : cookie.name
        if name.lowercased().hasPrefix("__secure-") {
            guard cookie.isSecure, !cookie.name.isEmpty else { return false }
        }
        if name.lowercased().hasPrefix("__host-") {
            let hasPath = parts.contains { $0.lowercased().hasPrefix("path") }
            guard cookie.isSecure, cookie.isHostOnly, cookie.path == "/", hasPath, !cookie.name.isEmpty else {
                return false
            }
        }
        if !cookie.isSecure, url.scheme == .http {
            // A cookie that is not secure does not replace one that is.
            let isCovered = cookies.contains { old in
                old.isSecure && old.name == cookie.name
                    && (old.domain.isWithin(cookie.domain) || cookie.domain.isWithin(old.domain))
                    && pathFits(cookie.path, old.path)
            }
            if isCovered { return false }
        }
        return true
    }

    /// 400 days.
    private static let longest: Int64 = 400 * 86_400
}

extension HTTPURL {
    fileprivate var cookieHost: String {
        let text = "\(host)".lowercased()
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    fileprivate var defaultCookiePath: String {
        let path = target.prefix { $0 != "?" }
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            return "/"
        }
        return String(path[..<slash])
    }
}

extension String {
    /// Whether this may be what names are registered below, such as co.uk: it has no list of these.
    fileprivate var isLikeSuffix: Bool {
        let labels = split(separator: ".")
        return labels.count == 2 && labels[0].count <= 3 && labels[1].count == 2
    }

    /// Whether this host is the domain or one below it.
    fileprivate func isWithin(_ domain: String) -> Bool { self == domain || hasSuffix(".\(domain)") }

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

    /// The time of a date as cookies have it (section 5.1.1), in seconds since 1970.
    var cookieDate: Int64? {
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        var time: [Int]?
        var (day, month, year): (Int?, Int?, Int?)
        let tokens = unicodeScalars.split { scalar in
            let byte = scalar.value
            return byte == 9 || (0x20...0x2F).contains(byte) || (0x3B...0x40).contains(byte)
                || (0x5B...0x60).contains(byte) || (0x7B...0x7E).contains(byte)
        }
        for token in tokens.map({ String($0).lowercased() }) {
            let digits = token.prefix { $0.isASCII && $0.isNumber }
            let clock = token.split(separator: ":", omittingEmptySubsequences: false)
            if time == nil, clock.count == 3, let hour = Int(clock[0]), let minute = Int(clock[1]),
                clock[0].count <= 2, clock[1].count <= 2,
                (1...2).contains(clock[2].prefix { $0.isNumber }.count),
                let second = Int(clock[2].prefix { $0.isNumber })
            {
                time = [hour, minute, second]
            } else if day == nil, (1...2).contains(digits.count) {
                day = Int(digits)
            } else if month == nil, let index = months.firstIndex(of: String(token.prefix(3))) {
                month = index + 1
            } else if year == nil, (2...4).contains(digits.count) {
                year = Int(digits)
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        let lengths = [
            31, year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30,
            31, 30, 31,
        ]
        guard day >= 1, day <= lengths[month - 1], year >= 1601, time[0] <= 23, time[1] <= 59, time[2] <= 59
        else {
            return nil
        }
        let shifted = month <= 2 ? year - 1 : year
        let (era, ofYear) = (shifted / 400, shifted % 400)
        let ofDay = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + ofYear * 365 + ofYear / 4 - ofYear / 100 + ofDay - 719_468
        return Int64(days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2])
    }
}
