internal import DirectCore

/// The names that have an answer of their own and are never asked for in DNS.
enum SpecialNames {
    /// Returns the answer for a name, with or without a final dot; `nil` if the system has to be asked.
    ///
    /// - `localhost` and its subdomains are this machine (RFC 6761, section 6.3): whatever a server of the
    ///   network says of them would be dialled as if it were. IPv4 comes first, because that is where most
    ///   servers of one machine listen.
    /// - A name under `onion` exists in Tor only, and a question in DNS would reveal it (RFC 7686, section
    ///   2). A proxy that resolves names may be given it.
    static func answer(to name: String) -> SystemLookups.Answer? {
        let labels = name.lowercased().split(separator: ".")
        return switch labels.last {
        case "localhost":
            .success([IPAddress(.v4, high: 0, low: 0x7F00_0001), IPAddress(.v6, high: 0, low: 1)])
        case "onion": .failure(.noSuchName)
        default: nil
        }
    }
}
