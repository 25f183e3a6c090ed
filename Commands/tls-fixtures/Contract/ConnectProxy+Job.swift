extension ConnectProxy {
    /// Starts a proxy that connects every host of a job to the first of its addresses. Returns `nil` if no
    /// host has exactly one address.
    static func forJob(_ job: Job) -> ConnectProxy? {
        var places: [String: (address: String, port: UInt16)] = [:]
        for route in job.routes {
            guard route.addresses.count == 1, let place = Self.place(route.addresses[0]) else { continue }
            places[Self.key(route.authority)] = place
        }
        guard !places.isEmpty else { return nil }
        return ConnectProxy { [places] target in places[key(target)] }
    }

    /// An authority in the form in which it is compared: a host has no case, and the dot at its end says
    /// nothing.
    private static func key(_ authority: String) -> String {
        authority.lowercased().replacing(".:", with: ":")
    }

    /// The address and the port in an authority.
    private static func place(_ authority: String) -> (address: String, port: UInt16)? {
        guard let colon = authority.lastIndex(of: ":"),
            let port = UInt16(authority[authority.index(after: colon)...])
        else { return nil }
        let host = authority[..<colon]
        return (String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host), port)
    }
}
