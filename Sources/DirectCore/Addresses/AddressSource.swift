/// The source of an address: the author that named it, and how fresh the answer was.
public struct AddressSource: Hashable, Sendable {
    /// The part of the program, or the service, that named an address.
    public enum Author: Hashable, Sendable {
        /// The request itself: its addresses, or the map that it has of its own.
        case request
        /// The client's static map, or a resolver that is a map.
        case staticMap
        /// The URL, whose host is an address.
        case url
        /// The system's resolver.
        case system
        /// Another resolver, by its name.
        case resolver(String)
        /// A proxy. It looks the name up itself and does not report the address.
        case proxy
    }

    /// The age of an answer.
    public enum Freshness: String, Hashable, Sendable {
        /// The answer was given for this request, or its age does not matter.
        case fresh
        /// The answer comes from a cache and is still valid.
        case cached
        /// The answer comes from a cache, and its time to live is over.
        case stale
    }

    /// The author that named the address.
    public var author: Author
    /// The age of the author's answer.
    public var freshness: Freshness

    /// Creates a source from an author and the age of its answer.
    public init(_ author: Author, _ freshness: Freshness = .fresh) {
        self.author = author
        self.freshness = freshness
    }

    /// The request itself.
    public static var request: AddressSource { AddressSource(.request) }
    /// The client's static map.
    public static var staticMap: AddressSource { AddressSource(.staticMap) }
    /// The URL, whose host is an address.
    public static var url: AddressSource { AddressSource(.url) }
    /// The system's resolver, asked for this request.
    public static var system: AddressSource { AddressSource(.system) }
    /// A proxy, which looks the name up itself.
    public static var proxy: AddressSource { AddressSource(.proxy) }

    /// Another resolver, asked for this request.
    ///
    /// - Parameter name: The resolver's ``Resolver/name``.
    public static func resolver(_ name: String) -> AddressSource { AddressSource(.resolver(name)) }
}

extension AddressSource: CustomStringConvertible {
    /// The author, followed by `cached` or `stale` if the answer is not fresh.
    public var description: String {
        let author =
            switch author {
            case .request: "request"
            case .staticMap: "staticMap"
            case .url: "url"
            case .system: "system"
            case .proxy: "proxy"
            case .resolver(let name): name
            }
        return freshness == .fresh ? author : "\(author), \(freshness.rawValue)"
    }
}
