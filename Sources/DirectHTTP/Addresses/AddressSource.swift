/// Who named an address, and how fresh that news is.
public struct AddressSource: Hashable, Sendable {
    /// Who can name an address.
    public enum Author: Hashable, Sendable {
        /// The request itself.
        case request
        /// The client's static map.
        case staticMap
        /// The URL, whose host is an address.
        case url
        /// The system's resolver.
        case system
        /// Another resolver, by its name.
        case resolver(String)
    }

    /// How fresh an answer is.
    public enum Freshness: String, Hashable, Sendable {
        /// Given for this request, or never in doubt.
        case fresh
        /// Remembered from an earlier answer that is still valid.
        case cached
        /// Remembered from an answer whose time is over.
        case stale
    }

    public var author: Author
    public var freshness: Freshness

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
    /// The system's resolver, just asked.
    public static var system: AddressSource { AddressSource(.system) }

    /// Another resolver, just asked.
    public static func resolver(_ name: String) -> AddressSource { AddressSource(.resolver(name)) }
}

extension AddressSource: CustomStringConvertible {
    /// The author, and `cached` or `stale` if it is so.
    public var description: String {
        let author =
            switch author {
            case .request: "request"
            case .staticMap: "staticMap"
            case .url: "url"
            case .system: "system"
            case .resolver(let name): name
            }
        return freshness == .fresh ? author : "\(author), \(freshness.rawValue)"
    }
}
