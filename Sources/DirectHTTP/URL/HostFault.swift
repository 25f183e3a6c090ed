/// What is wrong with a host: a name, or an address where a name may stand.
@nonexhaustive
public enum HostFault: Error, Hashable, Sendable {
    /// There is no host.
    case missing
    /// The name holds a character beyond ASCII: it must be given in its A-label form.
    case notASCII
    /// The name holds a percent sign: a name needs none, and decoding it would be a second reading.
    case percentEncoded
    /// The name holds this byte, which no host name may.
    case invalidCharacter(UInt8)
    /// Two dots meet, or a dot comes first.
    case emptyLabel
    /// A label is longer than 63 bytes.
    case labelTooLong
    /// The name is longer than 253 bytes.
    case tooLong
    /// The last label is a number, and the whole is not an IPv4 address of four decimal numbers.
    case looksNumeric
    /// The brackets hold no IPv6 address.
    case notIPv6
    /// A bracket is opened and never closed.
    case unclosedBracket
    /// Something other than a port follows the closing bracket.
    case textAfterBracket
}

extension HostFault: CustomStringConvertible {
    /// The fault in words. The host is not repeated: in a broken URL it may be part of a password.
    public var description: String {
        switch self {
        case .missing: "the host is missing"
        case .notASCII: "the host is not ASCII; give its A-label form (xn--…)"
        case .percentEncoded: "the host holds a percent sign"
        case .invalidCharacter(let byte): "the host holds \(Self.words(for: byte)), which no host name may"
        case .emptyLabel: "a label of the host is empty"
        case .labelTooLong: "a label of the host is longer than 63 bytes"
        case .tooLong: "the host is longer than 253 bytes"
        case .looksNumeric: "the host looks like a number, and is not an IPv4 address in a.b.c.d form"
        case .notIPv6: "the host in brackets is not an IPv6 address"
        case .unclosedBracket: "the host has an opening bracket and no closing one"
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
