internal import FoundationEssentials

/// Makes the plan of a failing world smaller, as long as the same judge still finds a fault in it.
struct Shrinker {
    let judge: String

    /// Returns the smallest plan that was found; `nil` if this one has no such fault.
    func shrink(_ plan: Plan) -> Plan? {
        guard fails(plan) else { return nil }
        var smallest = plan
        var tries = 0
        search: while tries < 3000 {
            for candidate in smallest.simpler where candidate != smallest {
                tries += 1
                if fails(candidate) {
                    smallest = candidate
                    continue search
                }
            }
            break
        }
        return smallest
    }

    private func fails(_ plan: Plan) -> Bool { World.run(plan).judges.contains(judge) }
}

extension Plan {
    /// Simpler plans, the boldest first.
    ///
    /// They are made of the plan as JSON: an element of a list is removed, a member is removed or gets its
    /// usual value, a size is halved. So a new property of a plan needs nothing here.
    fileprivate var simpler: [Plan] {
        guard let whole = JSON(self), let usual = JSON(Self.usual) else { return [] }
        return whole.simpler(than: usual).sorted { $0.depth < $1.depth }.compactMap { $0.value.plan }
    }

    /// A plan with everything that a plan may have, where all properties have their usual values.
    private static var usual: Plan {
        var plan = Plan(seed: 0, network: NetworkPlan(), hosts: [HostPlan()], calls: [CallPlan()])
        (plan.files, plan.disk) = ([FilePlan()], DiskPlan())
        (plan.keeping, plan.resolvers, plan.tunnels) = (KeepingPlan(), ResolverPlan(), TunnelPlan())
        plan.keeping?.cache = KeepingPlan.CacheLimits()
        plan.keeping?.ends = [KeepingPlan.End()]
        plan.resolvers?.cache = ResolverPlan.Cache()
        (plan.client.hedging, plan.client.transfers) = (HedgePlan(), TransferPlan())
        plan.hosts[0].digest = HostPlan.Digest()
        plan.calls[0].download = DownloadPlan()
        return plan
    }
}

/// A plan as JSON.
extension JSON {
    /// A simpler value, and how deep the change is.
    fileprivate typealias Simpler = (value: JSON, depth: Int)

    /// The lists whose places are written elsewhere, so that they stay as they are.
    private static let fixed = ["hosts", "files"]
    /// The lists that may be empty.
    private static let emptiable = ["changes", "moves", "ends"]
    private static let sizes = ["size", "upload"]

    fileprivate init?(_ plan: Plan) {
        guard let data = try? JSONEncoder().encode(plan),
            let value = try? JSONDecoder().decode(JSON.self, from: data)
        else { return nil }
        self = value
    }

    /// `nil` if it lacks a member that every plan has.
    fileprivate var plan: Plan? {
        (try? JSONEncoder().encode(self)).flatMap { try? JSONDecoder().decode(Plan.self, from: $0) }
    }

    /// Returns the values that are simpler than this one by one change.
    ///
    /// - Parameters:
    ///   - usual: The value that it has in most plans.
    ///   - name: The member that it is.
    fileprivate func simpler(than usual: JSON?, name: String = "") -> [Simpler] {
        switch (self, usual) {
        case (.number(let number), _) where Self.sizes.contains(name): [(.number(number / 2), 1)]
        case (.list(let list), .list(let usual)?): Self.simpler(list, than: usual.first, name: name)
        case (.members(let members), .members(let usual)?): Self.simpler(members, than: usual)
        default: []
        }
    }

    private static func simpler(_ list: [JSON], than usual: JSON?, name: String) -> [Simpler] {
        var all: [Simpler] = []
        let mayShrink = !fixed.contains(name) && (list.count > 1 || emptiable.contains(name))
        for place in list.indices.reversed() {
            var others = list
            others.remove(at: place)
            if mayShrink { all.append((.list(others), 0)) }
            for value in [usual].compactMap({ $0 }) + list[place].simpler(than: usual).map(\.value) {
                others = list
                others[place] = value
                all.append((.list(others), 1))
            }
        }
        return all
    }

    private static func simpler(_ members: [String: JSON], than usual: [String: JSON]) -> [Simpler] {
        var all: [Simpler] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) where name != "seed" {
            var others = members
            for value in fixed.contains(name) ? [] : [nil, usual[name]] {
                others[name] = value
                all.append((.members(others), 1))
            }
            for change in value.simpler(than: usual[name], name: name) {
                others[name] = change.value
                all.append((.members(others), change.depth + 1))
            }
        }
        return all
    }
}
