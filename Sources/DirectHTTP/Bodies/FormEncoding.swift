/// Encodes form fields as `application/x-www-form-urlencoded` (WHATWG URL Standard, section 5.2).
///
/// Letters, digits and `*-._` stay as they are, a space becomes `+`, and all other bytes of the UTF-8 are
/// percent-encoded.
func formEncoded(_ fields: [(name: String, value: String)]) -> [UInt8] {
    var line: [UInt8] = []
    line.reserveCapacity(fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 2 })
    for (index, field) in fields.enumerated() {
        if index > 0 { line.append(UInt8(ascii: "&")) }
        line.appendFormEncoded(field.name)
        line.append(UInt8(ascii: "="))
        line.appendFormEncoded(field.value)
    }
    return line
}

extension [UInt8] {
    fileprivate mutating func appendFormEncoded(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "*"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"):
                append(byte)
            case UInt8(ascii: " "):
                append(UInt8(ascii: "+"))
            default:
                append(UInt8(ascii: "%"))
                append(byte.upperHexDigits.high)
                append(byte.upperHexDigits.low)
            }
        }
    }
}

extension UInt8 {
    fileprivate var upperHexDigits: (high: UInt8, low: UInt8) {
        func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
        }
        return (digit(self >> 4), digit(self & 15))
    }
}
