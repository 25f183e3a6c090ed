public import DirectCore
package import DirectIO

/// The system's resolver (`getaddrinfo`): it uses the sources that this machine is configured for, asks for
/// both address families, and sorts by RFC 6724.
///
/// Concurrent questions for one name share one call, even those of several clients. A call cannot be
/// cancelled: if no caller waits for it any more, it runs to its end. It does not keep other names from being
/// looked up.
///
/// If the answer for one family is late or lost, the addresses of the other are the answer a second after
/// they are known. `localhost` and its subdomains are 127.0.0.1 and ::1 (RFC 6761), and names under `onion`
/// have no address (RFC 7686): the system is not asked for these.
public struct SystemResolver: Resolver, PublishingResolver {
    private let lookups: SystemLookups

    /// Creates a resolver that shares its calls with all other system resolvers of the process.
    public init() {
        self.init(.shared)
    }

    package init(_ lookups: SystemLookups) {
        self.lookups = lookups
    }

    /// The name in errors and transactions: `system`.
    public var name: String { "system" }
    /// `false`: the system's resolver is not told the port.
    public var dependsOnPort: Bool { false }
    /// `true`.
    public var mayAskSystem: Bool { true }

    /// Looks the name up on a thread that may block.
    ///
    /// - Throws: A ``ResolverError``: ``ResolverError/Reason/lookup(_:)`` if the look-up failed,
    ///   ``ResolverError/Reason/timedOut(after:)`` if it did not end before the deadline; `CancellationError`
    ///   if the task was cancelled.
    public func resolve(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await wholeAnswer(host, port: port, context: context)
    }

    /// Looks the name up, and returns the addresses of one family if the other's are late.
    package func publish(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        let (start, end) = (context.loop.now, context.deadline)
        let (answer, search): (SystemLookups.Answer, NameSearch?)
        do throws(BlockingWork.Abandoned) {
            let name = context.isComplete ? host.text + "." : host.text
            (answer, search) = try await lookups.firstAddresses(of: name, until: end, on: context.loop)
        } catch {
            guard error == .expired else { throw CancellationError() }
            throw ResolverError(name, .timedOut(after: context.loop.now.since(start)))
        }
        var resolution = try resolution(answer)
        guard let search else { return resolution }
        resolution.lacks = .family
        resolution.timeToLive = .seconds(10)
        resolution.rest = {
            let all = await search.all(until: end)
            return all.isEmpty ? nil : Resolution(all.map { Endpoint($0) }, source: .system)
        }
        return resolution
    }

    private func resolution(_ answer: SystemLookups.Answer) throws(ResolverError) -> Resolution {
        switch answer {
        case .success(let addresses): return Resolution(addresses.map { Endpoint($0) }, source: .system)
        case .failure(let error): throw ResolverError(name, .lookup(error))
        }
    }

    /// Makes later questions start a call of their own: they do not share a call that began earlier.
    public func forgetAll() {
        lookups.forgetAll()
    }
}
