/// Worlds where one name has servers at two ports, and where helpers of the client make its requests.
extension Plan {
    /// The host whose name and addresses a host has: another one's, if it is at another port of it.
    func owner(ofHost host: Int) -> Int { hosts[host].sharesName == true ? 0 : host }

    /// Lets a name have servers at two ports, with the same addresses. Each is an origin of its own.
    mutating func shareName(_ dice: inout Dice) {
        guard resolvers == nil, keeping == nil, client.proxy == .none || dice.chance(30),
            hosts.allSatisfy({ $0.strictness == nil && $0.hasSocket != true })
        else { return }
        while hosts.count < 2 { hosts.append(hosts[0]) }
        (hosts[1].addresses, hosts[1].resolveTime) = (hosts[0].addresses, hosts[0].resolveTime)
        (hosts[1].sharesName, hosts[1].port) = (true, dice.one(of: [8080, 8443]))
        for call in calls.indices where calls[call].download == nil {
            (calls[call].host, calls[call].isPlain) = (dice.below(2), nil)
            for reply in calls[call].replies.indices where dice.chance(70) {
                calls[call].replies[reply].target = dice.below(2)
            }
        }
    }

    /// Lets requests be made by helpers: relative to the client's base, or by pages that lead to the next.
    ///
    /// The first host may want TLS only, where the base and the links do not say so.
    mutating func useHelpers(_ dice: inout Dice) {
        guard keeping == nil, resolvers == nil, client.proxy == .none, !hasUsers, files == nil,
            hosts.allSatisfy({ $0.strictness == nil && $0.hasSocket != true }), client.hedging == nil
        else { return }
        let isStrict = dice.chance(70)
        if isStrict {
            (client.keepsHSTS, client.acceptsAnyCertificate) = (true, nil)
            (hosts[0].isSecure, hosts[0].strictness) = (true, dice.one(of: [.learned, .learned, .known]))
        }
        client.hasBase = dice.chance(60)
        if client.hasBase == true { client.hasOwnSecret = dice.chance(70) }
        for host in hosts.indices { hosts[host].digest = nil }
        for call in calls.indices {
            if dice.chance(60) { calls[call].host = 0 }
            (calls[call].isPlain, calls[call].logsIn) = (isStrict && calls[call].host == 0 ? true : nil, nil)
            if calls[call].isPlain == true { calls[call].resource = nil }
            guard calls[call].kind == .get, dice.chance(60) else { continue }
            (calls[call].isPaged, calls[call].reading, calls[call].resource) = (true, .fetch, nil)
            calls[call].total = nil
            for reply in calls[call].replies.indices {
                calls[call].replies[reply].status = 200
                if dice.chance(90) { calls[call].replies[reply].target = calls[call].host }
            }
        }
    }

    /// Whether a page of a call leads to another origin.
    func leadsElsewhere(_ number: Int) -> Bool {
        calls[number].isPaged == true
            && calls[number].replies.dropLast().contains { $0.target != calls[number].host }
    }
}
