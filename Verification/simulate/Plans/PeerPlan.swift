/// What proxies and servers do that most of their kind do not.
struct PeerPlan: Codable, Equatable {
    /// The status with which the proxy answers CONNECT instead of opening a tunnel.
    var refusal: Int?
    /// Whether the proxy's certificate is for another name.
    var hasWrongProxy = false
    /// The login that the proxy asks for.
    var login: Login?
    /// Whether a server with a certificate for another name has the ticket keys of another host: it can
    /// resume the sessions of that one.
    var sharesTicketKeys = false
    /// Whether nothing listens at the proxy's address.
    var isProxyGone: Bool?
    var exceptions: Exceptions?
    /// What is reached without the proxy, in the syntax of `no_proxy`.
    enum Exceptions: String, Codable, CaseIterable {
        case name = "host1.host0.test"
        case below = "*.host1.host0.test"
        case upper = "other.test HOST1.host0.TEST:*"
        case odd = " ,\tother.test,\n.host1.host0.test ,,"
        case otherPort = "host1.host0.test:1"
        case part = "ost1.host0.test,1.host0.test,host1.host0"
        case addresses = "203.0.0.0/8,2001:db8::/32"

        func covers(_ host: Int) -> Bool { host == 1 && ![.otherPort, .part, .addresses].contains(self) }
    }

    struct Login: Codable, Equatable {
        var digest = HostPlan.Digest()
        /// Whether the proxy knows the user.
        var isAccepted = true
    }
}

extension ReplyPlan {
    /// What a server says beside the status and the length.
    enum Word: String, Codable, CaseIterable {
        /// Announces that the connection ends, and leaves that to the client.
        case announcesClose
        /// Is of HTTP/1.0, with and without an offer to go on.
        case isOld, isOldAndKept
        case keepsAlive
        case trailers, chunkExtensions
        /// The Location of a redirect is a path.
        case relativeLocation
        case retryAfter
        /// Sets a cookie for the host and those below it, and one for a path that the request's begins with.
        case domainCookie
        /// Sets as many cookies as fit into a head.
        case manyCookies
    }

    /// The line in which a server stops, before its end.
    enum Stop: String, Codable, CaseIterable {
        case status, field, chunkSize, chunkExtension, trailer

        var isInHead: Bool { self == .status || self == .field }
    }

    /// Whether the connection must not be used again.
    var isLast: Bool { word == .announcesClose || word == .isOld }

    /// Whether it is a redirect to a host.
    func leads(to host: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) && target == host }

    /// Whether bytes follow it that are no part of it.
    var addsSomething: Bool { ending == .addsBytes || ending == .addsResponse }

    /// Whether the status forbids content.
    var hasNoContent: Bool { [204, 205, 304].contains(status) }
}

extension CallPlan {
    /// The TLS settings of its request.
    enum TLS: String, Codable, CaseIterable {
        /// No newer version than 1.2.
        case oldVersion
        /// Trusts an authority that no server has a certificate of.
        case otherRoots
        /// Pins the key of the server, or of none.
        case rightPin, wrongPin
        /// Has a certificate for servers that ask for one.
        case identity, otherIdentity
        /// Wants a server's certificate to be confirmed by its issuer.
        case staple

        /// Whether no server can be proved with it.
        var isWrong: Bool { self == .otherRoots || self == .wrongPin }
        /// The number of its certificate; 0 if it has none.
        var identityNumber: Int { self == .identity ? 1 : self == .otherIdentity ? 2 : 0 }
    }
}

extension HostPlan {
    /// What a server staples to its certificate: what its issuer says of it, or anything else.
    enum Staple: String, Codable, CaseIterable {
        case good, none, ofAnother, revoked, unknown, expired, byAnother, noise
    }
}

extension CallPlan {
    /// Where a request has a line break and a field that its caller must not get in.
    enum Injection: String, Codable, CaseIterable {
        case path, query, host, port, user, method, fieldName, fieldValue, lineFeed, spaces, zero
    }
}

extension AddressPlan {
    /// What is wrong with the list of certificates that it sends, whatever is in them.
    enum CertificateList: String, Codable, CaseIterable {
        /// So many that they are not worth a look, or one that is so large.
        case long, large
        /// All are of one issuer's name, and none is of the issuer.
        case alike
        /// The first one is no certificate.
        case malformed
    }
}

extension Plan {
    /// The name of a host: all the others are below the first one's.
    func isBelow(_ host: Int, _ parent: Int) -> Bool {
        Material.name(owner(ofHost: host)).hasSuffix("." + Material.name(owner(ofHost: parent)))
    }

