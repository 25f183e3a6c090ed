/// The ranges of the parts of a URL, or of a relative reference, in its bytes (RFC 3986, appendix B).
///
/// One pass finds the parts and refuses bytes that parsers disagree about. `URLAuthority` and `URLTarget`
/// then interpret the parts.
struct URLParts {
    /// The limit on the length: 64 KiB. Servers have far lower limits, and offsets stay small. RFC 9110,
    /// section 4.1, recommends support for 8,000.
    static let maximumLength = 65_536

    /// The scheme; `nil` for a relative reference.
    private(set) var scheme: HTTPURL.Scheme?
    /// The authority, after the two slashes; `nil` if there is none.
    private(set) var authority: Range<Int>?
    /// The index of the at-sign in the authority, at which the user information ends.
    private(set) var atSign: Int?
    /// The path, which may be empty.
    private(set) var path = 0..<0
    /// The query, without its question mark.
    private(set) var query: Range<Int>?
    /// The fragment, without its number sign.
    private(set) var fragment: Range<Int>?
    /// Whether the path or the query contains dot segments or bytes that must be escaped.
    private(set) var needsNormalization = false

    @inline(__always)
    init(_ text: Span<UInt8>) throws(HTTPURLError) {
        guard text.count <= Self.maximumLength else { throw .tooLong(limit: Self.maximumLength) }
        guard !text.isEmpty else { return }
        guard text[0] > 0x20, text[text.count - 1] > 0x20 else { throw .surroundedBySpace }
        var position = try readScheme(text)
        if text.hasSlashes(at: position) {
            position = try readAuthority(text, from: position + 2)
        } else if scheme != nil {
            throw position < text.count && text[position] == UInt8(ascii: "\\")
                ? .backslash : .missingAuthority
        }
        position = try readPath(text, from: position)
        if position < text.count, text[position] == UInt8(ascii: "?") {
            position = try readQuery(text, from: position + 1)
        }
        if position < text.count {
            fragment = (position + 1)..<text.count
            for index in position..<text.count { try Self.refuseTabOrLineBreak(text[index]) }
        }
    }

    /// Reads the scheme and its colon; returns the index after them.
    private mutating func readScheme(_ text: Span<UInt8>) throws(HTTPURLError) -> Int {
        if text.beginsWithHTTP, text.count > 4 {
            if text[4] == UInt8(ascii: ":") {
                scheme = .http
                return 5
            }
            if text[4] | 0x20 == UInt8(ascii: "s"), text.count > 5, text[5] == UInt8(ascii: ":") {
                scheme = .https
                return 6
            }
        }
        return try refuseOtherScheme(text)
    }

    /// Returns 0 for a relative reference, and throws if the text begins with a scheme, because no other
    /// scheme is supported.
    private func refuseOtherScheme(_ text: Span<UInt8>) throws(HTTPURLError) -> Int {
        var end = 0
        while end < text.count, Self.isAllowedInScheme(text[end]) { end += 1 }
        guard end > 0, end < text.count, text[end] == UInt8(ascii: ":"), text[0].isLetter else { return 0 }
        let scheme = String(copying: text.extracting(..<min(end, 32))).lowercased()
        guard text.hasSlashes(at: end + 1) || Self.isScheme(scheme, before: text.extracting((end + 1)...))
        else {
            throw .notHTTP
        }
        throw .unsupportedScheme(scheme)
    }

    /// Whether a text with a colon behind it, and no slashes, is taken for a scheme (RFC 3986, section 3.1).
    ///
    /// `user:password@host` and `host:port/path` have this form as well: the error must not repeat a user,
    /// and it says just that where `http://` was forgotten.
    private static func isScheme(_ text: String, before rest: Span<UInt8>) -> Bool {
        var digits = 0
        while digits < rest.count, rest[digits].isDigit { digits += 1 }
        let isPort = (1...5).contains(digits) && (digits == rest.count || rest[digits].endsAuthority)
        var hasAtSign = false
        for index in rest.indices where rest[index] == UInt8(ascii: "@") { hasAtSign = true }
        return !isPort && (!hasAtSign || schemesWithAtSigns.contains(text))
    }

    private static let schemesWithAtSigns: Set = ["data", "javascript", "mailto", "sip", "sips", "xmpp"]

    /// Finds the end of the authority, and its at-sign.
    private mutating func readAuthority(_ text: Span<UInt8>, from start: Int) throws(HTTPURLError) -> Int {
        var position = start
        scan: while position < text.count {
            let byte = text[position]
            if !byte.isLetter, !byte.isAllowedInLabel {
                switch byte {
                case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"):
                    break scan
                case UInt8(ascii: "@"):
                    guard atSign == nil else { throw .severalAtSigns }
                    atSign = position
                case UInt8(ascii: "\\"):
                    throw .backslash
                default:
                    try Self.refuseTabOrLineBreak(byte)
                }
            }
            position += 1
        }
        authority = start..<position
        return position
    }

    /// Finds the end of the path.
    private mutating func readPath(_ text: Span<UInt8>, from start: Int) throws(HTTPURLError) -> Int {
        var position = start
        scan: while position < text.count {
            let byte = text[position]
            if !byte.isLetter, !byte.isPlainInPath {
                switch byte {
                case UInt8(ascii: "?"), UInt8(ascii: "#"):
                    break scan
                case UInt8(ascii: "."):
                    let opensSegment = position == start || text[position - 1] == UInt8(ascii: "/")
                    needsNormalization = needsNormalization || opensSegment
                case UInt8(ascii: "%"):
                    needsNormalization = needsNormalization || text.isEscapedDot(at: position)
                case UInt8(ascii: "\\"):
                    throw .backslash
                default:
                    try Self.refuseTabOrLineBreak(byte)
                    needsNormalization = true
                }
            }
            position += 1
        }
        path = start..<position
        return position
    }

    /// Finds the end of the query.
    private mutating func readQuery(_ text: Span<UInt8>, from start: Int) throws(HTTPURLError) -> Int {
        var position = start
        while position < text.count {
            let byte = text[position]
            if !byte.isLetter, !byte.isAllowedInQuery {
                guard byte != UInt8(ascii: "#") else { break }
                try Self.refuseTabOrLineBreak(byte)
                needsNormalization = true
            }
            position += 1
        }
        query = start..<position
        return position
    }

    private static func refuseTabOrLineBreak(_ byte: UInt8) throws(HTTPURLError) {
        guard byte != 0x09, byte != 0x0A, byte != 0x0D else { throw .tabOrLineBreak }
    }

    private static func isAllowedInScheme(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }
}

extension UInt8 {
    fileprivate var endsAuthority: Bool {
        self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
    }
}

extension Span<UInt8> {
    fileprivate func hasSlashes(at index: Int) -> Bool {
        index + 1 < count && self[index] == UInt8(ascii: "/") && self[index + 1] == UInt8(ascii: "/")
    }

    /// Whether the bytes begin with `http`, in upper or lower case.
    fileprivate var beginsWithHTTP: Bool {
        count >= 4 && self[0] | 0x20 == UInt8(ascii: "h") && self[1] | 0x20 == UInt8(ascii: "t")
            && self[2] | 0x20 == UInt8(ascii: "t") && self[3] | 0x20 == UInt8(ascii: "p")
    }

    /// Whether `%2e` is at this index. The URL Standard reads it as a dot when it looks for dot segments.
    func isEscapedDot(at index: Int) -> Bool {
        index + 2 < count && self[index] == UInt8(ascii: "%") && self[index + 1] == UInt8(ascii: "2")
            && self[index + 2] | 0x20 == UInt8(ascii: "e")
    }
}
