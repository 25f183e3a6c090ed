/// Which part of a URL is wrong, or refused (docs/URLs.md says why).
///
/// No case carries the URL's text, for user names and passwords may be in it, also where they are not
/// looked for: in `http://user:pa/ss@host` the "port" is half a password.
@nonexhaustive
public enum URLFault: Error, Hashable, Sendable {
    /// The text is longer than the limit.
    case tooLong(limit: Int)
    /// A space or control character comes before or after the URL.
    case surroundedBySpace
    /// A tab or a line break lies inside the URL: browsers drop it, others end there.
    case tabOrLineBreak
    /// A backslash lies before the query: browsers read a slash, others a character of the host.
    case backslash
    /// The text does not begin with `http://` or `https://`.
    case notHTTP
    /// The URL has this scheme, which is neither http nor https.
    case unsupportedScheme(String)
    /// `http:` or `https:` is not followed by two slashes.
    case missingAuthority
    /// More than one at-sign lies before the host: readers differ on where the host begins.
    case severalAtSigns
    /// The host is wrong.
    case host(HostFault)
    /// The port is not a number from 0 to 65535.
    case invalidPort
}

extension URLFault: CustomStringConvertible {
    /// The fault in words, without any text of the URL but its scheme.
    public var description: String {
        switch self {
        case .tooLong(let limit): "the URL is longer than \(limit) bytes"
        case .surroundedBySpace: "a space or control character comes before or after the URL"
        case .tabOrLineBreak: "the URL holds a tab or a line break"
        case .backslash: "the URL holds a backslash before its query"
        case .notHTTP: "the URL does not begin with http:// or https://"
        case .unsupportedScheme(let scheme): "the URL's scheme is \(scheme), not http or https"
        case .missingAuthority: "the URL's scheme is not followed by //"
        case .severalAtSigns: "the URL holds more than one @ before its host"
        case .host(let fault): "in the URL, \(fault)"
        case .invalidPort: "the URL's port is not a number from 0 to 65535"
        }
    }
}
