extension Plan {
    /// Draws a world.
    ///
    /// Most worlds have few unusual properties: in one where everything fails, nothing can be learnt.
    init(seed: UInt64, isSecure: Bool? = nil) {
        self.init(seed: seed, network: NetworkPlan())
        var dice = Dice(seed: seed &* 0x2545_F491_4F6C_DD1D &+ 7)
        network = NetworkPlan(drawnFrom: &dice)
        client = ClientPlan(drawnFrom: &dice)
        let isTroubled = dice.chance(40)
        for _ in 0..<dice.number(in: 1...3) {
            hosts.append(HostPlan(drawnFrom: &dice, isSecure: isSecure, isTroubled: isTroubled))
        }
        var unkind = Dice(seed: seed ^ 0xB_7021)
        kernel = KernelPlan(drawnFrom: &unkind)
        if isTroubled { failAddresses(&unkind) }
        let isSmall = network.segmentLimit < 1000
        for _ in 0..<dice.number(in: 2...12) {
            calls.append(CallPlan(drawnFrom: &dice, hostCount: hosts.count, isSmall: isSmall))
        }
        if dice.chance(30) { chainCalls(&dice) }
        if client.caches || dice.chance(10) { shareResources(&dice) }
        defer { stopInLines() }
        var other = Dice(seed: seed ^ 0x7EC17A1)
        if other.chance(10) {
            haveTunnels(&other)
            return
        }
        if dice.chance(40) {
            calmDown()
            if dice.chance(50) {
                haveVictim(&dice)
                return
            }
        }
        switch dice.below(100) {
        case 0..<10: becomeSequence(&dice)
        case 10..<18:
            becomeSequence(&dice)
            askForTheSame(&dice)
        case 18..<26: stopServer(&dice)
        case 26..<31:
            becomeSequence(&dice)
            keepLoopBusy(&dice)
        case 31..<34:
            becomeSequence(&dice)
            sendSlowly(&dice)
        case 34..<46: downloadFiles(&dice)
        case 46..<54: hedgeRequests(&dice)
        case 54..<64: protectHosts(&dice)
        case 64..<70: useSockets(&dice)
        case 70..<80: keepFiles(&dice)
        case 80..<88: askServices(&dice)
        case 88..<94: limitTransfers(&dice)
        case 94..<96: floodCall(&dice)
        case 96..<98: retryLate(&dice)
        case 98..<100: refuseUploads(&dice)
        default: break
        }
        sayMore()
        encryptNames()
        beUnkind()
        haveRecords()
        // What has to be done on a disk is tried again on the loop of the process, which is a real one.
        if files != nil || keeping != nil || settings != nil || calls.contains(where: { $0.kind == .file }) {
            kernel?.threadFailures = 0
        }
        if keeping == nil { kernel?.otherWriter = nil }
        // The judges forgive a disk that fails.
        if keeping == nil || (disk?.failures ?? 0) == 0 { kernel?.foreignFiles = nil }
        // What a resolver's cache has saved has a date; and its judges know when the system is asked.
        if resolvers != nil {
            kernel?.clock = nil
            kernel?.lookups = nil
        }
    }

    /// Lets addresses fail that would have worked, so that the other fates stay as frequent.
    private mutating func failAddresses(_ dice: inout Dice) {
        for host in hosts.indices {
            for address in hosts[host].addresses.indices
            where hosts[host].addresses[address].fate == .works && dice.chance(8) {
                hosts[host].addresses[address].fate = .fails
            }
        }
    }

    /// Takes away what may make a call fail: where everything works, the judges ask for more.
    mutating func calmDown() {
        (network.resets, network.socketFailures, network.descriptors) = (0, 0, nil)
        (client.responseLimit, client.queueLimit, client.readLimit) = (nil, nil, nil)
        kernel?.calmDown()
        (client.connectLimit, client.slowestBytes, client.isReleasedEarly) = (nil, nil, false)
        for host in hosts.indices {
            hosts[host].isRude = false
            if (hosts[host].ticketPause ?? 0) > 1_000_000 { hosts[host].ticketPause = nil }
            for address in hosts[host].addresses.indices { hosts[host].addresses[address].fate = .works }
        }
        for call in calls.indices {
            (calls[call].total, calls[call].cancellation) = (nil, nil)
            for reply in calls[call].replies.indices where calls[call].replies[reply].ending != .closes {
                calls[call].replies[reply].ending = .complete
            }
        }
    }

