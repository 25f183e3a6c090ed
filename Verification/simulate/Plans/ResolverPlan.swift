/// The services that the client's resolver asks, and what they answer.
struct ResolverPlan: Codable, Equatable {
    /// How a service is asked.
    enum Format: String, Codable, CaseIterable {
        case wireByPost, wireByGet, json, dnsPod, alibaba
        /// Plain DNS, over UDP and TCP.
        case datagram
    }

    /// When the next service of a chain is asked.
    enum Fallback: String, Codable, CaseIterable {
        case never, onResolveFailure, onConnectFailure
    }

    /// What a server does with a question.
    enum Manner: String, Codable, CaseIterable {
        case answers
        /// Answers when the client has long given it up.
        case isLate
        /// Never answers.
        case isSilent
        case serverError
        /// A redirect to a host that is no resolver.
        case redirects
        /// Another format, as a captive portal sends it.
        case sendsPage
        /// Bytes that are in no format.
        case sendsNoise
        /// The answer to a question about another name.
        case otherName
        case refuses
        case noSuchName
        case noAddresses
        /// Closes the connection without an answer, or in the middle of it.
        case closes, breaksOff
        /// Also names an address without a server.
        case addsAddress
        /// Plain DNS only: the answer does not fit into a datagram.
        case isTruncated
        /// A question with EDNS is malformed to it; the error may come without the question.
        case wantsPlain, wantsPlainBriefly
        /// Questions with EDNS do not reach it.
        case ignoresEDNS
        /// Its refusal comes without the question.
        case refusesBriefly
        /// Others send answers in its name before it does.
        case isForged
        /// The first datagram does not reach it.
        case losesFirst

        /// Those of plain DNS only where a client gets its answer all the same.
        private static let overcome: Set<Manner> = [
            .isTruncated, .wantsPlain, .wantsPlainBriefly, .ignoresEDNS, .isForged, .losesFirst,
        ]
        private static let datagramOnly = overcome.union([.refusesBriefly])
        private static let overHTTPOnly: Set<Manner> = [.redirects, .sendsPage]

        /// The manners of servers with this format.
        static func possible(in format: Format) -> [Manner] {
            let impossible = format == .datagram ? overHTTPOnly : datagramOnly
            return allCases.filter { !impossible.contains($0) }
        }

        /// Whether a client has to get the answer.
        var isGood: Bool { self == .answers || Self.overcome.contains(self) }

        /// The manners of servers from which a client has to get the answer.
        static func good(in format: Format) -> [Manner] { possible(in: format).filter(\.isGood) }
    }

    struct Service: Codable, Equatable {
        var format = Format.wireByPost
        var isSecure = true
        var servers: [Server] = [Server()]
        /// The time that one server is given.
        var attemptLimit = 3_000_000
        /// How many of the servers the client knows at first, and the seconds after which it asks for all of
        /// them; `nil` if it knows all and never asks. HTTPDNS only.
        var knownServers: Int?
        var listTime: Int?

        var port: Int { format == .datagram ? 53 : isSecure ? 443 : 80 }
    }

    struct Server: Codable, Equatable {
        var fate = AddressPlan.Fate.works
        /// What it does with its questions, one after the other; the last one is repeated.
        var manners: [Manner] = [.answers]
        var delay = 0
    }

    /// The settings of the cache in front of the services, in microseconds.
    struct Cache: Codable, Equatable {
        var shortest = 5_000_000
        var stale = 0
        var negative = 5_000_000
        var refreshesAhead = true
        /// Whether a program that keeps files keeps the answers, too.
        var isKept: Bool?
    }

    var services: [Service] = [Service()]
    var fallback = Fallback.onConnectFailure
    /// The time that a step of the chain is given; `nil` for the default.
    var stepLimit: Int?
    /// Whether the system's resolver is the last one of the chain.
    var endsWithSystem = false
    var cache: Cache?
    /// The seconds that answers are good for, and those that the HTTP response is, if it says so.
    var lifetime = 60
    var freshness: Int?
    /// How HTTPS records are asked for, and those of each host; `nil` if they are not.
    var records: Records?
    var bindings: [[Binding]]?
    /// When the hosts move: each answer then has one of their addresses, the next one after each time.
    var moves: [Int] = []

