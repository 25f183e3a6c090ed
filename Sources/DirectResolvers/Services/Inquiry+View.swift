internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The replies so far, joined: the addresses of both families, and the HTTPS records (RFC 9460) with the
/// addresses of the names that they lead to.
extension Inquiry {
    /// All that can be said at a moment.
    struct View {
        /// The addresses, or why there are none.
        var outcome: Publication.Outcome
        /// The further questions.
        var wanted: [Topic] = []
        /// Whether records, or addresses of the names that they lead to, are still to come.
        var awaitsRecords = false
    }

    /// The addresses of one name.
    struct Found {
        var addresses: [IPAddress] = []
        /// The shortest time to live of the addresses; `nil` if it is not known.
        var seconds: Int64?
        var canonicalName: DomainName?
        var failure: ResolverError?
        /// The server that has no address, the one that was asked for A before that for AAAA.
        var server: Endpoint?
        var isNoSuchName = false
        /// Whether that was said of A, which holds for every type (RFC 8020, section 2). Of AAAA some
        /// servers say it for names that have IPv4 addresses only (RFC 4074, section 4.2).
        var isDenied = false
        /// Whether there are questions without a reply.
        var isOpen = true
    }

    /// The end of the aliases.
    private enum Chain {
        /// Records are not asked for, or their question has no reply yet.
        case unknown(isOpen: Bool)
        case failed(ResolverError)
        case known(HTTPSRecords, Resolution.RecordsDefect? = nil)
    }

    /// Puts the replies together.
    func view() -> View {
        guard topics[.addresses(host)] != nil else {
            return View(outcome: .failure(error(.noAddresses)), wanted: [.addresses(host)])
        }
        var wanted: [Topic] = []
        var view: View
        switch chain(&wanted) {
        case .unknown(let isOpen): view = ownView(awaitsRecords: isOpen)
        case .failed(let failure):
            view = ownView(awaitsRecords: false, insteadOfNone: failure).noting(.failed(failure))
        case .known(let records, let defect): view = joined(records).noting(defect)
        }
        view.wanted += wanted
        view.outcome = view.outcome.map(completed)
        return view
    }

    /// Returns the addresses of a name, as far as they are known.
    ///
    /// A name whose question failed has failed, rather than no address: it might have had some.
    func found(_ name: DomainName) -> Found {
        guard let questions = topics[.addresses(name)] else { return Found() }
        var found = Found(isOpen: questions.isOpen)
        for (type, reply) in zip(questions.types, questions.replies) {
            guard let reply else { continue }
            switch reply.answer {
            case .failure(let error): found.failure = found.failure ?? error
            case .success(let answer):
                let wanted = answer.addresses.filter { families.contains($0.family) }
                if !wanted.isEmpty, let time = answer.seconds {
                    found.seconds = min(found.seconds ?? time, time)
                }
                found.addresses += wanted
                if wanted.isEmpty { found.server = found.server ?? reply.server }
                found.canonicalName = found.canonicalName ?? answer.canonicalName
                if answer.isNoSuchName {
                    found.isNoSuchName = true
                    if type == DNSType.a { found.isDenied = true }
                }
                if let fault = answer.fault {
                    found.failure = found.failure ?? error(fault, by: reply.server)
                }
            }
        }
        found.addresses = found.addresses.withoutRepeats
        return found
    }

    private func error(_ reason: ResolverError.Reason, by server: Endpoint? = nil) -> ResolverError {
        ResolverError(name, reason, server: server)
    }

    /// Returns why a name has no addresses.
    private func reason(_ found: Found) -> ResolverError {
        if found.isDenied { return error(.noSuchName, by: found.server) }
        return found.failure ?? error(found.isNoSuchName ? .noSuchName : .noAddresses, by: found.server)
    }

    /// Returns the addresses of the name itself.
    ///
    /// - Parameter failure: Why there are no records, which might have named other addresses.
    private func ownView(awaitsRecords: Bool, insteadOfNone failure: ResolverError? = nil) -> View {
        let own = found(host)
        guard !own.addresses.isEmpty else {
            let reason = reason(own)
            return View(outcome: .failure(reason.reason.isFinal ? failure ?? reason : reason))
        }
        return View(outcome: .success(resolution(own)), awaitsRecords: awaitsRecords)
    }

    private func resolution(_ found: Found) -> Resolution {
        Resolution(
            found.addresses.map { Endpoint($0) },
            timeToLive: found.seconds.map { .seconds($0) },
            source: .resolver(name),
            canonicalName: found.canonicalName
        )
    }

