/// Which hosts an entry of a static map, or a rule like it, is for.
public enum HostPattern: Hashable, Sendable {
    /// This host alone.
    case host(Host)
    /// Every name below this one, at any depth, and not the name itself: `*.example.com`.
    case subdomains(of: DomainName)
    /// Every host: `*`.
    case any

    /// Reads a host, `*.name` or `*`.
    public init(_ text: String) throws(HostFault) {
        self = try withUTF8Result(of: text) { utf8 throws(HostFault) in try HostPattern(utf8: utf8) }
    }

    package init(utf8 text: Span<UInt8>) throws(HostFault) {
        if text.isEmpty || text[0] != UInt8(ascii: "*") {
            self = .host(try Host(utf8: text))
        } else if text.count == 1 {
            self = .any
        } else {
            guard text[1] == UInt8(ascii: ".") else { throw .invalidCharacter(UInt8(ascii: "*")) }
            self = .subdomains(of: try DomainName(utf8: text.extracting(2...)))
        }
    }
}

extension HostPattern: CustomStringConvertible {
    /// The text that `init(_:)` reads.
    public var description: String {
        switch self {
        case .host(let host): host.description
        case .subdomains(let name): "*.\(name)"
        case .any: "*"
        }
    }
}