    /// Whether all servers answer all questions in time.
    var isGood: Bool {
        services.allSatisfy { service in
            service.servers.allSatisfy {
                $0.fate == .works && $0.manners.allSatisfy(\.isGood)
                    // A quarter of a second may pass before each of three questions.
                    && ($0.manners.allSatisfy { $0 == .answers } || stepLimit ?? .max >= 750_000)
                    && 3 * $0.delay < service.attemptLimit
                    // A datagram for which the system has no room is sent again after a second.
                    && service.attemptLimit >= (service.format == .datagram ? 3_000_000 : 1_000_000)
            }
        }
    }

    /// Whether all servers answer each question the first time that it is asked.
    var answersAtOnce: Bool {
        services.allSatisfy { $0.servers.allSatisfy { $0.manners.allSatisfy { $0 == .answers } } }
    }

    var asksByDatagram: Bool { services.contains { $0.format == .datagram } }

    /// The time for which an answer may be used, in nanoseconds.
    func span(seconds: Int) -> UInt64 {
        guard let cache else { return 0 }
        return UInt64(max(seconds * 1_000_000, cache.shortest)) * 1000
    }

    /// The longest time until all services have failed, in microseconds.
    var longestFailure: Int {
        let times = services.map { min(3, $0.servers.count) * $0.attemptLimit }
        if fallback == .never { return times[0] }
        // A service that is not the last step of the chain has three seconds, unless the plan says otherwise.
        let limited = endsWithSystem ? times[...] : times.dropLast()
        return limited.map { min(stepLimit ?? 3_000_000, $0) }.reduce(0, +)
            + (endsWithSystem ? 0 : times.last ?? 0)
    }
}

/// Worlds with such resolvers are drawn here.
extension Plan {
    /// Whether resolvers name other addresses of the hosts as time goes by.
    var hostsMove: Bool { resolvers?.moves.isEmpty == false }

    /// Whether a name may have no address: a host may move to the other family between its two answers.
    var namesMayVanish: Bool {
        hostsMove && hosts.contains { Set($0.addresses.map(\.isV6)).count > 1 }
    }

    /// Lets the client ask services for addresses.
    mutating func askServices(_ dice: inout Dice) {
        let isCalm = dice.chance(60)
        if isCalm { calmDown() }
        (client.resolving, client.proxy, client.isReleasedEarly) = (.system, .none, false)
        for host in hosts.indices where hosts[host].addresses.count == 1 && dice.chance(60) {
            hosts[host].addresses.append(AddressPlan())
        }
        var drawn = ResolverPlan()
        let isGood = isCalm && dice.chance(55)
        drawn.services = (0..<dice.one(of: [1, 1, 2])).map { _ in
            ResolverPlan.Service(drawnFrom: &dice, isGood: isGood)
        }
        drawn.fallback = dice.one(of: [.onConnectFailure] + ResolverPlan.Fallback.allCases)
        drawn.endsWithSystem = dice.chance(25)
        if dice.chance(75) {
            drawn.cache = ResolverPlan.Cache(
                shortest: dice.one(of: [0, 1_000_000, 5_000_000]),
                stale: dice.one(of: [0, 0, 0, 2_000_000]),
                negative: dice.one(of: [0, 1_000_000, 5_000_000]),
                refreshesAhead: dice.chance(70)
            )
        }
        drawn.lifetime = dice.one(of: [0, 1, 2, 5, 60])
        if dice.chance(20) { drawn.freshness = dice.one(of: [0, 1, 30]) }
        if dice.chance(50) {
            let unit = dice.one(of: [100_000, 3_000_000])
            drawn.moves = (1...dice.number(in: 1...4)).map { $0 * unit }
            // Connections to the addresses before are kept meanwhile.
            drawn.lifetime = dice.one(of: [0, 1, 2])
            client.idleTimeout = nil
            for host in hosts.indices { hosts[host].idleClose = nil }
        }
        resolvers = drawn
        let isSequence = dice.chance(drawn.moves.isEmpty ? 60 : 85)
        for call in calls.indices {
            if calls[call].kind == .prewarm { calls[call].kind = .get }
            if isSequence {
                calls[call].follows = call > 0
                if call > 0 { calls[call].cancellation = nil }
                calls[call].start = dice.one(of: [0, 1000, 300_000, 1_000_000, 2_500_000, 10_000_000])
            }
            if dice.chance(60) { calls[call].host = 0 }
        }
        if dice.chance(40) { resolvers?.stepLimit = dice.one(of: [500_000, 1_500_000, 3_000_000]) }
        if dice.chance(15) {
            for service in drawn.services.indices where drawn.services[service].servers.count > 1 {
                resolvers?.services[service].servers[0].manners = [.isSilent]
            }
        }
    }
}

