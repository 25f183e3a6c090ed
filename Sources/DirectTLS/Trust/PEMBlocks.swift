#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The certificates of a text in PEM (RFC 7468) as bytes, for the system's roots, which are more than a
/// hundred: OpenSSL's reader needs four times as many instructions.
enum PEMBlocks {
    /// Returns the certificates in DER; `nil` if one is cut, or is no base64.
    static func certificates(in text: [UInt8]) -> [[UInt8]]? {
        guard !PEMItem.isCut(text) else { return nil }
        return text.withUnsafeBytes { text in
            var (rest, certificates) = (text[...], [[UInt8]]())
            while let begin = line(of: "-----BEGIN ", in: rest) {
                guard let end = line(of: "-----END ", in: text[begin.endIndex...]),
                    begin.label.elementsEqual(end.label)
                else { return nil }
                if labels.contains(where: { $0.utf8.elementsEqual(begin.label) }) {
                    guard let bytes = decode(text[begin.endIndex..<end.startIndex]) else { return nil }
                    certificates.append(bytes)
                }
                rest = text[end.endIndex...]
            }
            return certificates
        }
    }

    /// Those that OpenSSL takes for a certificate's.
    private static let labels = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]

    private struct Line {
        let label: Slice<UnsafeRawBufferPointer>
        let startIndex: Int
        let endIndex: Int
    }

    /// Returns the next line that begins with these bytes and ends with dashes.
    private static func line(of mark: StaticString, in text: Slice<UnsafeRawBufferPointer>) -> Line? {
        var rest = text
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty,
            let dash = memchr(start, 0x2D, rest.count)
        {
            let place = rest.startIndex + (UnsafeRawPointer(dash) - start)
            let label = place + mark.utf8CodeUnitCount
            guard label <= rest.endIndex else { return nil }
            if memcmp(dash, mark.utf8Start, mark.utf8CodeUnitCount) == 0 {
                guard let end = text[label...].firstIndex(of: 0x2D), end + 5 <= text.endIndex else {
                    return nil
                }
                return Line(label: text[label..<end], startIndex: place, endIndex: end + 5)
            }
            rest = rest[(place + 1)...]
        }
        return nil
    }

    private static func decode(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        let text = UnsafeRawBufferPointer(rebasing: text)
        return values.withUnsafeBufferPointer { values in
            var isGood = true
            let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 3) { buffer, count in
                var (place, bits, held, padding) = (0, UInt32(0), UInt32(0), 0)
                while place < text.count {
                    // Nearly always there are four characters.
                    while held == 0, padding == 0, place + 4 <= text.count {
                        let one = values[Int(text[place])], two = values[Int(text[place + 1])]
                        let three = values[Int(text[place + 2])], four = values[Int(text[place + 3])]
                        guard one | two | three | four < 64 else { break }
                        let group = UInt32(one) << 18 | UInt32(two) << 12 | UInt32(three) << 6 | UInt32(four)
                        buffer[count] = UInt8(truncatingIfNeeded: group >> 16)
                        buffer[count + 1] = UInt8(truncatingIfNeeded: group >> 8)
                        buffer[count + 2] = UInt8(truncatingIfNeeded: group)
                        (place, count) = (place + 4, count + 3)
                    }
                    guard place < text.count else { break }
                    let value = values[Int(text[place])]
                    place += 1
                    guard value < 64 else {
                        if value == blank { continue }
                        padding += 1
                        isGood = isGood && text[place - 1] == 0x3D && padding <= 2
                        continue
                    }
                    isGood = isGood && padding == 0
                    bits = bits << 6 | UInt32(value)
                    held += 6
                    guard held >= 8 else { continue }
                    held -= 8
                    buffer[count] = UInt8(truncatingIfNeeded: bits >> held)
                    count += 1
                }
            }
            return isGood && !bytes.isEmpty ? bytes : nil
        }
    }

    private static let blank: UInt8 = 64
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 65, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        for character in [0x09, 0x0A, 0x0D, 0x20] { values[character] = blank }
        return values
    }()
}
