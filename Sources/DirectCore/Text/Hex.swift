/// Hexadecimal digits (RFC 4648, section 8).
package enum Hex {
    /// Returns two lower-case digits for each byte.
    ///
    /// Not generic: over any sequence, called from another module, it would allocate memory for each byte.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns as many lower-case digits as a number of this type can have, with zeros in front.
    package static func encode(padded number: some FixedWidthInteger & UnsignedInteger) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, number.bitWidth / 4 - digits.utf8.count)) + digits
    }

    /// Returns the bytes of an even number of digits in either case; `nil` for any other text.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    /// Returns the value of an ASCII digit in either case; `nil` for any other byte.
    @inline(__always)
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }

    /// Returns the upper-case digit for a value below 16, as in percent-encoding (RFC 3986, section 2.1).
    @inline(__always)
    package static func upperCaseDigit(_ value: UInt8) -> UInt8 { value < 10 ? value + 0x30 : value + 0x37 }

    @inline(__always)
    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? value + 0x30 : value + 0x57 }
}
