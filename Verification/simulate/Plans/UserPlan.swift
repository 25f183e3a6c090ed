internal import DirectCore

extension CallPlan {
    /// Those who share a cache, each with a client of their own, by what their clients have.
    enum User: String, Codable, CaseIterable {
        case jar, otherJar, certificate, key, anyone
    }
}

extension Plan {
    /// Whether there are clients of several users.
    var hasUsers: Bool { calls.contains { $0.user != nil } }

    /// Whether a response may wait for code of the program: other requests may have its place meanwhile.
    var asksProgram: Bool {
        client.rebuildsRedirects || client.addsUserBelowCache || client.hasNetworkInterceptor
            || hosts.contains { $0.digest != nil } || calls.contains { $0.logsIn == true }
    }

    /// Users share the cache of the world, and ask for the same, beside the client that it has.
    mutating func haveUsers() {
        // A generator of its own leaves all other worlds as they are.
        var dice = Dice(seed: seed ^ 0x05E_A5E)
        guard client.caches, !client.addsUserBelowCache, keeping?.cookies == nil, dice.chance(60) else {
            return
        }
        (client.hasOwnSecret, client.hedging, client.proxy) = (false, nil, .none)
        (client.perOrigin, client.connections, client.usesPerConnection) = (nil, nil, nil)
        client.idleTimeout = 1_000_000_000
        (hosts[0].isSecure, hosts[0].asksForIdentity) = (true, true)
        for call in calls.indices where calls[call].resource != nil {
            let user = dice.one(of: [nil] + CallPlan.User.allCases)
            (calls[call].user, calls[call].isAlone, calls[call].tls) = (user, user == nil ? nil : true, nil)
        }
    }

    /// The one whom a server can tell from all others by the requests of a call, in the words of RFC 9111,
    /// section 1: a private cache is dedicated to a single user. Two calls for different ones must not get
    /// each other's responses, whatever those say.
    func sender(ofCall number: Int) -> String {
        switch calls[number].user {
        case nil: client.keepsCookies || client.hasOwnSecret ? "client" : "anyone"
        // What is in memory ends with the run.
        case .jar?, .otherJar?: "\(calls[number].user?.rawValue ?? "") of run \(run(ofCall: number))"
        // No certificate is shown without TLS.
        case .certificate? where !hosts[calls[number].host].isSecure: "anyone"
        case let user?: user.rawValue
        }
    }
}
