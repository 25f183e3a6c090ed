internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The server that is asked, and the time that it has.
struct Visit: Sendable {
    let server: Endpoint
    let start: Instant
    let end: Instant
    let loop: EventLoop

    init(_ server: Endpoint, within limit: Duration, on loop: EventLoop) {
        self.server = server
        self.loop = loop
        start = loop.now
        end = start.advanced(byNanoseconds: limit.clampedNanoseconds)
    }
}

/// A request about a name.
struct Query: Sendable {
    /// What a request asks for.
    enum Kind: Hashable, Sendable {
        case addresses, records
    }

    let host: DomainName
    let question: ServiceQuestion

    init(_ host: DomainName, _ question: ServiceQuestion) {
        self.host = host
        self.question = question
    }

    var kind: Kind { question.type == DNSType.https ? .records : .addresses }
}

/// HTTPS records (RFC 9460): asking for them, following their aliases, and finding the addresses of the names
/// that they lead to.
extension ServiceClient {
    /// Returns the request for the records of an origin (section 9.1); `nil` if they are not asked for.
    ///
    /// Port 80 has none: an `http` URL without a port has those of the `https` URL without one (section 9.5).
    func recordQuery(for host: DomainName, port: UInt16, at visit: Visit) throws(ResolverError.Reason)
        -> Query?
    {
        guard settings.httpsRecords != .off, port != 80 else { return nil }
        let name = port == 443 ? host : try? DomainName("_\(port)._https.\(host)")
        return try name.flatMap { name throws(ResolverError.Reason) in try recordQuery(of: name, at: visit) }
    }

    private func recordQuery(of name: DomainName, at visit: Visit) throws(ResolverError.Reason) -> Query? {
        guard let format = format as? any RecordFormat else { return nil }
        return Query(name, try format.question(name, type: DNSType.https, at: visit.loop.date))
    }

    /// Returns the addresses of a name together with its HTTPS records. The records decide which addresses
    /// come first; those of the name itself are the last ones, for a client that can do without records.
    ///
    /// - Parameters:
    ///   - found: The addresses of the name, or why there are none.
    ///   - answer: The answer to the request for the records.
    func join(
        _ found: Result<Resolution, any Error>,
        of host: DomainName,
        with answer: ServiceAnswer,
        to query: Query,
        at visit: Visit
    ) async throws -> Resolution {
        if case .failure(let error) = found, error is CancellationError { throw error }
        let own = try? found.get()
        let end = own == nil ? visit.end : followEnd(of: visit)
        guard let chain = try await follow(answer, from: query.host, until: end, at: visit) else {
            return try found.get()
        }
        let isOwn = { (name: DomainName) in name == host || name == own?.canonicalName }
        let targets = chain.records.map(\.target).filter { !isOwn($0) }
        let others = try await resolve(targets, until: end, at: visit)
        var records: [HTTPSRecord] = []
        for var record in chain.records {
            let known = isOwn(record.target) ? own : others[record.target]
            let hints = record.hints.filter { settings.families.contains($0.family) }
            let addresses = known?.endpoints.map(\.address) ?? hints
            record.endpoints = addresses.map { Endpoint($0, port: record.port) }
            if !record.endpoints.isEmpty { records.append(record) }
        }
        // Records without any address say nothing, for now.
        guard !records.isEmpty || chain.records.isEmpty else { return try found.get() }
        var endpoints = records.flatMap(\.endpoints)
        // Where every record has configurations, nothing is to be connected to without (RFC 9848, section 5).
        if !records.allHaveConfigurations { endpoints += own?.endpoints ?? [] }
        guard !endpoints.isEmpty else { return try found.get() }
        var resolution = own ?? Resolution([], source: .resolver(name))
        resolution.endpoints = endpoints.withoutRepeats
        let times = [own?.timeToLive, chain.time] + others.values.map(\.timeToLive)
        resolution.timeToLive = times.compactMap { $0 }.min()
        resolution.https = HTTPSRecords(records, timeToLive: chain.time)
        return resolution
    }

    /// The records at the end of the aliases.
    private struct Chain {
        /// The records, without their endpoints.
        var records: [HTTPSRecord] = []
        /// The shortest time to live on the way to them.
        var seconds: Int64?
        var time: Duration? { seconds.map { .seconds($0) } }
    }

