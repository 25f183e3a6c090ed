/// The bytes that stay unescaped in each part of a URL: the complements of the percent-encode sets of the
/// WHATWG URL Standard, section 1.3. A percent sign always stays, even if no two digits follow it.
///
/// These are functions rather than tables: they compile to a range check and a bit test, without a lazy
/// global.
extension UInt8 {
    /// Whether the byte is visible ASCII.
    @inline(__always)
    var isPrintable: Bool { self &- 0x21 < 0x5E }

    /// Whether the byte stays unescaped in a fragment.
    var isAllowedInFragment: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"): false
        default: isPrintable
        }
    }

    /// Whether the byte stays unescaped in a query.
    @inline(__always)
    var isAllowedInQuery: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "'"):
            false
        default: isPrintable
        }
    }

    /// Whether the byte stays unescaped in a path.
    @inline(__always)
    var isAllowedInPath: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "?"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "}"):
            false
        default: isPrintable
        }
    }

    /// Whether the byte stays unescaped in user information.
    var isAllowedInUserinfo: Bool {
        switch self {
        case UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "@"),
            UInt8(ascii: "["), UInt8(ascii: "\\"), UInt8(ascii: "]"), UInt8(ascii: "|"):
            false
        default: isAllowedInPath
        }
    }

    /// Whether the byte stays unescaped in a path, and neither belongs to a dot segment nor ends the path.
    @inline(__always)
    var isPlainInPath: Bool {
        switch self {
        case UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "\\"): false
        default: isAllowedInPath
        }
    }

    /// Whether the byte is unreserved (RFC 3986, section 2.3): in every part of a URL it means itself, and
    /// escaping it changes nothing.
    var isUnreserved: Bool {
        isAllowedInLabel || self == UInt8(ascii: ".") || self == UInt8(ascii: "~")
    }

    /// Whether the byte may be part of a label: a letter, a digit, a hyphen, or the underscore, which DNS
    /// transports and browsers accept. The dot is treated separately.
    @inline(__always)
    var isAllowedInLabel: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }

    /// Whether the byte is an ASCII letter. Most bytes of a URL are letters, so loops check this first.
    @inline(__always)
    package var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }

    /// Whether the byte is an ASCII digit.
    @inline(__always)
    package var isDigit: Bool { self &- 0x30 < 10 }
}
