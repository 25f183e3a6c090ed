/// What a program keeps in files, and how its runs end. Each run has a client of its own and finds what the
/// one before has left.
struct KeepingPlan: Codable, Equatable {
    /// The formats of cookie files.
    enum Format: String, Codable, CaseIterable {
        case netscape, json
    }

    /// How a run ends.
    struct End: Codable, Equatable {
        /// Whether the power fails. Otherwise the program waits for its calls and saves its files.
        var isPowerFailure = false
        /// When the power fails, since the run began, or before which call of the disk.
        var time = 100_000
        var diskCall: Int?
        /// The seconds until the next run begins.
        var pause = 0
    }

    /// The limits of the cache's folder.
    struct CacheLimits: Codable, Equatable {
        var bytes = 1 << 20
        var objects = 1000
        var objectBytes = 1 << 20
    }

    /// The format of the cookie file; `nil` if cookies are not kept.
    var cookies: Format?
    /// Whether a run of the program is a session.
    var endsSession = false
    var keepsHSTS = false
    /// The limits of the cache's folder; `nil` if there is none.
    var cache: CacheLimits?
    /// The time between two saves.
    var savePause = 50_000
    /// The ends of all runs but the last.
    var ends: [End] = []

    /// Whether every run but the last saves its files before it ends.
    var endsInOrder: Bool { !ends.contains(where: \.isPowerFailure) }

    /// Whether a response in the folder may be evicted, or refused for its size.
    var hasSmallCache: Bool { cache.map { $0 != CacheLimits() } ?? false }
}

/// The cookies that servers set where a program keeps them. Each kind has a name of its own.
enum CookieKind: Int, CaseIterable {
    case session, short, long
    /// Has a tab in its name, which only one of the formats can keep.
    case tabbed

    var name: String { self == .tabbed ? "cookie\t\(rawValue)" : "cookie\(rawValue)" }

    /// The seconds that it is good for; `nil` for the session.
    var lifetime: Int? {
        switch self {
        case .session: nil
        case .short: 2
        case .long, .tabbed: 3600
        }
    }
}

extension Plan {
    /// The run that makes a call.
    func run(ofCall number: Int) -> Int {
        guard let keeping else { return 0 }
        return min(max(0, calls[number].run ?? 0), keeping.ends.count)
    }

    /// Whether what one run has put into the cache is still there in another one.
    func cacheLasts(from first: Int, to second: Int) -> Bool {
        guard let keeping else { return true }
        guard disk == nil, !keeping.hasSmallCache, first <= second else { return false }
        // The oldest responses are removed if all of them are too much.
        let sizes = calls.map { $0.replies.map(\.size).max() ?? 0 }
        if let limit = keeping.cache?.bytes, sizes.reduce(0, +) > limit { return false }
        if first == second { return true }
        return keeping.cache != nil && keeping.ends[first..<second].allSatisfy { !$0.isPowerFailure }
    }

    /// Whether large content from the cache may turn out to be damaged when it has begun to arrive.
    func mayFindDamage(_ number: Int) -> Bool {
        guard let keeping, keeping.cache != nil, let resource = calls[number].resource,
            disk != nil || keeping.ends.contains(where: \.isPowerFailure)
        else { return false }
        return calls.contains { $0.resource == resource && $0.replies.contains { $0.size > 60_000 } }
    }

    /// Lets the program run several times, and keep files from one run to the next.
    mutating func keepFiles(_ dice: inout Dice) {
        if dice.chance(60) { calmDown() }
        client.isReleasedEarly = false
        var drawn = KeepingPlan()
        let kind = dice.below(5)
        if kind > 1 { keepCookies(in: &drawn, &dice) } else { client.keepsCookies = false }
        if kind < 3 { keepResponses(in: &drawn, &dice) } else { client.caches = false }
        drawn.savePause = dice.one(of: [3000, 50_000, 400_000])
        for _ in 0..<dice.number(in: 1...3) { drawn.ends.append(KeepingPlan.End(drawnFrom: &dice)) }
        keeping = drawn
        if dice.chance(35) {
            disk = DiskPlan(
                failures: dice.one(of: [0, 10, 60]),
                shortCalls: dice.one(of: [0, 30]),
                capacity: dice.one(of: [nil, nil, 500, 3000, 60_000])
            )
        }
        let runs = drawn.ends.count + 1
        while calls.count < 2 * runs { calls.append(calls[dice.below(calls.count)]) }
        let isSequence = dice.chance(50)
        for call in calls.indices {
            calls[call].run = call * runs / calls.count
            let isFirst = call == 0 || calls[call - 1].run != calls[call].run
            calls[call].follows = !isFirst && (isSequence || calls[call].follows)
            if calls[call].follows { calls[call].cancellation = nil }
            if calls[call].start > 100_000 { calls[call].start = dice.one(of: [0, 10_000, 50_000]) }
            if calls[call].kind == .prewarm { calls[call].kind = .get }
        }
        if kind < 2, dice.chance(35) { loseContent(&dice) }
        haveUsers()
        // A generator of its own leaves all other worlds as they are.
        var fork = Dice(seed: seed ^ 0xA_4573)
        if kind > 1, fork.chance(50) { keepAnswers(&fork) }
    }

