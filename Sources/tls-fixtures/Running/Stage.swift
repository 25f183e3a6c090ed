internal import TLSFixtures

/// The servers of one vector, started for it alone.
struct Stage {
    let servers: [FixtureServer]
    /// Whether each of them sees its connections end without being stopped.
    let endsByItself: [Bool]

    /// What happened at each of the servers, once nothing more will.
    func records() async -> [[ConnectionRecord]] {
        var all: [[ConnectionRecord]] = []
        for (server, endsByItself) in zip(servers, endsByItself) {
            if endsByItself {
                // Too late is no fault of the client's: what is there is judged.
                _ = try? await server.waitUntil(within: .seconds(2)) { $0.allSatisfy { $0.end != nil } }
            }
            all.append(server.records)
        }
        return all
    }
}

extension [ConnectionRecord] {
    /// What is wrong about the names that the client gave, whichever address it went to.
    ///
    /// The name decides SNI (RFC 6066, section 3) and Host (RFC 9110, section 7.2); neither ever shows the address
    /// that was dialled or its port.
    func misnamings(host: String, port: UInt16) -> [Difference] {
        let wantedName = host.isAddress ? "no name" : host.bareName
        let wantedHost = "\(host.bareName), port \(port)"
        var differences: [Difference] = []
        for record in self {
            if record.hello != nil {
                differences += Difference.between(
                    "SNI",
                    wantedName,
                    record.serverName?.lowercased() ?? "no name"
                )
            }
            for request in record.requests {
                let got = request.headers["host"]?.readAsHost ?? "none"
                differences += Difference.between("Host", wantedHost, got)
            }
        }
        return differences
    }
}

extension String {
    /// Whether this is an address and not a name, as far as vectors have any.
    var isAddress: Bool {
        contains(":") || (!isEmpty && allSatisfy { $0 == "." || ("0"..."9").contains($0) })
    }

    /// A host in the spelling that hosts are compared in: no case, no dot at the end, one form of address.
    fileprivate var bareName: String {
        (hasSuffix(".") ? String(dropLast()) : self).lowercased().canonicalAddress
    }

    /// The value of a Host field, taken apart.
    fileprivate var readAsHost: String {
        guard let colon = lastIndex(of: ":") else { return self }
        var host = String(self[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return "\(host.bareName), port \(self[index(after: colon)...])"
    }
}
