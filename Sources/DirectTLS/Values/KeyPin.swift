/// The SHA-256 hash of a public key with its algorithm (RFC 7469, section 2.4), written `sha256/BASE64`. See
/// ``KeyPins``.
public struct KeyPin: Hashable, Sendable {
    /// The 32 bytes of the hash.
    public let sha256: [UInt8]

    /// Parses `sha256/` and 44 characters of base64 with their padding.
    ///
    /// - Throws: ``KeyPinError/badPin`` if the text is anything else.
    public init(_ text: String) throws(KeyPinError) {
        let prefix = "sha256/"
        guard text.utf8.starts(with: prefix.utf8),
            let hash = decodedHash(Array(text.utf8.dropFirst(prefix.utf8.count)))
        else { throw .badPin }
        sha256 = hash
    }

    /// Creates a pin from the bytes of a hash, such as ``CertificateSummary/spkiSHA256``; `nil` if they are not 32.
    public init?(sha256: [UInt8]) {
        guard sha256.count == 32 else { return nil }
        self.sha256 = sha256
    }
}

extension KeyPin: CustomStringConvertible {
    /// The text that ``init(_:)`` parses.
    public var description: String {
        var text = Array("sha256/".utf8)
        for start in stride(from: 0, to: sha256.count, by: 3) {
            let group = sha256[start..<min(start + 3, sha256.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(
                    place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "=")
                )
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// An error in a pin, or in the pattern of servers that it is for.
@nonexhaustive
public enum KeyPinError: Error, Hashable, Sendable {
    /// The text of a pin is not `sha256/` and the base64 of 32 bytes.
    case badPin
    /// The pattern is not a host, `*.` and a name, or `**.` and a name.
    case badPattern(String)
    /// A pattern without pins, which no chain could satisfy.
    case noPins(String)
}

extension KeyPinError: CustomStringConvertible {
    /// The error in one line, for a log.
    public var description: String {
        switch self {
        case .badPin: "a pin is not sha256/ and the base64 of 32 bytes"
        case .badPattern(let text): "pins are for a host, *.name or **.name, not for \"\(printable(text))\""
        case .noPins(let text): "there are no pins for \"\(printable(text))\""
        }
    }
}

private let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

/// Decodes 43 base64 digits and one padding character to 32 bytes. Each hash has only one spelling: the last digit
/// has two bits that must be zero.
private func decodedHash(_ text: [UInt8]) -> [UInt8]? {
    guard text.count == 44, text.last == UInt8(ascii: "=") else { return nil }
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for character in text.dropLast() {
        guard let digit = alphabet.firstIndex(of: character) else { return nil }
        bits = bits << 6 | UInt32(digit)
        count += 6
        guard count >= 8 else { continue }
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= 1 << UInt32(count) - 1
    }
    return bits == 0 ? bytes : nil
}
