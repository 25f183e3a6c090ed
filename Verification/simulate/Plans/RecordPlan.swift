extension ResolverPlan {
    /// Whether the services are asked for HTTPS records (RFC 9460), and whether addresses wait for these.
    enum Records: String, Codable, CaseIterable {
        case brief, awaited
    }

    /// An HTTPS record of a host, or what its question gets in place of records.
    enum Binding: String, Codable, CaseIterable {
        /// Names the host itself, another port of it, another name, or an address of a name without any.
        case own, port, target, hint
        /// Leads to another name, or to the host again.
        case alias, loop
        /// Has a mandatory key that nobody knows, or another protocol only, and an address of no host.
        case mandatory, otherProtocol
        /// Is malformed, which makes all void.
        case malformed
        case failure, late

        /// Whether the answer is this and nothing else.
        var isAlone: Bool { [.alias, .loop, .failure, .late].contains(self) }
        var isVoid: Bool { [.mandatory, .otherProtocol, .malformed].contains(self) }
    }

    /// The port of a record that names one.
    static let recordPort = 8444

    func bindings(ofHost host: Int) -> [Binding] {
        guard let bindings, bindings.indices.contains(host) else { return [] }
        return bindings[host]
    }
}

extension Plan {
    /// Lets hosts have HTTPS records, and services be asked for them. Some hosts are at unusual ports.
    mutating func haveRecords() {
        // A generator of its own leaves all other worlds as they are.
        var dice = Dice(seed: seed ^ 0x9460)
        guard resolvers != nil, keeping == nil, encryption == nil, dice.chance(50) else { return }
        resolvers?.records = dice.one(of: ResolverPlan.Records.allCases)
        for service in resolvers?.services.indices ?? 0..<0 {
            let format = resolvers?.services[service].format
            guard format == .dnsPod || format == .alibaba else { continue }
            resolvers?.services[service].format = .wireByPost
            resolvers?.services[service].listTime = nil
            resolvers?.services[service].knownServers = nil
        }
        resolvers?.bindings = hosts.indices.map { host in
            hosts[host].isSecure = dice.chance(70)
            if dice.chance(30) { hosts[host].port = hosts[host].isSecure ? 8443 : 8080 }
            let first = dice.one(of: ResolverPlan.Binding.allCases + [.port, .port, .port])
            if first.isAlone || dice.chance(50) { return [first] }
            return [first, dice.one(of: ResolverPlan.Binding.allCases.filter { !$0.isAlone })]
        }
    }
}
