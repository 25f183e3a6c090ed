internal import DirectIO

/// The system's resolver: whatever this machine is set up to ask, both families, in the order of RFC 6724.
///
/// A look-up cannot be broken off. Who no longer waits leaves it to its thread, of which there are a few for
/// look-ups alone.
public struct SystemResolver: Resolver {
    /// The system's resolver.
    public init() {}

    public var name: String { "system" }
    public var dependsOnPort: Bool { false }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        let start = context.loop.now
        let answer: Result<[IPAddress], LookupError>
        do throws(BlockingWork.Abandoned) {
            let text = host.text
            answer = try await BlockingWork.lookups.run(until: context.deadline, on: context.loop) {
                lookUp(text)
            }
        } catch {
            guard error == .expired else { throw CancellationError() }
            throw ResolverError(name, .timedOut(after: context.loop.now.since(start)))
        }
        switch answer {
        case .success(let addresses): return Resolution(addresses.map { Endpoint($0) }, source: .system)
        case .failure(let error): throw ResolverError(name, .lookup(error))
        }
    }
}
