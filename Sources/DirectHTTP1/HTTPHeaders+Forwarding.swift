/// What a proxy passes on of a message's fields.
extension HTTPHeaders {
    /// Whether the message asks for, or agrees to, another protocol.
    package var areForUpgrade: Bool { lists("upgrade", in: "connection") && index(of: "upgrade") != nil }

    /// The fields but those that are for the next recipient alone (RFC 9110, section 7.6.1).
    package func passedOn(withUpgrade: Bool, without others: Set<String>) -> HTTPHeaders {
        let named = values(for: "connection").flatMap { $0.split(separator: ",") }
        let dropped = Self.ofHop.union(others)
            .union(named.map { $0.lowercased().filter { $0 != " " && $0 != "\t" } })
        var passed = HTTPHeaders()
        for index in indices {
            let name = self[index].name.lowercased()
            if name == "upgrade" ? withUpgrade : !dropped.contains(name) {
                passed.add(fieldAt: index, of: self)
            }
        }
        return passed
    }

    private static let ofHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate",
        "proxy-authentication-info", "transfer-encoding",
    ]
}
