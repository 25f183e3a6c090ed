#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The certificates of a text in PEM as nearly all are: in lines of 64 characters between their marks (RFC
/// 7468, section 3). For the system's roots, which are more than a hundred: OpenSSL's reader needs four times
/// as many instructions.
///
/// It reads nothing that OpenSSL would read in another way, and leaves all other texts to it.
enum PEMBlocks {
    /// Returns the certificates in DER; `nil` if the text has another form.
    static func certificates(in text: [UInt8]) -> [[UInt8]]? {
        guard !PEMItem.isCut(text) else { return nil }
        return text.withUnsafeBytes { text in
            var (rest, certificates) = (text[...], [[UInt8]]())
            while let begin = dash(in: rest) {
                guard has(dashes, at: begin, in: text) else {
                    rest = text[(begin + 1)...]
                    continue
                }
                guard let lines = linesOfBlock(at: begin, in: text), let bytes = decode(lines) else {
                    return nil
                }
                certificates.append(bytes)
                rest = text[(lines.text.endIndex + endMark.utf8CodeUnitCount)...]
            }
            return certificates
        }
    }

    private static let dashes: StaticString = "-----"
    private static let beginMark: StaticString = "-----BEGIN CERTIFICATE-----"
    private static let endMark: StaticString = "-----END CERTIFICATE-----"

    /// The lines of a block, and the number of characters that end each.
    private struct Lines {
        let text: Slice<UnsafeRawBufferPointer>
        let newline: Int
    }

    /// Returns the lines between the mark that begins at this place and the next one.
    private static func linesOfBlock(at begin: Int, in text: UnsafeRawBufferPointer) -> Lines? {
        let start = begin + beginMark.utf8CodeUnitCount
        guard has(beginMark, at: begin, in: text), isLineStart(begin, in: text),
            let newline = newline(at: start, in: text), let end = dash(in: text[(start + newline)...]),
            has(endMark, at: end, in: text), isLineStart(end, in: text)
        else { return nil }
        let after = end + endMark.utf8CodeUnitCount
        guard after == text.count || self.newline(at: after, in: text) != nil else { return nil }
        return Lines(text: text[(start + newline)..<end], newline: newline)
    }

    private static func isLineStart(_ place: Int, in text: UnsafeRawBufferPointer) -> Bool {
        place == 0 || text[place - 1] == 0x0A
    }

    /// Returns the number of characters with which a line ends here; `nil` if it does not.
    private static func newline(at place: Int, in text: UnsafeRawBufferPointer) -> Int? {
        if place < text.count, text[place] == 0x0A { return 1 }
        return place + 1 < text.count && text[place] == 0x0D && text[place + 1] == 0x0A ? 2 : nil
    }

    private static func has(_ mark: StaticString, at place: Int, in text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress, text.count - place >= mark.utf8CodeUnitCount else { return false }
        return memcmp(start + place, mark.utf8Start, mark.utf8CodeUnitCount) == 0
    }

    /// Returns the place of the next dash, of which base64 has none.
    private static func dash(in text: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard let start = UnsafeRawBufferPointer(rebasing: text).baseAddress, !text.isEmpty,
            let dash = memchr(start, 0x2D, text.count)
        else { return nil }
        return text.startIndex + (UnsafeRawPointer(dash) - start)
    }

    /// Decodes lines of which each has 64 characters but for the last, which may be shorter.
    private static func decode(_ lines: Lines) -> [UInt8]? {
        let text = UnsafeRawBufferPointer(rebasing: lines.text)
        let last = text.count - lines.newline
        guard last >= 4 else { return nil }
        let padding = text[last - 1] != 0x3D ? 0 : text[last - 2] != 0x3D ? 1 : 2
        return values.withUnsafeBufferPointer { values in
            // Beyond 63 if a character is none of base64.
            var all: UInt8 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 3) { buffer, count in
                func add(_ one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8) {
                    all |= one | two | three | four
                    let group = UInt32(one) << 18 | UInt32(two) << 12 | UInt32(three) << 6 | UInt32(four)
                    buffer[count] = UInt8(truncatingIfNeeded: group >> 16)
                    buffer[count + 1] = UInt8(truncatingIfNeeded: group >> 8)
                    buffer[count + 2] = UInt8(truncatingIfNeeded: group)
                    count += 3
                }
                func value(_ place: Int) -> UInt8 { values[Int(text[place])] }
                var place = 0
                while place < text.count {
                    let end = min(place + 64, last)
                    guard end > place, (end - place) % 4 == 0, newline(at: end, in: text) == lines.newline
                    else { return all = .max }
                    let whole = end == last && padding > 0 ? end - 4 : end
                    while place < whole {
                        add(value(place), value(place + 1), value(place + 2), value(place + 3))
                        place += 4
                    }
                    if place < end {
                        add(value(place), value(place + 1), padding > 1 ? 0 : value(place + 2), 0)
                    }
                    place = end + lines.newline
                }
                count -= padding
            }
            return all < 64 ? bytes : nil
        }
    }

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
