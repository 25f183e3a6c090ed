/// A chain that is trusted, but contains no pinned key.
public struct KeyMismatch: Hashable, Sendable {
    /// The name or address in the URL.
    public let name: String
    /// The pins of the verified chain's keys, the server's own key first.
    public let seen: [KeyPin]
    /// Whether the chain was only reported, and the connection continued.
    public let wasReportOnly: Bool
}

extension KeyMismatch: CustomStringConvertible {
    /// The name, and the pins of the chain's keys.
    public var description: String {
        let pins = seen.map(\.description).joined(separator: ", ")
        return "no key in the chain of \(printable(name)) is pinned; it has \(pins)"
    }
}
