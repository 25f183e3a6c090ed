internal import DirectCore
internal import DirectIO

/// The content of a cookie before it is checked, from a response, a file or the caller.
struct CookieContent {
    /// The limit for name and value together (RFC 6265bis, section 5.6).
    static let maximumPairLength = 4096
    /// The limit for the value of an attribute; longer attributes are ignored.
    static let maximumAttributeLength = 1024
    /// More than an attribute can hold, because a path taken from the URL may be longer.
    static let maximumPathLength = 8192
    /// The longest lifetime of a cookie in seconds (RFC 6265bis, section 5.5): 400 days.
    static let longestLife: Int64 = 400 * 86_400

    var name: [UInt8]
    var value: [UInt8]
    var path = Path.given([UInt8(ascii: "/")])
    var expiry: UnixTime?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: Cookie.SameSite?

    /// A path, and whether the cookie itself states it. A `__Host-` cookie must state it.
    enum Path {
        case given([UInt8])
        /// The default path, taken from the URL that set the cookie (RFC 6265bis, section 5.1.4).
        case derived([UInt8])

        var bytes: [UInt8] {
            switch self {
            case .given(let bytes), .derived(let bytes): bytes
            }
        }
    }

    init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// Rejects content that would turn into another cookie, another field or a malformed request
    /// (CVE-2022-35252).
    func check() throws(CookieError) {
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        let path = path.bytes
        guard name.count + value.count <= Self.maximumPairLength, path.count <= Self.maximumPathLength
        else { throw .tooLong }
        guard path.first == UInt8(ascii: "/") else { throw .badPath }
        let isClean =
            name.allSatisfy { $0.isAllowedInCookie && $0 != UInt8(ascii: "=") }
            && value.allSatisfy(\.isAllowedInCookie) && path.allSatisfy(\.isAllowedInCookie)
        guard isClean, !name.hasOuterBlanks, !value.hasOuterBlanks else { throw .invalidCharacter }
        // A cookie without a name is sent as its value alone, which must not look like a name and a value.
        guard !name.isEmpty || !value.contains(UInt8(ascii: "=")) else { throw .invalidCharacter }
    }

    /// Checks the requirements of name prefixes (RFC 6265bis, section 4.1.3).
    ///
    /// Letter case is ignored (section 5.7), to protect a server that ignores it as well.
    func checkPrefix(isHostOnly: Bool) throws(CookieError) {
        let isForHost = name.startsIgnoringCase(with: "__host-")
        if isForHost || name.startsIgnoringCase(with: "__secure-") {
            guard isSecure else { throw .brokenPrefix }
        }
        if isForHost {
            guard isHostOnly, case .given([UInt8(ascii: "/")]) = path else { throw .brokenPrefix }
        }
        // The value would be sent in the place of a name.
        guard name.isEmpty else { return }
        guard !value.startsIgnoringCase(with: "__host-"), !value.startsIgnoringCase(with: "__secure-") else {
            throw .brokenPrefix
        }
    }
}

extension UInt8 {
    /// Whether the byte may occur in a cookie: all but control characters and the semicolon. A tab is allowed
    /// here, although it ends a field in a Netscape file.
    var isAllowedInCookie: Bool {
        self >= 0x20 && self != 0x7F && self != UInt8(ascii: ";") || self == UInt8(ascii: "\t")
    }

    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    var loweredLetter: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension Collection<UInt8> {
    /// Compares ignoring letter case. `text` must be in lower case.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && startsIgnoringCase(with: text)
    }

    /// Compares a prefix ignoring letter case. `text` must be in lower case.
    func startsIgnoringCase(with text: StaticString) -> Bool {
        lazy.map(\.loweredLetter).starts(with: "\(text)".utf8)
    }
}

extension BidirectionalCollection<UInt8> {
    var hasOuterBlanks: Bool { first?.isBlank == true || last?.isBlank == true }

    /// The collection without leading and trailing spaces and tabs.
    var trimmed: SubSequence {
        guard let start = firstIndex(where: { !$0.isBlank }), let end = lastIndex(where: { !$0.isBlank })
        else { return self[endIndex...] }
        return self[start...end]
    }
}
