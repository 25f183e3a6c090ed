public import DirectHTTP

/// The reason why a host as people type it is invalid or refused (docs/URLs.md explains each).
@nonexhaustive
public enum InternationalHostError: Error, Hashable, Sendable {
    /// The URL around the host is invalid.
    case url(HTTPURLError)
    /// The name is none in ASCII, before or after the conversion: too long, empty labels, a number at its
    /// end.
    case host(HTTPHostError)
    /// The name contains this character, which UTS 46 allows in no name.
    case disallowed(Unicode.Scalar)
    /// The name contains this character, which programs read differently: as a dot or not, as `ss` or `ß`.
    case ambiguous(Unicode.Scalar)
    /// A label begins or ends with a hyphen, or its third and fourth characters are hyphens.
    case hyphens
    /// A label begins with a combining mark, which would join the dot before it.
    case leadingMark
    /// A character that joins others, and is invisible, is where it joins none (RFC 5892, appendix A).
    case joiner
    /// Characters from right to left and from left to right would be shown in a misleading order (RFC 5893).
    case direction
    /// A label that begins with `xn--` is not what the conversion makes of any label.
    case notALabel
}

extension InternationalHostError: CustomStringConvertible {
    /// The error in words. The host is not repeated.
    public var description: String {
        switch self {
        case .url(let error): error.description
        case .host(let error): error.description
        case .disallowed(let character): "the host contains \(character.number), which no name may contain"
        case .ambiguous(let character):
            "the host contains \(character.number), which programs read differently"
        case .hyphens: "a label of the host has hyphens at its ends, or as third and fourth character"
        case .leadingMark: "a label of the host begins with a combining mark"
        case .joiner: "the host contains an invisible character that joins no others"
        case .direction: "the host mixes characters from right to left and from left to right"
        case .notALabel: "a label of the host begins with xn--, but stands for no other label"
        }
    }
}

extension Unicode.Scalar {
    /// The character's number. The character itself might move the text around it.
    fileprivate var number: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
