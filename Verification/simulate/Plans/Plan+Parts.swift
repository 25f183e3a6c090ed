/// The parts of a world are drawn here.
extension NetworkPlan {
    init(drawnFrom dice: inout Dice) {
        self.init()
        shortestDelay = 50
        longestDelay = dice.one(of: [100, 1000, 5000, 20000])
        segmentLimit = dice.one(of: [200, 1460, 16384, 65536])
        sendBuffer = dice.one(of: [16384, 65536, 262_144])
        receiveBuffer = dice.one(of: [4096, 65536, 262_144])
        longestThreadStart = dice.one(of: [100, 5000])
        if dice.chance(30) { shortSends = 20 }
        if dice.chance(15) { resets = dice.one(of: [2, 10, 40]) }
        if dice.chance(5) { socketFailures = 20 }
        if dice.chance(8) { descriptors = dice.number(in: 1...6) }
        if dice.chance(30) { (jobCost, byteCost) = (dice.number(in: 1...200) * 1000, dice.below(200)) }
    }
}

extension ClientPlan {
    init(drawnFrom dice: inout Dice) {
        self.init()
        perOrigin = dice.one(of: [nil, 1, 2, 3])
        connections = dice.one(of: [nil, nil, nil, 1, 2, 4])
        retries = dice.chance(30)
        repeatsAnyMethod = retries && dice.chance(20)
        proxy = dice.one(of: [.none, .none, .none, .none, .none, .http, .https, .socks, .socksLocal])
        hasProxyCredentials = dice.chance(50)
        resolving = dice.one(of: [.system, .system, .map, .map, .request, .resolver, .cachingResolver])
        triesNextOnWrongCertificate = dice.chance(30)
        if dice.chance(20) { idleTimeout = dice.one(of: [10_000, 100_000, 1_000_000]) }
        if dice.chance(10) { usesPerConnection = dice.number(in: 1...3) }
        keepsCookies = dice.chance(40)
        caches = dice.chance(20)
        rebuildsRequests = dice.chance(15)
        hasNetworkInterceptor = dice.chance(15)
        observes = dice.chance(20)
        isReleasedEarly = dice.chance(10)
        if dice.chance(15) { responseLimit = dice.one(of: [20_000, 300_000]) }
        if dice.chance(10) { queueLimit = dice.one(of: [20_000, 500_000]) }
        if dice.chance(10) { readLimit = dice.one(of: [50_000, 500_000]) }
        if dice.chance(15) { connectLimit = dice.one(of: [60_000, 300_000]) }
        if dice.chance(25) { continueLimit = dice.one(of: [30_000, 200_000]) }
        if dice.chance(10) { (slowestBytes, slowestTime) = (dice.one(of: [2000, 20_000]), 30_000) }
        isOldTLS = dice.chance(15)
        decoding = dice.one(of: [.both, .both] + Decoding.allCases)
        hasOwnSecret = dice.chance(30)
        rebuildsRedirects = dice.chance(20)
        addsUserBelowCache = dice.chance(15)
        if proxy != .none, dice.chance(20) { proxyPause = dice.one(of: [1000, 40_000]) }
    }
}

extension HostPlan {
    init(drawnFrom dice: inout Dice, isSecure: Bool?, isTroubled: Bool) {
        self.init()
        let drawn = dice.chance(50)
        self.isSecure = isSecure ?? drawn
        addresses = (0..<dice.one(of: [1, 1, 2, 3])).map { _ in
            AddressPlan(drawnFrom: &dice, isTroubled: isTroubled)
        }
        if dice.chance(35) { idleClose = dice.one(of: [1000, 20_000, 200_000]) }
        tickets = dice.below(4)
        isOldTLS = dice.chance(15)
        isRude = dice.chance(15)
        updatesKeys = dice.chance(15)
        if dice.chance(10) { pieceSize = dice.one(of: [1, 7, 1000]) }
        resolveTime = dice.one(of: [100, 5000, 50_000])
        if dice.chance(10) { ticketPause = dice.one(of: [1000, 50_000, 10_000_000_000]) }
    }
}

extension AddressPlan {
    init(drawnFrom dice: inout Dice, isTroubled: Bool) {
        self.init()
        isV6 = dice.chance(30)
        changeTime = dice.one(of: [1000, 30_000, 200_000])
        if isTroubled, dice.chance(50) { fate = dice.one(of: Fate.allCases.filter { $0 != .fails }) }
    }
}

extension CallPlan {
    init(drawnFrom dice: inout Dice, hostCount: Int, isSmall: Bool) {
        self.init()
        kind = dice.one(
            of: [.get, .get, .get, .get, .head, .post, .post, .stream, .streamOfKnownLength, .put, .prewarm]
        )
        host = dice.below(hostCount)
        start = dice.chance(50) ? 0 : dice.number(in: 0...600) * 1000
        upload = dice.one(of: [0, 100, 20_000, 100_000, isSmall ? 1000 : 400_000])
        if dice.chance(20) { uploadPause = dice.one(of: [100, 3000, 30_000]) }
        reading = dice.one(of: [.fetch, .fetch, .fetch, .pieces, .slowly, .firstPiece, .none])
        if dice.chance(25) { total = dice.number(in: 1...400) * 1000 }
        if dice.chance(15) { cancellation = dice.number(in: 0...300) * 1000 }
        isOnLoop = dice.chance(50)
        expectsContinue = dice.chance(10)
        carriesSecrets = dice.chance(50)
        count = dice.number(in: 1...3)
        replies = []
        for _ in 0..<dice.one(of: [1, 1, 1, 2, 3, 5]) {
            replies.append(ReplyPlan(drawnFrom: &dice, isLast: false, hostCount: hostCount, isSmall: isSmall))
        }
        replies.append(ReplyPlan(drawnFrom: &dice, isLast: true, hostCount: hostCount, isSmall: isSmall))
    }
}

extension ReplyPlan {
    init(drawnFrom dice: inout Dice, isLast: Bool, hostCount: Int, isSmall: Bool) {
        self.init()
        if !isLast {
            status = dice.one(of: [200, 200, 200, 302, 303, 301, 307, 308, 503, 421, 408, 417, 404])
        }
        size = dice.one(of: [0, 10, 10, 3000, 3000, 40_000, isSmall ? 5000 : 200_000])
        if !isSmall, dice.chance(3) { size = dice.one(of: [1_000_000, 3_000_000]) }
        framing = dice.one(of: [.length, .length, .chunked, .untilClose])
        if dice.chance(25) {
            ending = dice.one(of: [.closes, .closes, .breaksOff, .closesBefore, .addsBytes, .stalls])
            if dice.chance(8) { (ending, flood) = (.floods, dice.one(of: Flood.allCases)) }
        }
        if dice.chance(30) { delay = dice.one(of: [500, 10_000, 100_000]) }
        if dice.chance(25) { (parts, pause) = (dice.number(in: 2...20), dice.one(of: [0, 1000, 20_000])) }
        target = dice.below(hostCount)
        if dice.chance(10) { interim = dice.number(in: 1...3) }
        if dice.chance(20) {
            isEarly = true
            lateReading = dice.one(of: [0, 500, 4000, 30_000])
            latePause = dice.number(in: 0...100) * 1000
        }
        setsCookie = dice.chance(20)
        if dice.chance(40) { lifetime = dice.one(of: [0, 1, 60, 60]) }
        variesByUser = dice.chance(15)
        isCoded = dice.chance(25)
        isSilentBeforeBody = dice.chance(50)
    }
}
