/// The value of a `Content-Range` field in bytes (RFC 9110, section 14.4).
enum ContentRange: Equatable, Sendable {
    /// A part: the positions of its first and last byte, and the length of the whole, `nil` if it is unknown.
    case part(first: UInt64, last: UInt64, of: UInt64?)
    /// No part can be sent; the whole has this length (416).
    case none(of: UInt64)

    /// Parses the value; `nil` if it is invalid or of another unit.
    init?(_ text: String) {
        let unit = "bytes "
        guard text.utf8.count > unit.utf8.count, text.prefix(unit.count).lowercased() == unit else {
            return nil
        }
        let halves = text.dropFirst(unit.count).split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let isUnknown = halves[1] == "*"
        guard let range = Self.range(halves[0]), isUnknown || Self.number(halves[1]) != nil else {
            return nil
        }
        let length = isUnknown ? nil : Self.number(halves[1])
        switch (range, length) {
        case (nil, let length?): self = .none(of: length)
        case (nil, nil): return nil
        case (let (first, last)?, let length):
            guard first <= last, last < length ?? .max else { return nil }
            self = .part(first: first, last: last, of: length)
        }
    }

    /// Parses `first-last`, or `*` as no range; `nil` if it is neither.
    private static func range(_ text: Substring) -> (UInt64, UInt64)?? {
        if text == "*" { return .some(nil) }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]) else { return nil }
        return (first, last)
    }

    private static func number(_ text: Substring) -> UInt64? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt64(text)
    }
}
