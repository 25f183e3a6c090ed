internal import DirectCore
internal import DirectHTTP

extension SystemLookups {
    /// The look-ups of all runs, which may have many names that are never answered. Each such name occupies a
    /// thread until the system gives up.
    static let ofRuns = SystemLookups(awaited: 64, threads: Descriptors.room(for: nil).lookups)
}

/// The system's resolver as one of the resolvers of a run.
struct SystemResolverOfRuns: Resolver {
    let name = "system"
    let dependsOnPort = false
    let mayAskSystem = true

    /// Looks the name up. The time in the queue behind other names does not count.
    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        let limit = context.deadline.since(context.loop.now)
        let answer: SystemLookups.Answer
        do throws(BlockingWork.Abandoned) {
            answer = try await SystemLookups.ofRuns.addresses(
                of: host.text,
                allowing: limit.clampedNanoseconds,
                on: context.loop
            ).answer
        } catch {
            throw ResolverError(name, .timedOut(after: limit))
        }
        switch answer {
        case .success(let addresses): return Resolution(addresses.map { Endpoint($0) }, source: .system)
        case .failure(let error): throw ResolverError(name, .lookup(error))
        }
    }
}
