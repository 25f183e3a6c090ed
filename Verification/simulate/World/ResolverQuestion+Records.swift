internal import DirectCore

/// Questions for HTTPS records, and about the names that these lead to.
extension ResolverQuestion {
    /// The type of HTTPS records.
    static let recordType = 65

    /// The name of another name of a host, of which the kind of its record says what it has.
    static func name(_ binding: ResolverPlan.Binding, ofHost host: Int) -> String {
        "\(binding)\(host).test".lowercased()
    }

    /// The host that the question is about by another name, and the kind of that name.
    func other(in plan: Plan) -> (host: Int, binding: ResolverPlan.Binding)? {
        for host in plan.hosts.indices {
            for binding in ResolverPlan.Binding.allCases where name == Self.name(binding, ofHost: host) {
                return (host, binding)
            }
        }
        return nil
    }

    /// The data of the records of a host, or of what an alias leads to; `nil` for a server that fails.
    func records(ofHost host: Int, in world: World) -> [[UInt8]]? {
        let bindings = world.plan.resolvers?.bindings(ofHost: host) ?? []
        if let other = other(in: world.plan) {
            return other.binding == .loop ? [Self.data(.loop, 0, host, world, leadsBack: true)] : []
        }
        if bindings.contains(.failure) { return nil }
        return bindings.enumerated().map { Self.data($1, $0 + 1, host, world) }
    }

    private static func data(
        _ binding: ResolverPlan.Binding,
        _ priority: Int,
        _ host: Int,
        _ world: World,
        leadsBack: Bool = false
    ) -> [UInt8] {
        let hasName: Set<ResolverPlan.Binding> = [
            .target, .hint, .alias, .loop, .mandatory, .otherProtocol, .malformed,
        ]
        let name = leadsBack ? recordName(ofHost: host, in: world.plan) : self.name(binding, ofHost: host)
        let isAlias = binding == .alias || binding == .loop
        let data = [0, isAlias ? 0 : UInt8(priority)] + (hasName.contains(binding) ? encode(name) : [0])
        let port = ResolverPlan.recordPort
        let first = world.currentAddresses(ofHost: host)[0].bytes
        return switch binding {
        case .own, .target, .alias, .loop, .failure, .late: data
        case .port: data + [0, 3, 0, 2, UInt8(port >> 8), UInt8(port & 255)]
        case .hint: data + [0, first.count == 4 ? 4 : 6, 0, UInt8(first.count)] + first
        case .mandatory: data + [0, 0, 0, 2, 0x12, 0x34] + stray + [0x12, 0x34, 0, 0]
        case .otherProtocol: data + [0, 1, 0, 3, 2, 0x68, 0x32, 0, 2, 0, 0] + stray
        case .malformed: data + stray + stray
        }
    }

    private static var stray: [UInt8] { [0, 4, 0, 4] + World.strayAddress.bytes }

    /// The name of the records of an origin (RFC 9460, section 9.1).
    static func recordName(ofHost host: Int, in plan: Plan) -> String {
        (plan.hosts[host].port.map { "_\($0)._https." } ?? "") + Material.name(host)
    }

    /// The addresses that the question's name has.
    func addresses(ofHost host: Int, in world: World) -> [IPAddress] {
        other(in: world.plan)?.binding == .hint ? [] : world.currentAddresses(ofHost: host)
    }
}
