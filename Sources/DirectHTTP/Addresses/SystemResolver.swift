internal import DirectIO

/// The system's resolver: whatever this machine is set up to ask, both families, in the order of RFC 6724.
///
/// Questions for one name at the same time share one call, those of several clients too. A call cannot be broken off,
/// so one that nobody waits for any more runs on; it keeps no other name from being looked up.
public struct SystemResolver: Resolver {
    private let lookups: SystemLookups

    /// The system's resolver.
    public init() {
        self.init(.shared)
    }

    init(_ lookups: SystemLookups) {
        self.lookups = lookups
    }

    public var name: String { "system" }
    public var dependsOnPort: Bool { false }
    public var mayAskSystem: Bool { true }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        let start = context.loop.now
        let answer: SystemLookups.Answer
        do throws(BlockingWork.Abandoned) {
            answer = try await lookups.addresses(of: host.text, until: context.deadline, on: context.loop)
        } catch {
            guard error == .expired else { throw CancellationError() }
            throw ResolverError(name, .timedOut(after: context.loop.now.since(start)))
        }
        switch answer {
        case .success(let addresses): return Resolution(addresses.map { Endpoint($0) }, source: .system)
        case .failure(let error): throw ResolverError(name, .lookup(error))
        }
    }

    /// Questions from now on share no call that was made before.
    public func forgetAll() {
        lookups.forgetAll()
    }
}
