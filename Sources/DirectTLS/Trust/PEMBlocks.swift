#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The certificates of a text in PEM (RFC 7468) as bytes. OpenSSL's readers parse each certificate.
enum PEMBlocks {
    /// Returns the certificates in DER; `nil` if one is cut, or is no base64.
    static func certificates(in text: [UInt8]) -> [[UInt8]]? {
        guard !PEMItem.isCut(text) else { return nil }
        return text.withUnsafeBufferPointer { text in
            var (rest, certificates) = (text[...], [[UInt8]]())
            while let begin = end(of: "-----BEGIN ", in: rest) {
                rest = rest[begin...]
                guard let label = end(of: "-----", in: rest) else { return nil }
                let isCertificate = rest[..<(label - 5)].reversed().starts(
                    with: "CERTIFICATE".utf8.reversed()
                )
                rest = rest[label...]
                guard let dashes = end(of: "-----END ", in: rest) else { return nil }
                if isCertificate {
                    guard let bytes = decode(rest[..<(dashes - 9)]) else { return nil }
                    certificates.append(bytes)
                }
                rest = rest[dashes...]
                guard let line = end(of: "-----", in: rest) else { return nil }
                rest = rest[line...]
            }
            return certificates
        }
    }

    /// Returns the place behind the next of these bytes, which begin with a dash.
    private static func end(of mark: StaticString, in text: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        var rest = text
        while let start = UnsafeBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty,
            let dash = memchr(start, Int32(UInt8(ascii: "-")), rest.count)
        {
            let place = rest.startIndex + (UnsafeRawPointer(dash) - UnsafeRawPointer(start))
            guard place + mark.utf8CodeUnitCount <= rest.endIndex else { return nil }
            if memcmp(dash, mark.utf8Start, mark.utf8CodeUnitCount) == 0 {
                return place + mark.utf8CodeUnitCount
            }
            rest = rest[(place + 1)...]
        }
        return nil
    }

    private static func decode(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8]? {
        var isGood = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 3) { buffer, count in
            var (bits, held, padding) = (UInt32(0), UInt32(0), 0)
            for character in text {
                let value = values[Int(character)]
                guard value < 64 else {
                    if value == blank { continue }
                    padding += 1
                    isGood = isGood && character == UInt8(ascii: "=") && padding <= 2
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

    private static let blank: UInt8 = 64
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 65, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        for character in [0x09, 0x0A, 0x0D, 0x20] { values[character] = blank }
        return values
    }()
}