    /// Lets the power fail when the folder has fresh content of several blocks, which is then asked for.
    private mutating func loseContent(_ dice: inout Dice) {
        calmDown()
        (disk, client.proxy, client.addsUserBelowCache) = (nil, .none, false)
        (network.longestDelay, network.segmentLimit) = (1000, 16384)
        (network.sendBuffer, network.receiveBuffer) = (65536, 65536)
        keeping?.cache = KeepingPlan.CacheLimits()
        for end in keeping?.ends.indices ?? 0..<0 {
            keeping?.ends[end] = KeepingPlan.End(
                isPowerFailure: true,
                time: 2_000_000,
                pause: dice.one(of: [0, 5])
            )
        }
        for call in calls.indices {
            (calls[call].kind, calls[call].upload, calls[call].reading) = (.get, 0, .fetch)
            (calls[call].host, calls[call].resource) = (0, dice.below(2))
            (calls[call].carriesSecrets, calls[call].variant) = (false, nil)
            calls[call].replies = [ReplyPlan(size: dice.one(of: [40_000, 200_000]), lifetime: 3600)]
        }
    }

    private mutating func keepCookies(in plan: inout KeepingPlan, _ dice: inout Dice) {
        client.keepsCookies = true
        plan.cookies = dice.one(of: KeepingPlan.Format.allCases)
        plan.endsSession = dice.chance(50)
        for call in calls.indices {
            if dice.chance(70) { calls[call].host = 0 }
            for reply in calls[call].replies.indices {
                calls[call].replies[reply].setsCookie = dice.chance(60)
            }
        }
        guard dice.chance(50) else { return }
        (plan.keepsHSTS, client.keepsHSTS) = (true, true)
        for host in hosts.indices where hosts[host].isSecure {
            hosts[host].strictness = dice.one(of: [.learned, .learned, .known])
        }
        for call in calls.indices where hosts[calls[call].host].strictness != nil && dice.chance(50) {
            (calls[call].isPlain, calls[call].resource) = (true, nil)
            (calls[call].kind, calls[call].upload) = (.get, 0)
        }
    }

    private mutating func keepResponses(in plan: inout KeepingPlan, _ dice: inout Dice) {
        client.caches = true
        plan.cache = KeepingPlan.CacheLimits()
        if dice.chance(30) {
            plan.cache = KeepingPlan.CacheLimits(
                bytes: dice.one(of: [8000, 60_000]),
                objects: dice.one(of: [3, 1000]),
                objectBytes: dice.one(of: [1000, 5000, 60_000])
            )
        }
        // Content of several blocks, in the folder's files.
        let (isLarge, isTagged) = (dice.chance(40), dice.chance(50))
        let largeSize = network.segmentLimit < 1000 ? 70_000 : 200_000
        let isVaried = dice.chance(40)
        for _ in 0..<dice.number(in: 0...8) { calls.append(calls[dice.below(calls.count)]) }
        for call in calls.indices where dice.chance(60) {
            (calls[call].kind, calls[call].upload) = (.get, 0)
        }
        for call in calls.indices where [.get, .head].contains(calls[call].kind) && dice.chance(90) {
            calls[call].resource = dice.below(plan.hasSmallCache ? 6 : 2)
            calls[call].isPlain = nil
            if dice.chance(90) { calls[call].host = 0 }
            if dice.chance(85) { calls[call].reading = .fetch }
            calls[call].carriesSecrets = dice.chance(isVaried ? 50 : 10)
            calls[call].variant = isVaried ? dice.below(2) : nil
            for reply in calls[call].replies.indices {
                calls[call].replies[reply].status = 200
                calls[call].replies[reply].variesByUser = isVaried && dice.chance(90)
                calls[call].replies[reply].lifetime = dice.one(of: [0, 1, 60, 60, 3600, 3600, 3600])
                if isTagged {
                    calls[call].replies[reply].hasTag = dice.chance(80)
                    calls[call].replies[reply].confirms = dice.chance(70)
                }
                if isLarge, dice.chance(70) {
                    calls[call].replies[reply].size = dice.one(of: [40_000, largeSize])
                }
            }
        }
    }
}

extension KeepingPlan.End {
    fileprivate init(drawnFrom dice: inout Dice) {
        self.init()
        isPowerFailure = dice.chance(50)
        time = dice.one(of: [20_000, 200_000, 1_000_000])
        if dice.chance(60) { diskCall = dice.number(in: 1...dice.one(of: [10, 60, 300])) }
        pause = dice.one(of: [0, 0, 1, 5, 200, 7200])
    }
}
