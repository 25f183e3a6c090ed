/// Which bytes stand unescaped in each part of a URL: the complements of the percent-encode sets of the
/// WHATWG URL Standard, section 1.3. A percent sign always stands, even where no two digits follow it.
///
/// Functions rather than tables: they compile to a range check and a bit test, without a lazy global.
extension UInt8 {
    @inline(__always)
    var isPrintable: Bool { self &- 0x21 < 0x5E }

    var standsInFragment: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"): false
        default: isPrintable
        }
    }

    @inline(__always)
    var standsInQuery: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "'"):
            false
        default: isPrintable
        }
    }

    @inline(__always)
    var standsInPath: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "?"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "}"):
            false
        default: isPrintable
        }
    }

    var standsInUserinfo: Bool {
        switch self {
        case UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "@"),
            UInt8(ascii: "["), UInt8(ascii: "\\"), UInt8(ascii: "]"), UInt8(ascii: "|"):
            false
        default: standsInPath
        }
    }

    /// Whether the byte stands in a path and neither belongs to a dot segment nor ends the path.
    @inline(__always)
    var isPlainInPath: Bool {
        switch self {
        case UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "\\"): false
        default: standsInPath
        }
    }

    /// Letters, digits, hyphen and the underscore, which DNS carries and browsers take; the dot is apart.
    @inline(__always)
    var standsInLabel: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }

    /// Most bytes of a URL are letters: loops ask this first.
    @inline(__always)
    var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }

    @inline(__always)
    var isDigit: Bool { self &- 0x30 < 10 }

    var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
