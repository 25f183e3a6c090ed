package import DirectCore
internal import DirectIO

/// A resolver that publishes what it knows: one family of addresses, then the other, then the HTTPS records.
///
/// Dialling begins with what is there and goes on with what comes (RFC 8305, section 3). The package asks
/// its own resolvers so; all others call `resolve`, which waits for the whole list, because whoever copies a
/// list would lose what comes later.
package protocol PublishingResolver: Resolver {
    /// Returns addresses to begin with. ``Resolution/rest`` has what comes after them.
    func publish(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution
}

extension Resolver {
    /// Returns addresses to begin with; all of them if the resolver publishes no parts.
    package func firstAnswer(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        guard let publishing = self as? any PublishingResolver else {
            return try await resolve(host, port: port, context: context)
        }
        return try await publishing.publish(host, port: port, context: context)
    }
}

extension PublishingResolver {
    /// Returns the whole answer, or what is known of it at the end of the wait.
    package func wholeAnswer(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await publish(host, port: port, context: context).whole(within: context)
    }
}

extension Resolution {
    /// Waits for the addresses of the other family, as long as the system's resolver does: a list cannot be
    /// completed later.
    package func whole(within context: ResolveContext) async -> Resolution {
        let end = context.loop.now.advanced(byNanoseconds: Self.grace).atMost(context.deadline)
        var whole = self
        while whole.lacks.contains(.family), let rest = whole.rest,
            let more = try? await askForeignCode(
                until: end,
                on: context.loop,
                executor: context.threads,
                { await rest() }
            )
        {
            whole = more
        }
        whole.rest = nil
        return whole
    }

    /// Returns the answer with every later version of it changed in the same way.
    package func mapped(_ change: @escaping @Sendable (Resolution) -> Resolution) -> Resolution {
        var changed = change(self)
        if let rest { changed.rest = { await rest().map { $0.mapped(change) } } }
        return changed
    }

    private static let grace: UInt64 = 1_000_000_000
}
