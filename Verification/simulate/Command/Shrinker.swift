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
    fileprivate var simpler: [Plan] {
        var all: [Plan] = []
        func add(_ change: (inout Plan) -> Void) {
            var plan = self
            change(&plan)
            all.append(plan)
        }
        for place in calls.indices.reversed() where calls.count > 1 { add { $0.calls.remove(at: place) } }
        add { $0.network = NetworkPlan() }
        add { $0.client = ClientPlan() }
        add { $0.disk = nil }
        simplifyKeeping(add)
        simplifyResolvers(add)
        for file in (files ?? []).indices {
            add { $0.files?[file].changes = [] }
            add { $0.files?[file].size /= 2 }
        }
        simplifyNetwork(add)
        simplifyClient(add)
        for place in hosts.indices { simplifyHost(at: place, with: add) }
        for place in calls.indices { simplifyCall(at: place, with: add) }
        return all
    }

    private typealias Adding = ((inout Plan) -> Void) -> Void

    private func simplifyKeeping(_ add: Adding) {
        guard let keeping else { return }
        add { $0.keeping = nil }
        add { $0.keeping?.cookies = nil }
        add { $0.keeping?.keepsHSTS = false }
        add { $0.keeping?.cache = keeping.cache.map { _ in KeepingPlan.CacheLimits() } }
        add { $0.keeping?.endsSession = false }
        add { $0.keeping?.savePause = 400_000 }
        for end in keeping.ends.indices {
            add { plan in
                plan.keeping?.ends.remove(at: end)
                for call in plan.calls.indices {
                    if let run = plan.calls[call].run, run > end { plan.calls[call].run = run - 1 }
                }
            }
            add { $0.keeping?.ends[end].isPowerFailure = false }
            add { $0.keeping?.ends[end].diskCall = nil }
            add { $0.keeping?.ends[end].pause = 0 }
        }
    }

    private func simplifyResolvers(_ add: Adding) {
        guard let resolvers else { return }
        add { $0.resolvers = nil }
        add { $0.resolvers?.cache = nil }
        add { $0.resolvers?.cache?.isKept = nil }
        add { $0.resolvers?.moves = [] }
        add { $0.resolvers?.freshness = nil }
        add { $0.resolvers?.endsWithSystem = false }
        add { $0.resolvers?.stepLimit = nil }
        for service in resolvers.services.indices {
            if resolvers.services.count > 1 { add { $0.resolvers?.services.remove(at: service) } }
            add { $0.resolvers?.services[service].isSecure = false }
            add { $0.resolvers?.services[service].format = .wireByPost }
            for server in resolvers.services[service].servers.indices {
                if resolvers.services[service].servers.count > 1 {
                    add { $0.resolvers?.services[service].servers.remove(at: server) }
                }
                add { $0.resolvers?.services[service].servers[server] = ResolverPlan.Server() }
            }
        }
    }

    private func simplifyNetwork(_ add: Adding) {
        let usual = NetworkPlan()
        add { $0.network.resets = 0 }
        add { $0.network.socketFailures = 0 }
        add { $0.network.descriptors = nil }
        add { $0.network.shortSends = 0 }
        add { ($0.network.jobCost, $0.network.byteCost) = (0, 0) }
        add { $0.network.segmentLimit = usual.segmentLimit }
        add { ($0.network.sendBuffer, $0.network.receiveBuffer) = (usual.sendBuffer, usual.receiveBuffer) }
        add { ($0.network.shortestDelay, $0.network.longestDelay) = (1000, 1000) }
    }

    private func simplifyClient(_ add: Adding) {
        let usual = ClientPlan()
        add { $0.client.retries = false }
        add { $0.client.proxy = .none }
        add { $0.client.hasProxyCredentials = false }
        add { $0.client.resolving = usual.resolving }
        add { $0.client.perOrigin = nil }
        add { $0.client.connections = nil }
        add { $0.client.idleTimeout = nil }
        add { $0.client.usesPerConnection = nil }
        add { $0.client.keepsCookies = false }
        add { $0.client.caches = false }
        add { $0.client.rebuildsRequests = false }
        add { $0.client.hasNetworkInterceptor = false }
        add { $0.client.observes = false }
        add { $0.client.isReleasedEarly = false }
        add { $0.client.responseLimit = nil }
        add { $0.client.queueLimit = nil }
        add { $0.client.readLimit = nil }
        add { $0.client.connectLimit = nil }
        add { $0.client.continueLimit = nil }
        add { $0.client.slowestBytes = nil }
        add { $0.client.isOldTLS = false }
        add { $0.client.decoding = usual.decoding }
        add { $0.client.hasOwnSecret = false }
        add { $0.client.rebuildsRedirects = false }
        add { $0.client.addsUserBelowCache = false }
        add { $0.client.proxyPause = nil }
        add { $0.client.triesNextOnWrongCertificate = false }
        add { $0.client.acceptsAnyCertificate = nil }
        add { $0.client.hedging = nil }
        add {
            $0.client.keepsHSTS = nil
            $0.keeping?.keepsHSTS = false
        }
        add { $0.client.logsInPerRequest = nil }
    }

    private func simplifyHost(at place: Int, with add: Adding) {
        let usual = HostPlan()
        add { $0.hosts[place] = usual }
        add { $0.hosts[place].isSecure = false }
        add { $0.hosts[place].addresses = Array($0.hosts[place].addresses.prefix(1)) }
        add { plan in
            for address in plan.hosts[place].addresses.indices {
                plan.hosts[place].addresses[address].fate = .works
            }
        }
        add { $0.hosts[place].idleClose = nil }
        add { $0.hosts[place].pieceSize = nil }
        add { $0.hosts[place].updatesKeys = false }
        add { $0.hosts[place].isRude = false }
        add { $0.hosts[place].isOldTLS = false }
        add { $0.hosts[place].tickets = usual.tickets }
        add { $0.hosts[place].resolveTime = usual.resolveTime }
        add { $0.hosts[place].ticketPause = nil }
        add { $0.hosts[place].strictness = nil }
        add { $0.hosts[place].digest = nil }
    }

    private func simplifyCall(at place: Int, with add: Adding) {
        let usual = CallPlan()
        add { $0.calls[place].replies = [ReplyPlan()] }
        for reply in calls[place].replies.indices where calls[place].replies.count > 1 {
            add { $0.calls[place].replies.remove(at: reply) }
        }
        add { $0.calls[place].total = nil }
        add { $0.calls[place].cancellation = nil }
        add { $0.calls[place].start = 0 }
        add { $0.calls[place].reading = usual.reading }
        add { $0.calls[place].isOnLoop = false }
        add { $0.calls[place].carriesSecrets = false }
        add { $0.calls[place].expectsContinue = false }
        add { $0.calls[place].uploadPause = 0 }
        add { $0.calls[place].upload /= 2 }
        add { $0.calls[place].kind = .get }
        add { $0.calls[place].resource = nil }
        add { $0.calls[place].variant = nil }
        add { $0.calls[place].work = 0 }
        add { $0.calls[place].follows = false }
        add { $0.calls[place].download = nil }
        add { $0.calls[place].isPlain = nil }
        for reply in calls[place].replies.indices { simplifyReply(reply, ofCall: place, with: add) }
    }

    private func simplifyReply(_ reply: Int, ofCall place: Int, with add: Adding) {
        func change(_ change: (inout ReplyPlan) -> Void) {
            var simpler = calls[place].replies[reply]
            change(&simpler)
            add { [simpler] in $0.calls[place].replies[reply] = simpler }
        }
        change { $0.ending = .complete }
        change { $0.framing = .length }
        change { $0.delay = 0 }
        change { ($0.parts, $0.pause) = (1, 0) }
        change { $0.size = min($0.size, 10) }
        change { $0.interim = 0 }
        change { $0.isEarly = false }
        change { $0.setsCookie = false }
        change { $0.lifetime = nil }
        change { $0.variesByUser = false }
        change { ($0.hasTag, $0.confirms) = (nil, nil) }
        change { $0.isCoded = false }
        change { $0.isSilentBeforeBody = false }
        change { $0.rangeFault = nil }
    }
}
