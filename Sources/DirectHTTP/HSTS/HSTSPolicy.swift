internal import DirectCore
internal import DirectIO

/// The value of a `Strict-Transport-Security` field (RFC 6797, section 6.1).
struct HSTSPolicy: Equatable {
    /// The time for which the policy is valid, in seconds; 0 revokes an earlier policy.
    let maximumAge: Int64
    /// Whether the policy applies to all names below the host as well.
    let includesSubdomains: Bool

    /// Parses a field value; `nil` if it breaks the grammar, repeats a directive, or has no `max-age`. Such a field
    /// has to be ignored as a whole. Unknown directives are skipped.
    init?(_ field: [UInt8]) {
        var scan = DirectiveScan(field)
        var names: Set<[UInt8]> = []
        var maximumAge: Int64?
        var includesSubdomains = false
        while !scan.isAtEnd {
            // A directive may be empty.
            if scan.takeSeparator() { continue }
            guard let (name, value) = scan.directive(), names.insert(name).inserted else { return nil }
            if name.equalsIgnoringCase("max-age") {
                guard let seconds = value.flatMap(Self.seconds) else { return nil }
                maximumAge = seconds
            } else if name.equalsIgnoringCase("includesubdomains") {
                guard value == nil else { return nil }
                includesSubdomains = true
            }
            guard scan.isAtEnd || scan.takeSeparator() else { return nil }
        }
        guard let maximumAge else { return nil }
        self.maximumAge = maximumAge
        self.includesSubdomains = includesSubdomains
    }

    /// A number that does not fit is treated as the largest one.
    private static func seconds(_ digits: [UInt8]) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self)) ?? .max
    }
}

/// Reads the directives of a field value, one after the other.
private struct DirectiveScan {
    private var rest: ArraySlice<UInt8>

    init(_ field: [UInt8]) {
        rest = field.trimmed
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Skips a semicolon and the blanks after it; returns whether there was one.
    mutating func takeSeparator() -> Bool {
        guard rest.first == UInt8(ascii: ";") else { return false }
        rest.removeFirst()
        skipBlanks()
        return true
    }

    /// Reads a directive: its name in lower case, and its value without quotes, or `nil` if it has no equals sign.
    /// Returns `nil` if the directive is malformed.
    mutating func directive() -> (name: [UInt8], value: [UInt8]?)? {
        guard let name = token() else { return nil }
        skipBlanks()
        guard rest.first == UInt8(ascii: "=") else { return (name.map(\.loweredLetter), nil) }
        rest.removeFirst()
        skipBlanks()
        guard let value = rest.first == UInt8(ascii: "\"") ? quoted() : token() else { return nil }
        skipBlanks()
        return (name.map(\.loweredLetter), value)
    }

    private mutating func token() -> [UInt8]? {
        let token = rest.prefix(while: \.isAllowedInToken)
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : Array(token)
    }

    private mutating func quoted() -> [UInt8]? {
        rest.removeFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func skipBlanks() {
        rest = rest.drop(while: \.isBlank)
    }
}

extension UInt8 {
    /// Whether the byte may be part of a token (RFC 9110, section 5.6.2).
    fileprivate var isAllowedInToken: Bool {
        if isLetter || isDigit { return true }
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            return true
        default: return false
        }
    }
}
