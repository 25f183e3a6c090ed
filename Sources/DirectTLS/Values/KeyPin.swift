internal import DirectCore

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
        guard text.utf8.starts(with: prefix.utf8), text.utf8.count == prefix.utf8.count + 44,
            let hash = Base64.decode(Substring(text.utf8.dropFirst(prefix.utf8.count))), hash.count == 32
        else { throw .badPin }
        sha256 = hash
    }

    /// Creates a pin from the bytes of a hash, such as ``CertificateSummary/spkiSHA256``; `nil` if they are
    /// not 32.
    public init?(sha256: [UInt8]) {
        guard sha256.count == 32 else { return nil }
        self.sha256 = sha256
    }
}

extension KeyPin: CustomStringConvertible {
    /// The text that ``init(_:)`` parses.
    public var description: String {
        "sha256/" + Base64.encode(sha256)
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
