/// Why something is no cookie, or none that its sender may set.
@nonexhaustive
public enum CookieFault: Error, Hashable, Sendable {
    /// Neither name nor value.
    case empty
    /// A character that would end the cookie, its name or the header field, or that no cookie may hold.
    case invalidCharacter
    /// Name and value have more than 4096 bytes together, or the path more than 8192.
    case tooLong
    /// The path does not begin with a slash.
    case badPath
    /// The host is not one.
    case badHost(HostFault)
    /// An address has no names below it.
    case addressHasNoSubdomains
    /// Whoever owns a name below this public suffix would share the cookie with all others there.
    case publicSuffix
    /// The name begins with `__Secure-` or `__Host-`, and the cookie does not keep what that promises.
    case brokenPrefix
}

extension CookieFault: CustomStringConvertible {
    /// The fault in words, without anything of the cookie.
    public var description: String {
        switch self {
        case .empty: "the cookie has neither name nor value"
        case .invalidCharacter: "the cookie holds a character that none may"
        case .tooLong: "the cookie is too long"
        case .badPath: "the cookie's path does not begin with a slash"
        case .badHost(let fault): "the cookie's host is none: \(fault)"
        case .addressHasNoSubdomains: "the cookie is for the names below an address, which has none"
        case .publicSuffix: "the cookie is for all names below a public suffix"
        case .brokenPrefix: "the cookie's name promises more than the cookie keeps"
        }
    }
}
