internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The state of a question about a name while servers are asked: the questions that are left, the answers so
/// far, and whether these are enough to begin with. It has no sockets, lock or clock of its own.
///
/// Addresses are worth giving as soon as those of one family are known, IPv6 at once and IPv4 after the
/// Resolution Delay of Happy Eyeballs (RFC 8305, section 3), which records have as well. What comes later is
/// given then. Where records are awaited, addresses wait for them. One family's failure never hides the
/// other's addresses, and the answer says what it lacks.
struct Inquiry {
    /// What is asked about one name, with one question or one for each family.
    enum Topic: Hashable, Sendable {
        case addresses(DomainName)
        case records(DomainName)
    }

    /// One of the questions about a topic.
    struct Query: Sendable {
        let topic: Topic
        let number: Int
    }

    /// The reply to one question, and the servers that failed before.
    struct Verdict: Sendable {
        var answer: Result<ServiceAnswer, ResolverError>
        var failures: [ResolverError] = []
        /// The server that answered.
        var server: Endpoint?
    }

    /// The next thing to do.
    enum Step {
        /// Ask about this.
        case ask(Topic)
        /// Give this to those who wait.
        case give(Publication.Outcome, isComplete: Bool)
        /// Wait until this moment, or until a reply has come.
        case wait(until: Instant)
    }

    /// The questions about a topic: the type of each, and its reply.
    struct Questions {
        var types: [UInt16]
        var replies: [Verdict?]
    }

    let host: DomainName
    /// The name of the records of the origin; `nil` if they are not asked for.
    let origin: DomainName?
    /// The name of the resolver.
    let name: String
    let families: ServiceSettings.Families
    private let start: Instant
    /// The moment until which addresses wait for records; `nil` if they do not, beyond the delay.
    private let recordsEnd: Instant?
    private let delay: UInt64
    private(set) var topics: [Topic: Questions] = [:]
    /// When there were the first addresses.
    private var firstAddresses: Instant?
    private var given: Resolution?
    private var hasNews = false

    init(
        _ host: DomainName,
        records origin: DomainName?,
        by name: String,
        _ settings: ServiceSettings,
        from start: Instant,
        recordsEnd: Instant
    ) {
        self.host = host
        self.origin = origin
        self.name = name
        self.start = start
        families = settings.families
        delay = settings.resolutionDelay.clampedNanoseconds
        self.recordsEnd = settings.httpsRecords == .awaited ? recordsEnd : nil
    }

    /// Notes that a topic is being asked about, with questions of these types. Returns these.
    mutating func begin(_ topic: Topic, types: [UInt16]) -> [Query] {
        topics[topic] = Questions(types: types, replies: Array(repeating: nil, count: types.count))
        return types.indices.map { Query(topic: topic, number: $0) }
    }

    /// Notes the reply to one question.
    mutating func note(_ reply: Verdict, to query: Query, at now: Instant) {
        let (topic, number) = (query.topic, query.number)
        var reply = reply
        if case .success(var answer) = reply.answer, case .services(let services)? = answer.bindings {
            answer.bindings = .services(services.inOrder)
            reply.answer = .success(answer)
        }
        topics[topic]?.replies[number] = reply
        hasNews = true
    }

    /// Returns what to do at this moment.
    mutating func next(at now: Instant) -> Step {
        let view = view()
        if let topic = view.wanted.first { return .ask(topic) }
        if !topics.values.contains(where: \.isOpen) { return .give(view.outcome, isComplete: true) }
        guard hasNews, case .success(let resolution) = view.outcome else { return .wait(until: .never) }
        if firstAddresses == nil { firstAddresses = now }
        let ready = given == nil ? moment(for: resolution, view) : now
        guard ready <= now else { return .wait(until: ready) }
        hasNews = false
        if let given, given.endpoints == resolution.endpoints, given.https == resolution.https {
            return .wait(until: .never)
        }
        given = resolution
        return .give(view.outcome, isComplete: false)
    }

    /// Returns the moment from which addresses are given although more is to come.
    private func moment(for resolution: Resolution, _ view: View) -> Instant {
        if view.awaitsRecords, let recordsEnd { return recordsEnd }
        let hasIPv6 = resolution.endpoints.contains { $0.address.family == .v6 }
        let mayGetIPv6 = families != .v4 && !hasIPv6 && found(host).isOpen
        let first = firstAddresses ?? start
        return view.awaitsRecords || mayGetIPv6 ? first.advanced(byNanoseconds: delay) : first
    }
}

extension Inquiry.Topic {
    /// The name that is asked about.
    var host: DomainName {
        switch self {
        case .addresses(let host), .records(let host): host
        }
    }
}

extension Inquiry.Questions {
    /// Whether there are questions without a reply.
    var isOpen: Bool { replies.contains { $0 == nil } }
}

extension [ServiceBinding] {
    /// The bindings by priority, those of equal priority in random order (RFC 9460, section 2.4.1).
    fileprivate var inOrder: [ServiceBinding] {
        let shuffled = map { (binding: $0, chance: SystemRandom.word()) }
        return shuffled.sorted {
            ($0.binding.priority, $0.chance) < ($1.binding.priority, $1.chance)
        }.map(\.binding)
    }
}
