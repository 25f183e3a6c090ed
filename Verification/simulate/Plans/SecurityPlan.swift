/// How a server is protected, and how clients come to know of it.
extension HostPlan {
    /// What a client knows of a policy to use TLS only (HSTS).
    enum Strictness: String, Codable, CaseIterable {
        /// The server sends the policy, and answers plain requests with a redirect.
        case learned
        /// The client knows it from the beginning.
        case known
        /// The server redirects, and sends no policy.
        case none
    }

    /// What a server asks of users that log in by digest.
    struct Digest: Codable, Equatable {
        var algorithm = "SHA-256"
        /// The number of requests that a nonce is good for; `nil` for any.
        var uses: Int?
        /// Whether it sends no `qop`, as old servers do.
        var isOld = false
        /// Whether it asks for the password as it is (RFC 7617).
        var isBasic: Bool { algorithm == "Basic" }
    }
}

/// When late requests are sent twice.
struct HedgePlan: Codable, Equatable {
    /// The time to wait; `nil` for as long as most responses of the origin took.
    var delay: Int?
}

/// Worlds for these features are drawn here.
extension Plan {
    /// Sends late requests to a second address as well.
    mutating func hedgeRequests(_ dice: inout Dice) {
        client.hedging = HedgePlan(delay: dice.one(of: [1000, 20_000, 20_000]))
        for host in hosts.indices where hosts[host].addresses.count == 1 {
            hosts[host].addresses.append(AddressPlan())
        }
        if dice.chance(20) {
            client.hedging?.delay = nil
            let usual = calls[0]
            for number in 0..<22 {
                var call = CallPlan()
                (call.host, call.follows, call.isOnLoop) = (usual.host, number > 0, usual.isOnLoop)
                calls.insert(call, at: number)
            }
        }
        for call in calls.indices {
            if dice.chance(50), [.post, .stream].contains(calls[call].kind) {
                calls[call].kind = dice.one(of: [.get, .put])
            }
            for reply in calls[call].replies.indices where dice.chance(40) {
                calls[call].replies[reply].delay = dice.one(of: [2000, 30_000, 100_000, 400_000])
            }
        }
        if dice.chance(40) {
            calmDown()
            (client.proxy, client.perOrigin, client.connections) = (.none, nil, nil)
        }
    }

    /// Lets clients reach servers at Unix domain sockets, and from an address of their own.
    mutating func useSockets(_ dice: inout Dice) {
        if dice.chance(50) {
            client.bindsAddress = true
            for host in hosts.indices {
                for place in hosts[host].addresses.indices { hosts[host].addresses[place].isV6 = false }
            }
            return
        }
        if client.resolving == .request { client.resolving = .map }
        for host in hosts.indices where dice.chance(60) { hosts[host].hasSocket = true }
    }

    /// Lets servers ask for digests, or for TLS only.
    mutating func protectHosts(_ dice: inout Dice) {
        let isStrict = dice.chance(50)
        client.keepsHSTS = isStrict
        client.logsInPerRequest = dice.chance(30)
        for host in hosts.indices where dice.chance(80) {
            if isStrict, hosts[host].isSecure {
                hosts[host].strictness = dice.one(of: HostPlan.Strictness.allCases)
            }
            if dice.chance(70) {
                hosts[host].digest = HostPlan.Digest(
                    algorithm: dice.one(of: ["SHA-256", "SHA-256", "MD5", "SHA-256-sess", "Basic"]),
                    uses: dice.one(of: [nil, nil, 1, 3]),
                    isOld: dice.chance(10)
                )
            }
        }
        for call in calls.indices {
            calls[call].carriesSecrets = dice.chance(20)
            // The number of a shared resource's call is in a field that does not go to another origin.
            if hosts[calls[call].host].strictness != nil, calls[call].resource == nil, dice.chance(70) {
                calls[call].isPlain = true
            }
        }
    }
}
