/// The reason why a host, a name or an address in its place, is invalid.
@nonexhaustive
public enum HTTPHostError: Error, Hashable, Sendable {
    /// The host is empty.
    case missing
    /// The name contains a character beyond ASCII. It has to be given in its A-label form.
    case notASCII
    /// The name contains a percent sign. A name needs none, and decoding it would be a second parse.
    case percentEncoded
    /// The name contains this byte, which is not allowed in a host name.
    case invalidCharacter(UInt8)
    /// Two dots follow each other, or a dot comes first.
    case emptyLabel
    /// A label is longer than 63 bytes.
    case labelTooLong
    /// The name is longer than 253 bytes.
    case tooLong
    /// The last label is a number, but the whole is not an IPv4 address of four decimal numbers.
    case looksNumeric
    /// The text in brackets is not an IPv6 address.
    case notIPv6
    /// An opening bracket has no closing one.
    case unclosedBracket
    /// Something other than a port follows the closing bracket.
    case textAfterBracket
}

extension HTTPHostError: CustomStringConvertible {
    /// The error in words. The host is not repeated: in a malformed URL it may be part of a password.
    public var description: String {
        switch self {
        case .missing: "the host is missing"
        case .notASCII: "the host is not ASCII; give its A-label form (xn--…)"
        case .percentEncoded: "the host contains a percent sign"
        case .invalidCharacter(let byte): "the host contains \(Self.words(for: byte)), which is not allowed"
        case .emptyLabel: "a label of the host is empty"
        case .labelTooLong: "a label of the host is longer than 63 bytes"
        case .tooLong: "the host is longer than 253 bytes"
        case .looksNumeric: "the host looks like a number, but is not an IPv4 address in a.b.c.d form"
        case .notIPv6: "the host in brackets is not an IPv6 address"
        case .unclosedBracket: "the host has an opening bracket but no closing one"
        case .textAfterBracket: "something other than a port follows the host's closing bracket"
        }
    }

    private static func words(for byte: UInt8) -> String {
        switch byte {
        case 0x20: "a space"
        case 0x21...0x7E: "\"\(Character(Unicode.Scalar(byte)))\""
        default: "the byte 0x\(String(byte, radix: 16, uppercase: true))"
        }
    }
}
