internal import TLSFixtures

/// A proxy for clients that have no option for the address to connect to.
enum JobProxy {
    /// Starts a proxy that connects every host of a job to its address. Returns `nil` if no host has exactly
    /// one.
    static func start(for job: Job) -> FixtureServer? {
        var routes: [String: String] = [:]
        for route in job.routes where route.addresses.count == 1 {
            for spelling in spellings(of: route.authority) { routes[spelling] = route.addresses[0] }
        }
        guard !routes.isEmpty else { return nil }
        return try? FixtureServer.start(behaviour: .proxy(FixtureProxy(routes)))
    }

    /// The texts by which clients ask for an authority: a host has no case, and the dot at its end says
    /// nothing.
    private static func spellings(of authority: String) -> [String] {
        let plain = authority.replacing(".:", with: ":")
        guard let colon = plain.lastIndex(of: ":") else { return [authority] }
        let withDot = plain[..<colon] + "." + plain[colon...]
        return [plain, String(withDot)].flatMap { [$0, $0.lowercased()] }
    }
}
