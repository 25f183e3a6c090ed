public import DirectCore

/// The hosts that an entry of a ``StaticMap``, or a similar rule, applies to.
public enum HostPattern: Hashable, Sendable {
    /// This host only.
    case host(HTTPHost)
    /// Every name below this one, at any depth, but not the name itself: `*.example.com`.
    case subdomains(of: DomainName)
    /// Every host: `*`.
    case any

    /// Parses a host, `*.name` or `*`.
    ///
    /// - Throws: The ``HTTPHostError`` of a text that is none of these.
    public init(_ text: String) throws(HTTPHostError) {
        self = try withUTF8Result(of: text) { utf8 throws(HTTPHostError) in try HostPattern(utf8: utf8) }
    }

    /// Parses a host, `*.name` or `*` from the whole of the given bytes.
    init(utf8 text: Span<UInt8>) throws(HTTPHostError) {
        if text.isEmpty || text[0] != UInt8(ascii: "*") {
            self = .host(try HTTPHost(utf8: text))
        } else if text.count == 1 {
            self = .any
        } else {
            guard text[1] == UInt8(ascii: ".") else { throw .invalidCharacter(UInt8(ascii: "*")) }
            self = .subdomains(of: try DomainName(utf8: text.extracting(2...)))
        }
    }

    /// Whether the pattern covers the host.
    package func matches(_ host: HTTPHost) -> Bool {
        switch self {
        case .host(let own): own == host
        case .subdomains(let parent): host.name.map { $0 != parent && $0.isSubdomain(of: parent) } ?? false
        case .any: true
        }
    }
}

extension HostPattern: CustomStringConvertible {
    /// The text that ``init(_:)`` parses.
    public var description: String {
        switch self {
        case .host(let host): host.description
        case .subdomains(let name): "*.\(name)"
        case .any: "*"
        }
    }
}
