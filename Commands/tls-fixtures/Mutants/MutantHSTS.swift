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
        let isKnown = hosts.contains { name, entry in
            guard entry.end > now else { return false }
            if name == host { return true }
            let isBelow = host.hasSuffix(mutation == .hstsBySuffix ? name : ".\(name)")
            return isBelow && mutation != .hstsOfOneName
                && (entry.withNamesBelow || mutation == .hstsOfAllBelow || mutation == .hstsBySuffix)
        }
        guard isKnown || mutation == .hstsOfAll else { return nil }
        var port = url.port == 80 && mutation != .hstsKeepsPort80 ? 443 : url.port
        if mutation == .hstsTakes443 { port = 443 }
        let text = url.host.address == nil ? host : url.authority
        return try? HTTPURL("https://\(text):\(port)\(url.target)")
    }

    /// Takes the policy of a response.
    mutating func note(_ fields: [MutantField], from url: HTTPURL, at now: Int64) {
        let host = "\(url.host)".lowercased()
        guard url.scheme == .https || mutation == .hstsFromClear else { return }
        guard url.host.address == nil || mutation == .hstsOfAddresses else { return }
        let values = fields.values("strict-transport-security")
        guard let value = mutation == .hstsLastField ? values.last : values.first else {
            if mutation == .hstsEndsWithoutField { hosts[host] = nil }
            return
        }
        guard let policy = policy(value.latin1) else {
            if mutation == .hstsEndsWithoutField { hosts[host] = nil }
            return
        }
        if mutation == .hstsNeverUpdated, hosts[host] != nil { return }
        if policy.age == 0 {
            if mutation != .hstsKeepsZero { hosts[host] = nil }
        } else {
            hosts[host] = (now.addingReportingOverflow(policy.age).partialValue, policy.withNamesBelow)
        }
    }

    private func policy(_ text: String) -> (age: Int64, withNamesBelow: Bool)? {
        var seen: Set<String> = []
        var age: Int64?
        var withNamesBelow = false
        for directive in text.splitOutsideQuotes(";") where !directive.isEmpty {
            let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].withoutBlanks.lowercased()
            let value = parts.count > 1 ? parts[1].withoutBlanks.unquoted : nil
            let isToken = !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte)
            guard mutation == .hstsLenient || isToken && seen.insert(name).inserted && value != "" else {
                return nil
            }
            switch name {
            case "max-age":
                let digits = (value ?? "").prefix { $0.isNumber && $0.isASCII }
                guard !digits.isEmpty, digits.count == value?.count || mutation == .hstsLenient else {
                    return nil
                }
                age = min(Int64(digits) ?? 1 << 40, 1 << 40)
            case "includesubdomains":
                guard mutation == .hstsLenient || value == nil else { return nil }
                withNamesBelow = true
            default: if mutation == .hstsOnlyKnown { return nil }
            }
        }
        if age == nil, mutation == .hstsWithoutAge { age = 86_400 }
        return age.map { ($0, withNamesBelow) }
    }
}

extension String {
    /// The parts between these characters outside of quoted strings, without blanks around them.
    func splitOutsideQuotes(_ separator: Character) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
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
}

extension StringProtocol {
    var withoutBlanks: String {
        Array(String(self).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })[...].trimmed.latin1
    }

    /// The content of a quoted string, or the text itself. `nil` if quotes stand elsewhere.
    var unquoted: String? {
        guard first == "\"" else { return contains("\"") ? nil : String(self) }
        guard count > 1, last == "\"" else { return nil }
        var text = ""
        var isEscaped = false
        for character in dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                text.append(character)
                isEscaped = false
            }
        }
        return text
    }
}
