package import DirectCore
package import DirectIO

extension Resolver {
    /// Asks for the fallback of one of this resolver's answers, and stops waiting at the deadline of the
    /// context. Returns `nil` if there is none, or if it has no endpoints.
    ///
    /// - Throws: If the task was cancelled.
    package func fallback(
        _ ask: @escaping @Sendable (ResolveContext) async throws -> Resolution?,
        within context: ResolveContext
    ) async throws(CancellationError) -> Result<Resolution?, ResolverError> {
        do throws(ForeignFailure) {
            let answer = try await context.ask { try await ask(context) }
            return .success(answer.flatMap { $0.endpoints.isEmpty ? nil : $0 })
        } catch {
            return .failure(try ResolverError(error, of: name))
        }
    }
}

extension ResolverError {
    /// The error that a resolver has thrown: its own, or one that it is wrapped in.
    package init(_ error: any Error, of name: String) {
        self = error as? ResolverError ?? ResolverError(name, .other(error))
    }

    /// The error of a resolver that gave no answer.
    ///
    /// - Throws: If the task that asked it was cancelled: that is no failure of the resolver.
    package init(_ failure: ForeignFailure, of name: String) throws(CancellationError) {
        switch failure {
        case .cancelled: throw CancellationError()
        case .silent(let time): self.init(name, .timedOut(after: time))
        case .threw(let error): self.init(error, of: name)
        }
    }
}

extension ResolveContext {
    /// Asks code that may be foreign, and stops waiting at the deadline as it is then.
    package func ask<Value: Sendable>(
        whileBefore end: (() -> Instant)? = nil,
        _ code: @escaping @Sendable () async throws -> Value
    ) async throws(ForeignFailure) -> Value {
        try await askForeignCode(
            until: end?() ?? deadline,
            changes: { limit?.onBegin($0) },
            on: loop,
            executor: threads,
            code
        )
    }
}