    /// When addresses are at hand, what the records lead to is awaited for as long as the answers so far.
    private func followEnd(of visit: Visit) -> Instant {
        guard settings.httpsRecords != .awaited else { return visit.end }
        let time = max(settings.otherFamilyTime, visit.loop.now.since(visit.start))
        return min(visit.end, visit.loop.now.advanced(byNanoseconds: time.clampedNanoseconds))
    }

    /// Follows the aliases of records. Returns `nil` if the records at their end are not known in time, and
    /// none if the aliases do not end (section 2.4.2, section 3).
    private func follow(
        _ first: ServiceAnswer,
        from origin: DomainName,
        until end: Instant,
        at visit: Visit
    ) async throws -> Chain? {
        var (answer, name) = (first, origin)
        var visited: Set = [name]
        var chain = Chain(seconds: first.seconds)
        while case .alias(let next)? = answer.bindings {
            guard visited.count <= Self.mostAliases, visited.insert(next).inserted,
                let query = try recordQuery(of: next, at: visit)
            else { return Chain(seconds: chain.seconds) }
            let known = try await until(end, at: visit) { [self] in try await send(query, at: visit) }
            guard let known else { return nil }
            (answer, name) = (known, next)
            if let seconds = known.seconds { chain.seconds = min(chain.seconds ?? seconds, seconds) }
        }
        guard case .services(let services)? = answer.bindings else { return nil }
        chain.records = HTTPSRecord.all(services.prefix(Self.mostRecords), of: name)
        // What an alias leads to can be used without parameters as well (section 3).
        if visited.count > 1, !chain.records.allHaveConfigurations {
            chain.records.append(HTTPSRecord(name, priority: 0))
        }
        return chain
    }

    /// Returns the addresses of the names that have some in time.
    private func resolve(_ names: [DomainName], until end: Instant, at visit: Visit) async throws
        -> [DomainName: Resolution]
    {
        try await withThrowingTaskGroup(of: (DomainName, Resolution?).self) { group in
            for name in names.withoutRepeats {
                let queries = try addressQueries(for: name, at: visit)
                let ask = { @Sendable [self] in try merge(await answers(to: queries, at: visit)) }
                group.addTask { [self] in (name, try await until(end, at: visit, ask)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// Returns the value, or `nil` if it is not known in time.
    ///
    /// - Throws: `CancellationError` if the task was cancelled.
    private func until<Value: Sendable>(
        _ end: Instant,
        at visit: Visit,
        _ value: @escaping @Sendable () async throws -> Value
    ) async throws(CancellationError) -> Value? {
        do throws(ForeignFailure) {
            return try await askForeignCode(until: end, on: visit.loop, value)
        } catch {
            if case .cancelled = error { throw CancellationError() }
            return nil
        }
    }

    /// The longest chain of aliases that is followed.
    private static let mostAliases = 8
    /// The highest number of records that are used.
    private static let mostRecords = 8
}

extension HTTPSRecord {
    /// Returns the records of a name, those of equal priority in random order (section 2.4.1).
    fileprivate static func all(_ bindings: some Sequence<ServiceBinding>, of name: DomainName)
        -> [HTTPSRecord]
    {
        let shuffled = bindings.map { (binding: $0, chance: SystemRandom.word()) }
        return shuffled.sorted {
            ($0.binding.priority, $0.chance) < ($1.binding.priority, $1.chance)
        }.map { HTTPSRecord($0.binding, of: name) }
    }

    private init(_ binding: ServiceBinding, of name: DomainName) {
        self.init(binding.target ?? name, priority: binding.priority, port: binding.port)
        protocols = binding.protocols.map { String(decoding: $0, as: UTF8.self) }
        hints = binding.hints
        encryptedClientHello = binding.encryptedClientHello
    }
}

extension [HTTPSRecord] {
    /// Whether there are records, and each has configurations for Encrypted Client Hello.
    fileprivate var allHaveConfigurations: Bool {
        !isEmpty && allSatisfy { $0.encryptedClientHello != nil }
    }
}

extension Array where Element: Hashable {
    /// Each element at its first place only.
    fileprivate var withoutRepeats: [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
