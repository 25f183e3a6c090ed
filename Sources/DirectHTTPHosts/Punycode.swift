/// Punycode (RFC 3492): a text of any characters as one of letters, digits and hyphens.
///
/// Both directions take time that grows with the square of the length, so callers limit it.
enum Punycode {
    private static let base: UInt32 = 36
    private static let firstBias: UInt32 = 72
    private static let firstCharacter: UInt32 = 0x80

    /// Returns the text in Punycode; `nil` if a number would be too large.
    static func encode(_ label: [Unicode.Scalar]) -> [UInt8]? {
        var result = label.filter(\.isASCII).map { UInt8(truncatingIfNeeded: $0.value) }
        let basicCount = UInt32(result.count)
        var (written, bias) = (basicCount, firstBias)
        if basicCount > 0 { result.append(UInt8(ascii: "-")) }
        // The delta counts, character by character, how often a decoder would pass each place.
        var (next, delta) = (firstCharacter, UInt32(0))
        for character in Set(label.map(\.value)).filter({ $0 >= firstCharacter }).sorted() {
            let (product, overflow) = (character - next).multipliedReportingOverflow(by: written + 1)
            guard !overflow, product < 1 << 30 - delta else { return nil }
            (next, delta) = (character, delta + product)
            for other in label {
                if other.value < next { delta += 1 }
                guard other.value == next else { continue }
                append(delta, to: &result, bias: bias)
                bias = adapted(delta, count: written + 1, isFirst: written == basicCount)
                (delta, written) = (0, written + 1)
            }
            (next, delta) = (next + 1, delta + 1)
        }
        return result
    }

    /// Returns the text that Punycode stands for; `nil` if it stands for none.
    static func decode(_ bytes: ArraySlice<UInt8>) -> [Unicode.Scalar]? {
        let end = bytes.lastIndex(of: UInt8(ascii: "-"))
        let basic = bytes[..<(end ?? bytes.startIndex)]
        guard basic.allSatisfy({ $0 < 0x80 }) else { return nil }
        var result = basic.map { Unicode.Scalar($0) }
        var rest = bytes[(end.map { $0 + 1 } ?? bytes.startIndex)...]
        var (character, place, bias) = (firstCharacter, UInt32(0), firstBias)
        while !rest.isEmpty {
            guard let delta = number(&rest, bias: bias) else { return nil }
            let count = UInt32(result.count) + 1
            bias = adapted(delta, count: count, isFirst: place == 0 && character == firstCharacter)
            place += delta
            character += place / count
            place %= count
            guard let scalar = Unicode.Scalar(character) else { return nil }
            result.insert(scalar, at: Int(place))
            place += 1
        }
        return result
    }

    /// Reads one number; `nil` if it ends too early, or is too large for any character at any place.
    private static func number(_ rest: inout ArraySlice<UInt8>, bias: UInt32) -> UInt32? {
        var (result, weight, position) = (UInt32(0), UInt32(1), base)
        while let digit = rest.popFirst().flatMap(value(of:)) {
            let (product, overflow) = digit.multipliedReportingOverflow(by: weight)
            guard !overflow, product < 1 << 30 - result else { return nil }
            result += product
            let limit = threshold(at: position, bias: bias)
            if digit < limit { return result }
            let (next, isTooLarge) = weight.multipliedReportingOverflow(by: base - limit)
            guard !isTooLarge else { return nil }
            (weight, position) = (next, position + base)
        }
        return nil
    }

    private static func append(_ number: UInt32, to result: inout [UInt8], bias: UInt32) {
        var (rest, position) = (number, base)
        while true {
            let limit = threshold(at: position, bias: bias)
            guard rest >= limit else { break }
            result.append(digit(limit + (rest - limit) % (base - limit)))
            rest = (rest - limit) / (base - limit)
            position += base
        }
        result.append(digit(rest))
    }

    private static func threshold(at position: UInt32, bias: UInt32) -> UInt32 {
        position <= bias + 1 ? 1 : min(26, position - bias)
    }

    /// RFC 3492, section 6.1.
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias: UInt32 = 0
        while delta > 455 {
            delta /= base - 1
            bias += base
        }
        return bias + base * delta / (delta + 38)
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? 0x61 + value : 0x30 + value - 26)
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x61...0x7A: UInt32(digit) - 0x61
        case 0x30...0x39: UInt32(digit) - 0x30 + 26
        default: nil
        }
    }
}
