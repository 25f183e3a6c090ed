internal import DirectCore
internal import DirectHTTP

/// What one resolver has answered to the question for a host's HTTPS records (RFC 9460).
struct RecordReply: Sendable {
    let resolver: String
    /// The records that a client of HTTP/1.1 can use.
    private(set) var records: [HTTPSRecord] = []
    /// Why there are none, if it is another reason than that the name has none.
    private(set) var failure: String?
    /// Whether it is known whether the name has records.
    private(set) var isKnown = true

    /// - Parameter limit: The time that the resolver has had.
    init(_ answer: NamedResolver.Answer, within limit: Duration) {
        resolver = answer.resolver
        do throws(ResolverError) {
            let resolution = try answer.result.get()
            records = resolution.https?.records ?? []
            switch resolution.recordsDefect {
            case .failed(let error)?: throw error
            case .malformed?: failure = "an HTTPS record is malformed, so that none counts"
            case .unusable(let protocols)? where protocols.contains("http/1.1"):
                failure = "it has HTTPS records, which demand what this client cannot do"
            case .unusable(let protocols)?:
                failure = "its HTTPS records are for \(Words.all(protocols)) only"
            case nil where resolution.lacks.contains(.records):
                throw ResolverError(resolver, .timedOut(after: limit))
            case nil:
                isKnown = resolution.https != nil
                failure = isKnown ? nil : "it knows nothing of HTTPS records"
            }
        } catch {
            failure = Words.lowered("\(error.reason)")
            // A name that does not exist has no record either.
            if case .noSuchName = error.reason { return }
            isKnown = false
        }
    }
}

/// The HTTPS records of the run's hosts. Each is asked for once, of all resolvers at the same time.
final class RecordSource: Sendable {
    private struct Origin: Hashable {
        let host: DomainName
        let port: UInt16
    }

    private let resolvers: [NamedResolver]
    private let limit: Duration
    private let answers = Locked<[Origin: Task<[RecordReply], Never>]>([:])

    private static let mostOrigins = 10_000

    /// - Parameter limit: The time that the resolvers have.
    init(_ resolvers: [NamedResolver], limit: Duration) {
        (self.resolvers, self.limit) = (resolvers, limit)
    }

    /// Returns the answers of all resolvers, in their order.
    func replies(for host: DomainName, port: UInt16, on loop: EventLoop) async -> [RecordReply] {
        let task = answers.withLock { answers in
            let origin = Origin(host: host, port: port)
            if let known = answers[origin] { return known }
            if answers.count >= Self.mostOrigins { answers.removeAll() }
            let task = Task(executorPreference: loop) { [self] in await ask(host, port: port, on: loop) }
            answers[origin] = task
            return task
        }
        return await task.value
    }

    private func ask(_ host: DomainName, port: UInt16, on loop: EventLoop) async -> [RecordReply] {
        let end = loop.now.advanced(byNanoseconds: limit.clampedNanoseconds)
        let context = ResolveContext(.https, deadline: end, loop: loop)
        let answers = await NamedResolver.ask(resolvers, for: host, port: port, context: context)
        return answers.map { RecordReply($0, within: limit) }
    }
}