    /// Lets calls follow each other in the task of the one before.
    private mutating func chainCalls(_ dice: inout Dice) {
        let mostWork = dice.one(of: [0, 0, 5000, 300_000])
        for place in calls.indices.dropFirst() where dice.chance(80) {
            calls[place].follows = true
            calls[place].cancellation = nil
            calls[place].start = dice.one(of: [0, 0, 3000, 100_000])
            if mostWork > 0, calls[place].isOnLoop || dice.chance(30) {
                calls[place].work = dice.number(in: 0...mostWork)
            }
        }
    }

    /// Lets calls ask for the same resource.
    private mutating func shareResources(_ dice: inout Dice) {
        for place in calls.indices where [.get, .head].contains(calls[place].kind) && dice.chance(60) {
            calls[place].resource = dice.below(2)
            for reply in calls[place].replies.indices {
                if [300..<400, 417..<422].contains(where: { $0.contains(calls[place].replies[reply].status) })
                {
                    calls[place].replies[reply].status = 200
                }
            }
        }
    }
}

/// Worlds for judges that need many things to come together.
extension Plan {
    /// One call is cancelled, late or dropped where all else works: what it leaves must not harm the others.
    private mutating func haveVictim(_ dice: inout Dice) {
        (client.perOrigin, client.connections) = (dice.one(of: [1, 1, 2]), nil)
        let victim = dice.below(calls.count)
        for call in calls.indices {
            if dice.chance(70) { (calls[call].host, calls[call].work) = (0, 0) }
            (calls[call].follows, calls[call].start) = (false, dice.one(of: [0, 5000, 200_000, 2_000_000]))
        }
        calls[victim].host = 0
        if calls[victim].kind == .prewarm { calls[victim].kind = .get }
        let time = dice.number(in: 0...120) * 500
        switch dice.below(3) {
        case 0: calls[victim].cancellation = time
        case 1: calls[victim].total = time
        default:
            calls[victim].reading = dice.one(of: [.none, .firstPiece])
            for reply in calls[victim].replies.indices {
                (calls[victim].replies[reply].size, calls[victim].replies[reply].parts) = (40_000, 20)
                calls[victim].replies[reply].pause = dice.one(of: [0, 20_000])
            }
        }
        calls[victim].isVictim = true
    }

    /// Small calls one after the other: here it can be told which connection each has to use.
    private mutating func becomeSequence(_ dice: inout Dice) {
        calmDown()
        (client.usesPerConnection, client.idleTimeout) = (nil, nil)
        for host in hosts.indices {
            (hosts[host].idleClose, hosts[host].updatesKeys, hosts[host].ticketPause) = (nil, false, nil)
        }
        for call in calls.indices {
            makeSmall(call, drawnFrom: &dice)
            calls[call].follows = call > 0
            calls[call].start = dice.one(of: [0, 1000, 100_000])
        }
    }

    private mutating func makeSmall(_ call: Int, drawnFrom dice: inout Dice) {
        calls[call].kind = dice.one(of: [.get, .get, .head, .post])
        calls[call].resource = nil
        calls[call].upload = dice.one(of: [0, 100])
        calls[call].reading = dice.one(of: [.fetch, .pieces, .none])
        calls[call].host = dice.chance(70) ? 0 : calls[call].host
        for reply in calls[call].replies.indices {
            calls[call].replies[reply].isEarly = false
            calls[call].replies[reply].size = dice.one(of: [0, 10, 3000])
            calls[call].replies[reply].ending = .complete
            if ![200, 302, 503].contains(calls[call].replies[reply].status) {
                calls[call].replies[reply].status = 200
            }
        }
    }

    /// Calls for few resources, which a cache can answer.
    private mutating func askForTheSame(_ dice: inout Dice) {
        client.caches = true
        client.keepsCookies = dice.chance(20)
        client.addsUserBelowCache = dice.chance(30)
        for call in calls.indices where [.get, .head].contains(calls[call].kind) {
            (calls[call].resource, calls[call].host) = (dice.below(2), 0)
            calls[call].carriesSecrets = dice.chance(20)
            calls[call].reading = .fetch
            for reply in calls[call].replies.indices {
                calls[call].replies[reply].status = 200
                calls[call].replies[reply].lifetime = dice.one(of: [0, 60, 60, 3600])
            }
        }
        haveUsers()
    }