    /// Lets peers and callers say more, in most worlds. A generator of its own leaves all else as it is.
    mutating func sayMore() {
        var dice = Dice(seed: seed ^ 0x9EE2)
        switch dice.below(34) {
        case 0..<8: sayWords(&dice)
        case 12..<14: misuseProxy(&dice)
        case 14..<16: shareKeys(&dice)
        case 16..<18: chooseTLS(&dice)
        case 18..<20: coverSubdomains(&dice)
        case 8, 9, 20: age(&dice)
        case 10..<12: readSettings(&dice)
        case 22..<24: shareName(&dice)
        case 24, 25: useHelpers(&dice)
        case 21: movePorts(&dice)
        case 26..<29: useRareBodies(&dice)
        case 29: sendHostileLists(&dice)
        case 30: fillJar(&dice)
        case 31..<33: inject(&dice)
        case 33: client.bodyLimit = dice.one(of: [5, 2999, 3000, 100_000])
        default: break
        }
    }

    private mutating func sayWords(_ dice: inout Dice) {
        let isStrict = hosts.contains { $0.strictness != nil }
        for call in calls.indices where calls[call].download == nil {
            for place in calls[call].replies.indices where dice.chance(40) {
                var reply = calls[call].replies[place]
                reply.word = dice.one(of: ReplyPlan.Word.allCases)
                if reply.isLast, reply.ending != .floods {
                    (reply.ending, reply.framing) = (.complete, .length)
                }
                if reply.word == .isOldAndKept { reply.framing = .length }
                if [.trailers, .chunkExtensions].contains(reply.word) { reply.framing = .chunked }
                if reply.word == .retryAfter { reply.status = dice.one(of: [503, 429]) }
                if reply.word == .domainCookie || reply.word == .manyCookies, keeping != nil {
                    reply.word = nil
                }
                if reply.word == nil || dice.chance(20), !isStrict, reply.ending == .complete {
                    reply.status = dice.one(of: [204, 205, 304, 429, 500, 502, 504])
                    if reply.hasNoContent { (reply.size, reply.framing, reply.isCoded) = (0, .length, false) }
                }
                // The last reply is repeated.
                let isLast = place == calls[call].replies.count - 1
                let mayFail = !isLast && calls[call].resource == nil && reply.emptyMembers == nil
                if mayFail || reply.status == calls[call].replies[place].status {
                    calls[call].replies[place] = reply
                }
            }
        }
    }

    /// The proxy refuses tunnels, or has a certificate for another name.
    private mutating func misuseProxy(_ dice: inout Dice) {
        guard resolvers == nil, !hosts.contains(where: { $0.hasSocket == true }), client.bindsAddress != true
        else { return }
        if ![.http, .https].contains(client.proxy) { client.proxy = dice.one(of: [.http, .https]) }
        peers = PeerPlan()
        if dice.chance(40) {
            client.hasProxyCredentials = false
            let algorithm = dice.one(of: ["SHA-256", "MD5", "SHA-256-sess", "Basic"])
            let digest = HostPlan.Digest(algorithm: algorithm, uses: dice.one(of: [nil, nil, 1, 3]))
            peers?.login = PeerPlan.Login(digest: digest, isAccepted: dice.chance(75))
        } else if dice.chance(30) {
            peers?.isProxyGone = true
        } else if dice.chance(40) {
            if hosts.count < 2 { hosts.append(hosts[0]) }
            peers?.exceptions = dice.one(of: PeerPlan.Exceptions.allCases)
            for call in calls.indices where calls[call].resource == nil {
                (calls[call].host, calls[call].isPlain) = (dice.below(2), nil)
            }
        } else if client.proxy == .https, dice.chance(50) {
            peers?.hasWrongProxy = true
        } else {
            peers?.refusal = dice.one(of: [403, 407, 502, 503, 302, 204])
        }
    }

    /// Servers with certificates for other names have keys to the sessions of all.
    private mutating func shareKeys(_ dice: inout Dice) {
        peers = PeerPlan()
        peers?.sharesTicketKeys = true
        while hosts.count < 2 { hosts.append(hosts[0]) }
        for host in hosts.indices {
            (hosts[host].isSecure, hosts[host].tickets, hosts[host].hasSocket) = (true, 2, nil)
            guard host > 0, dice.chance(70) else { continue }
            for place in hosts[host].addresses.indices {
                hosts[host].addresses[place].fate = .wrongCertificate
            }
        }
        for call in calls.indices {
            calls[call].isPlain = nil
            if calls[call].download == nil, calls[call].resource == nil {
                calls[call].host = call % hosts.count
            }
        }
    }

    /// Requests have TLS settings of their own, beside those that have none.
    private mutating func chooseTLS(_ dice: inout Dice) {
        guard client.proxy != .https, client.acceptsAnyCertificate != true, resolvers == nil else { return }
        // Connections with other settings are counted apart.
        (client.responseLimit, client.perOrigin) = (nil, nil)
        for host in hosts.indices where dice.chance(70) {
            (hosts[host].isSecure, hosts[host].asksForIdentity) = (true, dice.chance(60))
            hosts[host].staple = dice.one(of: HostPlan.Staple.allCases)
        }
        for call in calls.indices where calls[call].download == nil && dice.chance(40) {
            calls[call].tls = dice.one(of: CallPlan.TLS.allCases + [.staple, .staple, .staple])
            (calls[call].resource, calls[call].isPlain) = (nil, nil)
        }
    }

