internal import DirectCore

/// A reason why a cookie is invalid, or why its sender may not set it.
@nonexhaustive
public enum CookieError: Error, Hashable, Sendable {
    /// Both name and value are empty.
    case empty
    /// A character that would end the cookie, its name or the header field, or that no cookie may contain.
    case invalidCharacter
    /// Name and value have more than 4096 bytes together, or the path more than 8192.
    case tooLong
    /// The path does not begin with a slash.
    case badPath
    /// The host is invalid.
    case badHost(HTTPHostError)
    /// The cookie covers subdomains, but its host is an IP address.
    case addressHasNoSubdomains
    /// The cookie covers all names below a public suffix, so that unrelated owners of such names would share
    /// it.
    case publicSuffix
    /// The name begins with `__Secure-` or `__Host-`, and the cookie does not meet the requirements of that
    /// prefix.
    case brokenPrefix
}

extension CookieError: CustomStringConvertible {
    /// A description of the error, without the cookie's content.
    public var description: String {
        switch self {
        case .empty: "the cookie has neither name nor value"
        case .invalidCharacter: "the cookie contains a character that is not allowed"
        case .tooLong: "the cookie is too long"
        case .badPath: "the cookie's path does not begin with a slash"
        case .badHost(let fault): "the cookie's host is invalid: \(fault)"
        case .addressHasNoSubdomains: "the cookie covers subdomains, but its host is an IP address"
        case .publicSuffix: "the cookie covers all names below a public suffix"
        case .brokenPrefix: "the cookie does not meet the requirements of its name's prefix"
        }
    }
}
