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
    struct Asked: Sendable {
        let name: String
        let resolver: any Resolver
    }

    private struct Origin: Hashable {
        let host: DomainName
        let port: UInt16
    }

    private let resolvers: [Asked]
    private let limit: Duration
    private let answers = Locked<[Origin: Task<[RecordReply], Never>]>([:])

    private static let mostOrigins = 10_000

    /// - Parameter limit: The time that the resolvers have.
    init(_ resolvers: [Asked], limit: Duration) {
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
        let context = ResolveContext(deadline: end, loop: loop)
        return await withTaskGroup(of: (Int, RecordReply).self) { group in
            for (index, asked) in resolvers.enumerated() {
                group.addTask(executorPreference: loop) {
                    let result: Result<[HTTPSRecord], ResolverError>
                    do {
                        let answer = try await asked.resolver.resolve(host, port: port, context: context)
                        result = .success(answer.https?.records ?? [])
                    } catch {
                        let known = error as? ResolverError
                        result = .failure(known ?? ResolverError(asked.name, .other(error)))
                    }
                    return (index, RecordReply(resolver: asked.name, result: result))
                }
            }
            var replies: [(Int, RecordReply)] = []
            for await reply in group { replies.append(reply) }
            return replies.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