    /// Calls upload files, switch protocols, or follow events.
    private mutating func useRareBodies(_ dice: inout Dice) {
        guard keeping == nil, disk == nil, resolvers == nil, client.transfers == nil,
            client.slowestBytes == nil
        else { return }
        let kind = dice.one(of: [CallPlan.Kind.file, .raw, .events, .tunnel])
        if kind == .tunnel,
            client.proxy != .none || hosts.contains(where: { $0.digest != nil || $0.strictness != nil })
        {
            return
        }
        if kind == .events { calmDown() }
        for call in calls.indices where calls[call].download == nil && dice.chance(60) {
            (calls[call].kind, calls[call].resource, calls[call].isPlain) = (kind, nil, nil)
            (calls[call].logsIn, calls[call].watchesProgress) = (nil, nil)
            guard kind != .file else { continue }
            // The call is over when it has the stream.
            let isRaw = kind == .raw || kind == .tunnel
            if isRaw { (calls[call].total, calls[call].injection) = (nil, nil) }
            calls[call].reading = .pieces
            for place in calls[call].replies.indices {
                (calls[call].replies[place].isEarly, calls[call].replies[place].word) = (false, nil)
                calls[call].replies[place].ending = .complete
                if isRaw {
                    calls[call].replies[place].framing = .untilClose
                    if kind == .tunnel { calls[call].replies[place].status = 200 }
                } else {
                    calls[call].replies[place].status = 200
                    calls[call].replies[place].ending = dice.one(of: [
                        .complete, .complete, .closes, .breaksOff,
                    ])
                }
            }
        }
    }

    /// The first host's policy to use TLS only holds for the others as well.
    private mutating func coverSubdomains(_ dice: inout Dice) {
        guard keeping == nil, client.proxy == .none, resolvers == nil,
            !hosts.contains(where: { $0.hasSocket == true })
        else { return }
        (client.keepsHSTS, client.acceptsAnyCertificate) = (true, nil)
        if hosts.count < 2 { hosts.append(hosts[0]) }
        for host in hosts.indices {
            hosts[host].isSecure = true
            hosts[host].strictness = host == 0 ? .learned : HostPlan.Strictness.none
        }
        hosts[0].coversSubdomains = dice.chance(70)
        for call in calls.indices where calls[call].download == nil && calls[call].resource == nil {
            calls[call].host = dice.below(hosts.count)
            calls[call].isPlain = calls[call].host > 0 || dice.chance(50) ? true : nil
            calls[call].logsIn = nil
            calls[call].start += call * 50_000
        }
    }

    /// Calls ask for what a cache has when it is no longer fresh, or just still.
    private mutating func age(_ dice: inout Dice) {
        guard keeping == nil, resolvers == nil else { return }
        calmDown()
        (client.caches, client.keepsCookies, client.addsUserBelowCache) = (true, false, false)
        client.idleTimeout = 1_000_000_000
        for call in calls.indices where calls[call].download == nil {
            (calls[call].kind, calls[call].upload, calls[call].reading) = (.get, 0, .fetch)
            (calls[call].host, calls[call].resource, calls[call].isPlain) = (0, 0, nil)
            (calls[call].follows, calls[call].carriesSecrets, calls[call].logsIn) = (call > 0, false, nil)
            calls[call].start = dice.one(of: [1, 4, 11, 25, 40, 50]) * 1_000_000
            calls[call].replies = [ReplyPlan(size: 100, lifetime: dice.one(of: [1, 10, 20, 45]))]
        }
        let kind = dice.below(5)
        // A file that is downloaded says itself of which version it is.
        for call in calls.indices where calls[call].download == nil {
            switch kind {
            case 0, 1: calls[call].replies[0].isRestored = true
            case 2: (calls[call].replies[0].hasTag, calls[call].replies[0].confirms) = (true, true)
            case 3 where dice.chance(30): calls[call].kind = .post
            default: break
            }
        }
    }

    /// Servers are at other ports.
    private mutating func movePorts(_ dice: inout Dice) {
        guard resolvers == nil, keeping == nil, !calls.contains(where: { $0.isPlain == true }) else { return }
        for host in hosts.indices where hosts[host].strictness == nil && dice.chance(70) {
            hosts[host].port = dice.one(of: [8080, 8443])
        }
    }

    /// Some addresses have lists of certificates that are to cost their clients time and memory.
    private mutating func sendHostileLists(_ dice: inout Dice) {
        client.acceptsAnyCertificate = nil
        for host in hosts.indices where hosts[host].isSecure {
            for place in hosts[host].addresses.indices where dice.chance(60) {
                hosts[host].addresses[place].fate = .unknownIssuer
                hosts[host].addresses[place].list = dice.one(of: AddressPlan.CertificateList.allCases)
            }
        }
    }
}
