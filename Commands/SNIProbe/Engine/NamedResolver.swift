internal import DirectCore
internal import DirectHTTP

/// A resolver of the run with the name that the output shows.
struct NamedResolver: Sendable {
    let name: String
    let resolver: any Resolver

    /// What one of several resolvers has answered, and the time that it took.
    struct Answer: Sendable {
        let resolver: String
        let result: Result<Resolution, ResolverError>
        let time: Duration
    }

    /// Asks all resolvers at the same time. The answers are in the order of the resolvers.
    static func ask(
        _ resolvers: [NamedResolver],
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, resolver) in resolvers.enumerated() {
                group.addTask(executorPreference: context.loop) {
                    (index, await resolver.answer(for: host, port: port, context: context))
                }
            }
            var answers: [(Int, Answer)] = []
            for await answer in group { answers.append(answer) }
            return answers.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func answer(for host: DomainName, port: UInt16, context: ResolveContext) async -> Answer {
        let start = context.loop.now
        let result: Result<Resolution, ResolverError>
        do {
            result = .success(try await resolver.resolve(host, port: port, context: context))
        } catch {
            result = .failure(error as? ResolverError ?? ResolverError(name, .other(error)))
        }
        return Answer(resolver: name, result: result, time: context.loop.now.since(start))
    }
}