    /// A caller on the loop works between its calls, while servers close their connections.
    private mutating func keepLoopBusy(_ dice: inout Dice) {
        for host in hosts.indices { hosts[host].idleClose = dice.one(of: [1000, 20_000]) }
        calls[0].isOnLoop = true
        for call in calls.indices.dropFirst() {
            (calls[call].start, calls[call].work) = (0, dice.number(in: 0...100_000))
        }
    }

    /// Servers send more slowly than the client accepts.
    private mutating func sendSlowly(_ dice: inout Dice) {
        (client.slowestBytes, client.slowestTime) = (20_000, dice.one(of: [30_000, 60_000]))
        for call in calls.indices {
            (calls[call].kind, calls[call].reading) = (.get, .fetch)
            for reply in calls[call].replies.indices {
                (calls[call].replies[reply].size, calls[call].replies[reply].parts) = (3000, 20)
                calls[call].replies[reply].pause = dice.one(of: [1000, 20_000, 20_000])
            }
        }
    }

    /// One call gets bytes without end, which take the processor's time until after its deadline.
    private mutating func floodCall(_ dice: inout Dice) {
        becomeSequence(&dice)
        network.byteCost = dice.number(in: 100...200)
        let call = dice.below(calls.count)
        (calls[call].kind, calls[call].total) = (.get, dice.number(in: 1...100) * 1000)
        var reply = ReplyPlan()
        (reply.ending, reply.flood) = (.floods, dice.one(of: ReplyPlan.Flood.allCases))
        calls[call].replies = [reply]
    }

    /// Requests are refused again and again with slow bodies, and have deadlines of the same order.
    private mutating func retryLate(_ dice: inout Dice) {
        calmDown()
        (client.retries, client.hedging) = (true, nil)
        for call in calls.indices {
            (calls[call].kind, calls[call].total) = (.get, dice.number(in: 50...900) * 1000)
            for reply in calls[call].replies.indices where dice.chance(70) {
                calls[call].replies[reply].status = 503
                (calls[call].replies[reply].size, calls[call].replies[reply].isEarly) = (3000, false)
                (calls[call].replies[reply].parts, calls[call].replies[reply].pause) = (20, 20_000)
                calls[call].replies[reply].delay = 0
            }
        }
    }

    /// Servers answer uploads before they have read them, and end the connection with the response.
    private mutating func refuseUploads(_ dice: inout Dice) {
        calmDown()
        client.proxy = .none
        network.sendBuffer = dice.one(of: [16384, 65536])
        for host in hosts.indices where dice.chance(80) { hosts[host].isSecure = false }
        for call in calls.indices where calls[call].kind != .prewarm {
            calls[call].kind = dice.one(of: [.post, .stream, .streamOfKnownLength, .put])
            (calls[call].upload, calls[call].uploadPause) = (dice.one(of: [100_000, 400_000]), 0)
            calls[call].reading = dice.one(of: [.fetch, .fetch, .pieces])
            for reply in calls[call].replies.indices {
                (calls[call].replies[reply].isEarly, calls[call].replies[reply].framing) = (true, .untilClose)
                calls[call].replies[reply].lateReading = dice.one(of: [0, 4000])
                calls[call].replies[reply].size = dice.one(of: [10, 3000, 40_000])
            }
        }
    }

    /// A server with several connections stops, and is asked again afterwards.
    private mutating func stopServer(_ dice: inout Dice) {
        calmDown()
        (client.proxy, client.idleTimeout, client.usesPerConnection) = (.none, nil, nil)
        (client.responseLimit, client.perOrigin, client.connections) = (
            dice.one(of: [30_000, 300_000]), nil, nil
        )
        hosts[0].idleClose = nil
        for address in hosts[0].addresses.indices {
            hosts[0].addresses[address].fate = address == 0 || dice.chance(70) ? .stops : .works
            hosts[0].addresses[address].changeTime = 300_000
        }
        let parallel = dice.number(in: 2...4)
        for call in calls.indices {
            makeSmall(call, drawnFrom: &dice)
            (calls[call].kind, calls[call].upload, calls[call].host) = (dice.one(of: [.get, .head]), 0, 0)
            calls[call].follows = call > parallel
            calls[call].start = call < parallel ? 0 : call == parallel ? 600_000 : dice.one(of: [0, 50_000])
            for reply in calls[call].replies.indices {
                (calls[call].replies[reply].status, calls[call].replies[reply].framing) = (200, .length)
                (calls[call].replies[reply].parts, calls[call].replies[reply].delay) = (1, 10_000)
            }
        }
    }
}
