internal import DirectIO

/// What a cookie says, before it is known whether it may: from a response, a file or the caller.
struct CookieContent {
    /// Of name and value together (RFC 6265bis, section 5.6).
    static let maximumPairLength = 4096
    static let maximumAttributeLength = 1024
    /// More than an attribute can hold: the path of a URL may be longer.
    static let maximumPathLength = 8192
    /// No cookie lives longer, in seconds (RFC 6265bis, section 5.5): 400 days.
    static let longestLife: Int64 = 400 * 86_400

    var name: [UInt8]
    var value: [UInt8]
    var path = Path.given([UInt8(ascii: "/")])
    var expiry: UnixTime?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: Cookie.SameSite?

    /// A path, and whether the cookie says it. The promise of `__Host-` holds only where it does.
    enum Path {
        case given([UInt8])
        /// Of the URL that set the cookie (RFC 6265bis, section 5.1.4).
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

    /// What would make another cookie, another field or a broken request of it (CVE-2022-35252).
    func check() throws(CookieFault) {
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        let path = path.bytes
        guard name.count + value.count <= Self.maximumPairLength, path.count <= Self.maximumPathLength
        else { throw .tooLong }
        guard path.first == UInt8(ascii: "/") else { throw .badPath }
        let isClean =
            name.allSatisfy { $0.standsInCookie && $0 != UInt8(ascii: "=") }
            && value.allSatisfy(\.standsInCookie) && path.allSatisfy(\.standsInCookie)
        guard isClean, !name.hasOuterBlanks, !value.hasOuterBlanks else { throw .invalidCharacter }
        // Without a name it is sent as it is, and must not read like one that has a name.
        guard !name.isEmpty || !value.contains(UInt8(ascii: "=")) else { throw .invalidCharacter }
    }

    /// The promises of names (RFC 6265bis, section 4.1.3), in any case (5.7): a server that tells them apart
    /// by case is not to be fooled by one that does not.
    func checkPrefix(isHostOnly: Bool) throws(CookieFault) {
        let isForHost = name.startsIgnoringCase(with: "__host-")
        if isForHost || name.startsIgnoringCase(with: "__secure-") {
            guard isSecure else { throw .brokenPrefix }
        }
        if isForHost {
            guard isHostOnly, case .given([UInt8(ascii: "/")]) = path else { throw .brokenPrefix }
        }
        // It would be sent as if it were the name.
        guard name.isEmpty else { return }
        guard !value.startsIgnoringCase(with: "__host-"), !value.startsIgnoringCase(with: "__secure-") else {
            throw .brokenPrefix
        }
    }
}

extension UInt8 {
    /// All but controls and the semicolon. A tab passes, though it ends a field of a Netscape file.
    var standsInCookie: Bool {
        self >= 0x20 && self != 0x7F && self != UInt8(ascii: ";") || self == UInt8(ascii: "\t")
    }

    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    var loweredLetter: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension Collection<UInt8> {
    /// `text` is in lower case.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && startsIgnoringCase(with: text)
    }

    /// `text` is in lower case.
    func startsIgnoringCase(with text: StaticString) -> Bool {
        lazy.map(\.loweredLetter).starts(with: "\(text)".utf8)
    }
}

extension BidirectionalCollection<UInt8> {
    var hasOuterBlanks: Bool { first?.isBlank == true || last?.isBlank == true }

    /// Without the spaces and tabs around it.
    var trimmed: SubSequence {
        guard let start = firstIndex(where: { !$0.isBlank }), let end = lastIndex(where: { !$0.isBlank })
        else { return self[endIndex...] }
        return self[start...end]
    }
}
