internal import DirectCore
internal import DirectHTTP

/// What one resolver has answered to the question for a host's HTTPS records (RFC 9460).
struct RecordReply: Sendable {
    let resolver: String
    /// The records that a client of HTTP/1.1 can use, or why they are not known.
    let result: Result<[HTTPSRecord], ResolverError>

    var records: [HTTPSRecord] { (try? result.get()) ?? [] }
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
        return answers.map { answer in
            RecordReply(resolver: answer.resolver, result: answer.result.map { $0.https?.records ?? [] })
        }
    }
}
