/// The result of one pass over a host name: its range, and whether it is valid.
struct NameScan {
    static let maximumLength = 253
    static let maximumLabelLength = 63

    /// The range of the name without its trailing dot.
    let name: Range<Int>
    /// Whether a dot follows the name.
    let hasTrailingDot: Bool
    /// Whether some parsers take the last label for a number (WHATWG "ends in a number"): all digits, or `0x`
    /// followed by hexadecimal digits or by nothing else.
    let endsInNumber: Bool

    private let hasUpperCase: Bool

    /// Scans the range up to a colon or its end. Throws if the name contains a byte that is not allowed, or
    /// is too long.
    @inline(__always)
    init(_ text: Span<UInt8>, _ range: Range<Int>) throws(HTTPHostError) {
        let host = text.extracting(range)
        var end = host.count
        var label = 0
        var labelBefore = 0
        var letterBits: UInt8 = 0x20
        for position in host.indices {
            let byte = host[position]
            if byte.isLetter {
                letterBits &= byte
            } else if byte == UInt8(ascii: ".") {
                guard position > label else { throw .emptyLabel }
                guard position - label <= Self.maximumLabelLength else { throw .labelTooLong }
                labelBefore = label
                label = position + 1
            } else if !byte.isAllowedInLabel {
                guard byte == UInt8(ascii: ":") else { throw Self.fault(for: byte) }
                end = position
                break
            }
        }
        guard end > 0 else { throw .missing }
        guard end - label <= Self.maximumLabelLength else { throw .labelTooLong }
        hasTrailingDot = end == label
        let length = hasTrailingDot ? end - 1 : end
        guard length <= Self.maximumLength else { throw .tooLong }
        name = range.lowerBound..<(range.lowerBound + length)
        hasUpperCase = letterBits == 0
        endsInNumber = Self.isNumber(host.extracting((hasTrailingDot ? labelBefore : label)..<length))
    }

    /// The index at which the scan stopped, after the trailing dot if there is one.
    var end: Int { hasTrailingDot ? name.upperBound + 1 : name.upperBound }

    /// Returns the bytes of the name in lower case.
    @inline(__always)
    func lowerCased(_ text: Span<UInt8>) -> [UInt8] {
        var bytes = [UInt8](copying: text.extracting(name))
        if hasUpperCase {
            for index in bytes.indices where bytes[index] &- 0x41 < 26 { bytes[index] |= 0x20 }
        }
        return bytes
    }

    /// Whether the label is a number. The check of the first byte settles most labels.
    @inline(__always)
    private static func isNumber(_ label: Span<UInt8>) -> Bool {
        label[0].isDigit && isNumberBeyondDoubt(label)
    }

    private static func isNumberBeyondDoubt(_ label: Span<UInt8>) -> Bool {
        let isHexadecimal = label.count >= 2 && label[0] == 0x30 && label[1] | 0x20 == UInt8(ascii: "x")
        for index in (isHexadecimal ? 2 : 0)..<label.count {
            guard isHexadecimal ? Hex.value(of: label[index]) != nil : label[index].isDigit else {
                return false
            }
        }
        return true
    }

    private static func fault(for byte: UInt8) -> HTTPHostError {
        switch byte {
        case 0x80...: .notASCII
        case UInt8(ascii: "%"): .percentEncoded
        default: .invalidCharacter(byte)
        }
    }
}