    /// Follows the aliases of records. They lead to none if they do not end (section 2.4.2, section 3).
    private func chain(_ wanted: inout [Topic]) -> Chain {
        guard var name = origin else { return .unknown(isOpen: false) }
        var visited: Set = [name]
        var seconds: Int64?
        while true {
            guard let questions = topics[.records(name)] else {
                wanted.append(.records(name))
                return .unknown(isOpen: true)
            }
            guard let reply = questions.replies.first ?? nil else { return .unknown(isOpen: true) }
            let answer: ServiceAnswer
            switch reply.answer {
            case .failure(let error): return .failed(error)
            case .success(let success): answer = success
            }
            if let time = answer.seconds { seconds = min(seconds ?? time, time) }
            switch answer.bindings {
            case nil:
                return .failed(error(.malformed("it has no answer to a question for HTTPS records")))
            case .services(let services)?:
                var records = services.prefix(Self.mostRecords).map { HTTPSRecord($0, of: name) }
                // The target of an alias can be used without parameters as well (section 3).
                if visited.count > 1, !records.allHaveConfigurations {
                    records.append(HTTPSRecord(name, priority: 0))
                }
                return .known(HTTPSRecords(records, timeToLive: seconds.map { .seconds($0) }))
            case .unusable(let protocols)?:
                let names = protocols?.map { String(decoding: $0, as: UTF8.self) }.withoutRepeats
                let records = HTTPSRecords([], timeToLive: seconds.map { .seconds($0) })
                return .known(records, names.map { .unusable(protocols: $0) } ?? .malformed)
            case .alias(let next)?:
                guard visited.count <= Self.mostAliases, visited.insert(next).inserted else {
                    return .known(HTTPSRecords([], timeToLive: seconds.map { .seconds($0) }))
                }
                name = next
            }
        }
    }

    /// Returns the addresses of the name together with its HTTPS records. The records decide which addresses
    /// come first; those of the name itself are the last ones, for a client that can do without records.
    private func joined(_ chain: HTTPSRecords) -> View {
        let own = found(host)
        // If every record has configurations, a client must not connect without them.
        let isReliant = chain.records.allHaveConfigurations
        let isOwn = { (name: DomainName) in name == host || name == own.canonicalName }
        let targets = chain.records.map(\.target).filter { !isOwn($0) }.withoutRepeats
        let others = Dictionary(uniqueKeysWithValues: targets.map { ($0, found($0)) })
        var view = View(outcome: .failure(reason(own)))
        view.wanted = targets.map(Topic.addresses).filter { topics[$0] == nil }
        view.awaitsRecords = others.values.contains { $0.isOpen }
        var records: [HTTPSRecord] = []
        for var record in chain.records {
            let known = (isOwn(record.target) ? own : others[record.target])?.addresses ?? []
            let hints = record.hints.filter { families.contains($0.family) }
            record.endpoints = (known.isEmpty ? hints : known).map { Endpoint($0, port: record.port) }
            if !record.endpoints.isEmpty { records.append(record) }
        }
        // Records without any address say nothing, for now.
        if records.isEmpty, !chain.records.isEmpty {
            let failure = targets.compactMap { others[$0]?.failure }.first ?? reason(own)
            let isUsable = !isReliant && !own.addresses.isEmpty
            view.outcome = isUsable ? .success(resolution(own)) : .failure(failure)
            return view
        }
        var resolution = resolution(own)
        resolution.add(HTTPSRecords(records, timeToLive: chain.timeToLive), isReliant: isReliant)
        let times = [own.seconds] + others.values.map(\.seconds)
        resolution.timeToLive = (times.map { $0.map { .seconds($0) } } + [chain.timeToLive]).compactMap { $0 }
            .min()
        if !resolution.endpoints.isEmpty { view.outcome = .success(resolution) }
        return view
    }

    /// Returns the answer with what it lacks, and with the servers that failed. It lives for a short time if
    /// it lacks anything, so that it is soon asked for again.
    private func completed(_ resolution: Resolution) -> Resolution {
        var resolution = resolution
        let own = found(host)
        if own.isOpen || own.failure != nil { resolution.lacks.insert(.family) }
        if origin != nil, resolution.https == nil { resolution.lacks.insert(.records) }
        if !resolution.lacks.isEmpty {
            resolution.timeToLive = min(resolution.timeToLive ?? Self.shortTime, Self.shortTime)
        }
        for failure in topics.values.flatMap(\.replies).compactMap({ $0 }).flatMap(\.failures)
        where !resolution.failures.contains(where: { $0.server == failure.server }) {
            resolution.failures.append(failure)
        }
        return resolution
    }

    /// The longest time to live of an answer that lacks something.
    private static let shortTime = Duration.seconds(10)
    /// The longest chain of aliases that is followed.
    private static let mostAliases = 8
    /// The highest number of records that are used.
    private static let mostRecords = 8
}

extension Inquiry.View {
    /// The same, with the reason why there are no records.
    fileprivate func noting(_ defect: Resolution.RecordsDefect?) -> Self {
        var view = self
        view.outcome = outcome.map { resolution in
            var resolution = resolution
            resolution.recordsDefect = defect
            return resolution
        }
        return view
    }
}

extension HTTPSRecord {
    fileprivate init(_ binding: ServiceBinding, of name: DomainName) {
        self.init(binding.target ?? name, priority: binding.priority, port: binding.port)
        protocols = binding.protocols.map { String(decoding: $0, as: UTF8.self) }
        hints = binding.hints
        encryptedClientHello = binding.encryptedClientHello
    }
}
