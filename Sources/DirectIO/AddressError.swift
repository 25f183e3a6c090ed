/// What is wrong with the text of an address, an endpoint, or a zone.
@nonexhaustive
public enum AddressError: Error, Hashable, Sendable {
    /// There is no text at all.
    case empty
    /// This text is neither an IPv4 nor an IPv6 address in strict form.
    case notAnAddress(String)
    /// Brackets hold something that is not an IPv6 address.
    case notIPv6(String)
    /// A bracket is opened and never closed.
    case unclosedBracket
    /// Something other than `:port` follows the closing bracket.
    case textAfterBracket(String)
    /// The port is not a number from 1 to 65535.
    case invalidPort(String)
    /// The text is no range of addresses: an address and the length of a prefix, the bits behind it zero.
    case invalidRange(String)
    /// No network interface of this machine carries the zone's name.
    case unknownZone(String)
}

extension AddressError: CustomStringConvertible {
    /// The fault in words, with the offending text quoted and bounded.
    public var description: String {
        switch self {
        case .empty: "the address is empty"
        case .notAnAddress(let text): "\(quoted(text)) is not an IPv4 or IPv6 address"
        case .notIPv6(let text): "\(quoted(text)) in brackets is not an IPv6 address"
        case .unclosedBracket: "the address has an opening bracket and no closing one"
        case .textAfterBracket(let text): "\(quoted(text)) follows the bracketed address; only :port may"
        case .invalidPort(let text): "\(quoted(text)) is not a port from 1 to 65535"
        case .invalidRange(let text): "\(quoted(text)) is not a range such as 10.0.0.0/8"
        case .unknownZone(let zone): "no network interface is called \(quoted(zone))"
        }
    }
}

/// The text between quotation marks, cut at 64 characters and free of control characters, so that a
/// hostile address cannot write lines of its own into a log.
private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars.prefix(64) {
        let isControl = scalar.properties.generalCategory == .control
        result.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
    }
    if text.unicodeScalars.count > 64 { result += "…" }
    return result + "\""
}
