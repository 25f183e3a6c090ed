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
    /// Returns the request for the records of an `https` origin (section 9.1); `nil` if they are not asked
    /// for.
    func recordQuery(for host: DomainName, port: UInt16, at visit: Visit) throws(ResolverError.Reason)
        -> Query?
    {
        guard settings.httpsRecords != .off else { return nil }
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
        let chain: HTTPSRecords
        do {
            chain = try await follow(answer, from: query.host, until: end, at: visit)
        } catch {
            guard let own, !(error is CancellationError) else { throw error }
            return own
        }
        // Where every record has configurations, nothing is to be connected to without: the addresses of the
        // targets are no less awaited than those of the name.
        let isReliant = chain.records.allHaveConfigurations
        let isOwn = { (name: DomainName) in name == host || name == own?.canonicalName }
        let targets = chain.records.map(\.target).filter { !isOwn($0) }
        let others = try await resolve(targets, until: isReliant ? visit.end : end, at: visit)
        var records: [HTTPSRecord] = []
        for var record in chain.records {
            let known = isOwn(record.target) ? own : try? others[record.target]?.get()
            let hints = record.hints.filter { settings.families.contains($0.family) }
            let addresses = known?.endpoints.map(\.address) ?? hints
            record.endpoints = addresses.map { Endpoint($0, port: record.port) }
            if !record.endpoints.isEmpty { records.append(record) }
        }
        // Records without any address say nothing, for now.
        if records.isEmpty, !chain.records.isEmpty {
            if let own, !isReliant { return own }
            _ = try (others.values.first { !$0.isDenial } ?? found).get()
            throw ResolverError.Reason.noAddresses
        }
        var resolution = own ?? Resolution([], source: .resolver(name))
        resolution.add(HTTPSRecords(records, timeToLive: chain.timeToLive), isReliant: isReliant)
        guard !resolution.endpoints.isEmpty else { return try found.get() }
        let times = [own?.timeToLive, chain.timeToLive] + others.values.map { try? $0.get().timeToLive }
        resolution.timeToLive = times.compactMap { $0 }.min()
        return resolution
    }

    /// When addresses are at hand, what the records lead to is awaited for as long as the answers so far.
    private func followEnd(of visit: Visit) -> Instant {
        guard settings.httpsRecords != .awaited else { return visit.end }
        let time = max(settings.otherFamilyTime, visit.loop.now.since(visit.start))
        return min(visit.end, visit.loop.now.advanced(byNanoseconds: time.clampedNanoseconds))
    }

    /// Follows the aliases of records. Returns none if the aliases do not end (section 2.4.2, section 3).
    ///
    /// - Throws: Why the records at their end are not known.
    private func follow(
        _ first: ServiceAnswer,
        from origin: DomainName,
        until end: Instant,
        at visit: Visit
    ) async throws -> HTTPSRecords {
        var (answer, name) = (first, origin)
        var visited: Set = [name]
        while case .alias(let next)? = answer.bindings {
            guard visited.count <= Self.mostAliases, visited.insert(next).inserted,
                let query = try recordQuery(of: next, at: visit)
            else { return HTTPSRecords([], timeToLive: answer.seconds.map { .seconds($0) }) }
            var known = try await known(until: end, at: visit) { [self] in try await send(query, at: visit) }
            if let seconds = answer.seconds { known.bound(seconds) }
            (answer, name) = (known, next)
        }
        guard case .services(let services)? = answer.bindings else {
            throw ResolverError.Reason.malformed("it has no answer to a question for HTTPS records")
        }
        var records = HTTPSRecord.all(services.prefix(Self.mostRecords), of: name)
        // What an alias leads to can be used without parameters as well (section 3).
        if visited.count > 1, !records.allHaveConfigurations {
            records.append(HTTPSRecord(name, priority: 0))
        }
        return HTTPSRecords(records, timeToLive: answer.seconds.map { .seconds($0) })
    }

    /// Returns the addresses of the names, or why they are not known in time.
    private func resolve(_ names: [DomainName], until end: Instant, at visit: Visit) async throws
        -> [DomainName: Result<Resolution, any Error>]
    {
        try await withThrowingTaskGroup(of: (DomainName, Result<Resolution, any Error>).self) { group in
            for name in names.withoutRepeats {
                let queries = try addressQueries(for: name, at: visit)
                let ask = { @Sendable [self] in try merge(await answers(to: queries, at: visit)) }
                group.addTask { [self] in
                    do {
                        return (name, .success(try await known(until: end, at: visit, ask)))
                    } catch {
                        if error is CancellationError { throw error }
                        return (name, .failure(error))
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// Returns a value if it is known in time.
    ///
    /// - Throws: A `ResolverError.Reason`, or a `CancellationError`.
    private func known<Value: Sendable>(
        until end: Instant,
        at visit: Visit,
        _ value: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do throws(ForeignFailure) {
            return try await askForeignCode(until: end, on: visit.loop, value)
        } catch {
            switch error {
            case .cancelled: throw CancellationError()
            case .silent(let time): throw ResolverError.Reason.timedOut(after: time)
            case .threw(let error): throw error
            }
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

extension Result<Resolution, any Error> {
    /// Whether it says that there are no addresses.
    fileprivate var isDenial: Bool {
        if case .failure(let reason as ResolverError.Reason) = self { reason.isFinal } else { false }
    }
}