extension Plan {
    /// Lets a program that keeps files keep the answers of such services, too.
    mutating func keepAnswers(_ dice: inout Dice) {
        askServices(&dice)
        var isAppended = false
        if dice.chance(20) {
            // The power fails when lines were appended, seconds after the answers came.
            for end in keeping?.ends.indices ?? 0..<0 {
                keeping?.ends[end] = KeepingPlan.End(isPowerFailure: true, time: 11_000_000)
            }
            keeping?.savePause = 20_000_000
            isAppended = true
        } else if dice.chance(50) {
            // Where all answers come at once, it can be told what need not be asked after a restart.
            calmDown()
            (network.shortSends, disk) = (0, nil)
            for end in keeping?.ends.indices ?? 0..<0 {
                keeping?.ends[end].isPowerFailure = false
                keeping?.ends[end].pause = dice.one(of: [0, 61, 7200])
            }
            for service in resolvers?.services.indices ?? 0..<0 { resolvers?.services[service].becomeCalm() }
        }
        var cache = resolvers?.cache ?? ResolverPlan.Cache()
        cache.isKept = true
        resolvers?.cache = cache
        resolvers?.lifetime = dice.one(of: [2, 60, 60, 300])
        resolvers?.freshness = nil
        for call in calls.indices {
            if call == 0 || calls[call - 1].run != calls[call].run { calls[call].follows = false }
            if isAppended {
                calls[call].start = dice.one(of: [0, 1_000_000, 4_000_000])
            } else if calls[call].start > 100_000 {
                calls[call].start = dice.one(of: [0, 10_000, 50_000])
            }
        }
    }
}

extension ResolverPlan.Service {
    /// Lets all servers answer all questions.
    fileprivate mutating func becomeCalm() {
        attemptLimit = 3_000_000
        for server in servers.indices {
            (servers[server].fate, servers[server].manners) = (.works, [.answers])
        }
    }

    fileprivate init(drawnFrom dice: inout Dice, isGood: Bool) {
        self.init()
        format = dice.one(of: ResolverPlan.Format.allCases + [.datagram])
        isSecure = dice.chance(60) && format != .datagram
        attemptLimit = isGood ? 3_000_000 : dice.one(of: [100_000, 1_000_000, 3_000_000])
        servers = (0..<dice.number(in: 1...3)).map { _ in
            ResolverPlan.Server(drawnFrom: &dice, format: format, isGood: isGood)
        }
        if format == .alibaba, dice.chance(60) {
            knownServers = dice.number(in: 1...servers.count)
            listTime = dice.one(of: [0, 1, 60, 3600])
        }
    }
}

extension ResolverPlan.Server {
    fileprivate init(drawnFrom dice: inout Dice, format: ResolverPlan.Format, isGood: Bool) {
        self.init()
        delay = dice.one(of: [0, 0, 5000, 80_000])
        if isGood {
            if format == .datagram, dice.chance(50) {
                manners = (0..<dice.number(in: 1...3)).map { _ in
                    dice.one(of: ResolverPlan.Manner.good(in: format))
                }
            }
            return
        }
        if dice.chance(25) {
            fate = dice.one(of: [.refuses, .silent, .closes, .freezes, .wrongCertificate, .unknownIssuer])
        }
        manners = (0..<dice.number(in: 1...4)).map { _ in
            dice.chance(50) ? .answers : dice.one(of: ResolverPlan.Manner.possible(in: format))
        }
    }
}
