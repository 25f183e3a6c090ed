/// A host name as DNS and TLS use it: lower-case ASCII labels, without trailing dot.
///
/// Each label has 1 to 63 letters, digits, hyphens or underscores; the whole name has at most 253 bytes. A
/// name whose last label is a number (`1.2.3`, `0x7f.1`, `example.09`) is refused, because some parsers take
/// it for an address. Names with characters beyond ASCII are given as A-labels (`xn--…`).
public struct DomainName: Hashable, Sendable {
    /// The bytes of the name, never empty. The name of a URL shares them with the URL's authority.
    package let bytes: [UInt8]

    /// Parses a name; letters are converted to lower case.
    ///
    /// A trailing dot is refused here: a URL keeps it apart from the name.
    ///
    /// - Throws: The ``HTTPHostError`` of a text that is not a name.
    public init(_ text: String) throws(HTTPHostError) {
        self = try withUTF8Result(of: text) { utf8 throws(HTTPHostError) in try DomainName(utf8: utf8) }
    }

    /// Parses a name from the whole of the given bytes.
    package init(utf8 text: Span<UInt8>) throws(HTTPHostError) {
        let scan = try NameScan(text, 0..<text.count)
        guard scan.end == text.count else { throw .invalidCharacter(text[scan.end]) }
        guard !scan.hasTrailingDot else { throw .emptyLabel }
        guard !scan.endsInNumber else { throw .looksNumeric }
        self.init(checked: scan.lowerCased(text))
    }

    /// Creates a name from bytes that are known to be valid.
    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The name, in lower case.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether this name is equal to the other one or lies below it, label by label: `www.example.com` is
    /// below `example.com`, `evilexample.com` is not.
    public func isSubdomain(of other: DomainName) -> Bool {
        let prefix = bytes.count - other.bytes.count
        guard prefix > 0 else { return self == other }
        return bytes[prefix - 1] == UInt8(ascii: ".") && bytes[prefix...].elementsEqual(other.bytes)
    }
}

extension DomainName: CustomStringConvertible {
    /// The name.
    public var description: String { text }
}
