/// An error in the text of an address, an endpoint, an address range or a zone.
@nonexhaustive
public enum AddressError: Error, Hashable, Sendable {
    /// The text is empty.
    case empty
    /// The text is neither an IPv4 nor an IPv6 address in strict form.
    case notAnAddress(String)
    /// The text in brackets is not an IPv6 address.
    case notIPv6(String)
    /// An opening bracket has no closing one.
    case unclosedBracket
    /// Something other than `:port` follows the closing bracket.
    case textAfterBracket(String)
    /// The port is not a number from 1 to 65535.
    case invalidPort(String)
    /// The text is not a range of addresses: an address, a slash, and the length of a prefix, with all bits
    /// after the prefix zero.
    case invalidRange(String)
    /// No network interface of this machine has the zone's name.
    case unknownZone(String)
}

extension AddressError: CustomStringConvertible {
    /// The error as a short English text. The offending text is quoted and its length is limited.
    public var description: String {
        switch self {
        case .empty: "the address is empty"
        case .notAnAddress(let text): "\(quoted(text)) is not an IPv4 or IPv6 address"
        case .notIPv6(let text): "\(quoted(text)) in brackets is not an IPv6 address"
        case .unclosedBracket: "the address has an opening bracket but no closing one"
        case .textAfterBracket(let text): "\(quoted(text)) follows the bracketed address; only :port may"
        case .invalidPort(let text): "\(quoted(text)) is not a port from 1 to 65535"
        case .invalidRange(let text): "\(quoted(text)) is not a range such as 10.0.0.0/8"
        case .unknownZone(let zone): "no network interface is called \(quoted(zone))"
        }
    }
}

/// Returns the text in quotation marks, limited to 64 characters and without control characters, so that a
/// hostile address cannot forge lines in a log.
private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars.prefix(64) {
        let isControl = scalar.properties.generalCategory == .control
        result.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
    }
    if text.unicodeScalars.count > 64 { result += "…" }
    return result + "\""
}
