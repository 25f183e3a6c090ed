/// The reason why a URL is invalid or refused (docs/URLs.md explains each).
///
/// No case contains more of the URL than its scheme or one byte of its host, because user names and passwords
/// may be in it, even in unexpected parts: in `http://user:pa/ss@host` the "port" is half of a password.
@nonexhaustive
public enum HTTPURLError: Error, Hashable, Sendable {
    /// The text is longer than the limit.
    case tooLong(limit: Int)
    /// A space or control character comes before or after the URL.
    case surroundedBySpace
    /// A tab or a line break is inside the URL: browsers drop it, other parsers end the URL there.
    case tabOrLineBreak
    /// A backslash is before the query: browsers read it as a slash, other parsers as a character of the
    /// host.
    case backslash
    /// The text does not begin with `http://` or `https://`, nor with another scheme. It may be relative, or
    /// begin with a host and a port, as `localhost:8080/`, or with a user and a password.
    case notHTTP
    /// The URL has this scheme, which is neither http nor https, in lower case: `mailto` of
    /// `mailto:ann@example.com`.
    case unsupportedScheme(String)
    /// `http:` or `https:` is not followed by two slashes.
    case missingAuthority
    /// More than one at-sign is before the host: parsers disagree on where the host begins.
    case severalAtSigns
    /// The host is invalid.
    case host(HTTPHostError)
    /// The port is not a number from 0 to 65535.
    case invalidPort
    /// A component to append to the path is empty: `items/\(id)` with an empty `id` would name the whole
    /// list.
    case emptyPathComponent
    /// A component to append to the path is `.` or `..`, which a path cannot contain, escaped or not.
    case dotPathComponent
    /// A component or a query item contains the character NUL, at which many programs end a text.
    case nulCharacter
}

extension HTTPURLError: CustomStringConvertible {
    /// The error in words, without more of the URL than its scheme or one byte of its host.
    public var description: String {
        switch self {
        case .tooLong(let limit): "the URL is longer than \(limit) bytes"
        case .surroundedBySpace: "a space or control character comes before or after the URL"
        case .tabOrLineBreak: "the URL contains a tab or a line break"
        case .backslash: "the URL contains a backslash before its query"
        case .notHTTP: "the URL does not begin with http:// or https://"
        case .unsupportedScheme(let scheme): "the URL's scheme is \(scheme), not http or https"
        case .missingAuthority: "the URL's scheme is not followed by //"
        case .severalAtSigns: "the URL contains more than one @ before its host"
        case .host(let fault): "in the URL, \(fault)"
        case .invalidPort: "the URL's port is not a number from 0 to 65535"
        case .emptyPathComponent: "a component for the URL's path is empty"
        case .dotPathComponent: "a component for the URL's path is . or .."
        case .nulCharacter: "a text for the URL contains the character NUL"
        }
    }
}
