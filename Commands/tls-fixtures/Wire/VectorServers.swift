internal import TLSFixtures

/// The servers of one vector. No other vector uses them.
struct VectorServers {
    let servers: [FixtureServer]
    /// Whether each server's connections end without stopping it.
    let endsByItself: [Bool]

    /// Returns the records of each server once its connections have ended, or after 2 seconds.
    func records() async -> [[ConnectionRecord]] {
        var all: [[ConnectionRecord]] = []
        for (server, endsByItself) in zip(servers, endsByItself) {
            // What has connected and gone may still wait to be accepted.
            let own = (try? await server.settle()).flatMap { $0 }
            if endsByItself {
                // A connection that ends late is not the client's fault. The records are compared as they
                // are.
                _ = try? await server.waitUntil(within: .seconds(2)) {
                    $0.allSatisfy { $0.end != nil || $0.number == own }
                }
            }
            all.append(server.records.filter { $0.number != own })
        }
        return all
    }
}

extension [ConnectionRecord] {
    /// Compares the names that the client sent with the requested host.
    ///
    /// The host decides SNI (RFC 6066, section 3) and Host (RFC 9110, section 7.2). Neither ever contains the
    /// address that was connected to or its port.
    func misnamings(host: String, port: UInt16) -> [Difference] {
        let wantedName = host.isAddress ? nil : host.bareName
        let wantedHost = "\(host.bareName), port \(port)"
        let names = filter { $0.hello != nil }.map { $0.serverName?.lowercased() }
        var differences: [Difference] = []
        for record in self {
            for request in record.requests {
                let got = request.headers["host"]?.readAsHost ?? "none"
                differences += Difference.between("Host", expected: wantedHost, got: got)
                differences += request.malformations
            }
        }
        return names.flatMap { Difference.betweenServerNames(wantedName, got: $0) }
            + differences.judged(by: .must)
    }
}

extension Difference {
    /// Compares SNI with what it must be. `nil`: none.
    ///
    /// Another name is wrong. That there is one is recommended, and only for what is a fully qualified name
    /// of a host (RFC 6066, section 3).
    static func betweenServerNames(_ wanted: String?, got: String?) -> [Difference] {
        guard wanted != got else { return [] }
        let isFull = wanted.map { $0.contains(".") && !$0.contains("_") } ?? true
        let right: Right = got != nil ? .must : isFull ? .should : .choice
        return [Difference(what: "SNI", expected: wanted ?? "none", got: got ?? "none", right: right)]
    }
}

extension String {
    /// Whether this is an IP address rather than a name, for hosts as the vectors use them.
    var isAddress: Bool {
        contains(":") || (!isEmpty && allSatisfy { $0 == "." || ("0"..."9").contains($0) })
    }

    /// The host in the form used for comparison: lower case, no trailing dot, canonical addresses.
    fileprivate var bareName: String {
        (hasSuffix(".") ? String(dropLast()) : self).lowercased().canonicalAddress
    }

    /// The value of a Host field as host and port, in the form used for comparison.
    fileprivate var readAsHost: String {
        guard let colon = lastIndex(of: ":") else { return self }
        var host = String(self[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return "\(host.bareName), port \(self[index(after: colon)...])"
    }
}
