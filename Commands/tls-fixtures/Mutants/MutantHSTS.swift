internal import DirectCore

/// The mutant client's list of hosts that are reached over TLS only (RFC 6797).
struct MutantHSTS {
    private let mutation: Mutation?
    private var hosts: [String: (end: Int64, withNamesBelow: Bool)] = [:]

    init(_ mutation: Mutation?) { self.mutation = mutation }

    /// The URL that is asked instead of this one. `nil` if it stays.
    func url(for url: HTTPURL, at now: Int64) -> HTTPURL? {
        guard url.scheme == .http, mutation != .hstsUnused else { return nil }
        let host = "\(url.host)".lowercased()
        let nearest = hosts.keys.filter { host == $0 || host.hasSuffix(".\($0)") }.max { $0.count < $1.count }
        let isKnown = hosts.contains { name, entry in
            if mutation == .hstsNearest, name != nearest { return false }
            let isBySuffix = mutation == .hstsBySuffix && host.hasSuffix(name)
            let isBelow = isBySuffix || host.hasSuffix(".\(name)") && mutation != .hstsOfOneName
            let isForAll = entry.withNamesBelow || mutation == .hstsOfAllBelow || isBySuffix
            return entry.end > now && (name == host || isBelow && isForAll)
        }
        guard isKnown || mutation == .hstsOfAll else { return nil }
        let becomes443 = url.port == 80 && mutation != .hstsKeepsPort80 || mutation == .hstsTakes443
        let text = url.host.address == nil ? host : url.authority
        return try? HTTPURL("https://\(text):\(becomes443 ? 443 : url.port)\(url.target)")
    }

    /// Takes the policy of a response.
    mutating func note(_ fields: [MutantField], from url: HTTPURL, at now: Int64) {
        guard url.scheme == .https || mutation == .hstsFromClear,
            url.host.address == nil || mutation == .hstsOfAddresses
        else { return }
        let host = "\(url.host)".lowercased()
        let values = fields.values("strict-transport-security")
        let value = mutation == .hstsLastField ? values.last : values.first
        guard let (age, withNamesBelow) = value.flatMap(policy) else {
            if mutation == .hstsEndsWithoutField { hosts[host] = nil }
            return
        }
        if mutation == .hstsNeverUpdated, hosts[host] != nil { return }
        if age == 0, mutation == .hstsZeroEndsAbove { hosts = hosts.filter { !host.hasSuffix($0.key) } }
        if age > 0 || mutation != .hstsKeepsZero {
            hosts[host] = age > 0 ? (now + age, withNamesBelow) : nil
        }
    }

    private func policy(_ text: String) -> (age: Int64, withNamesBelow: Bool)? {
        var found: [String: String?] = [:]
        let isLenient = mutation == .hstsLenient
        for (name, text) in text.splitOutsideQuotes(";").filter({ !$0.isEmpty }).map(\.nameAndValue) {
            let value = text.flatMap { $0.unquoted }
            let name = name.lowercased()
            let isSeen = found.updateValue(value, forKey: name) != nil
            guard isLenient || name.isToken && !isSeen && value != "" else { return nil }
            let isKnown = ["max-age", "includesubdomains"].contains(name)
            if mutation == .hstsOnlyKnown, !isKnown { return nil }
        }
        let below = found["includesubdomains"]
        guard below == nil || below == .some(nil) || isLenient else { return nil }
        guard let age = found["max-age"] else {
            return mutation == .hstsWithoutAge ? (86_400, below != nil) : nil
        }
        let digits = (age ?? "").prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.count == age?.count || isLenient else { return nil }
        if mutation == .hstsForgetsLargeAges, Int32(digits) == nil { return nil }
        return (min(Int64(digits) ?? 1 << 40, 1 << 40), below != nil)
    }
}

extension String {
    /// The parts between these characters outside of quoted strings, without blanks around them.
    func splitOutsideQuotes(_ separator: Character) -> [String] {
        var (parts, isQuoted, isEscaped) = ([""], false, false)
        for character in self {
            if character == separator, !isQuoted {
                parts.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            parts[parts.count - 1].append(character)
        }
        return parts.map(\.withoutBlanks)
    }

    /// The content of a quoted string, or the text itself. `nil` if quotes stand elsewhere.
    var unquoted: String? {
        guard hasPrefix("\"") else { return contains("\"") ? nil : self }
        guard count > 1, hasSuffix("\"") else { return nil }
        let escaped = String(dropFirst().dropLast()).replacing("\\\\", with: "\0")
        return escaped.replacing("\\", with: "").replacing("\0", with: "\\")
    }
}
