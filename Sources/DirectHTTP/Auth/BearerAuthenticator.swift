internal import DirectIO

/// A token that whoever holds it may use (RFC 6750), fixed or from a source that is asked again.
public struct BearerAuthenticator: Authenticator {
    private let tokens: Tokens

    init(token: String) {
        tokens = Tokens(known: token, source: nil)
    }

    init(source: @escaping @Sendable () async throws -> String) {
        tokens = Tokens(known: nil, source: source)
    }

    public func authorization(for question: AuthenticationQuestion) async throws -> String? {
        try await tokens.token(instead: nil).map { "Bearer " + $0 }
    }

    public func authorization(
        for question: AuthenticationQuestion,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        guard tokens.isRefreshable, let refused, refused.hasPrefix("Bearer ") else { return nil }
        let token = try await tokens.token(instead: String(refused.dropFirst(7)))
        return token.map { "Bearer " + $0 }.flatMap { $0 == refused ? nil : $0 }
    }
}

/// The token of the moment, and the one task that fetches the next.
private final class Tokens: Sendable {
    private struct State {
        var known: String?
        var fetch: Fetch?
    }

    private struct Fetch {
        let mark: FetchMark
        let task: Task<String, any Error>
    }

    private let state: Locked<State>
    private let source: (@Sendable () async throws -> String)?

    init(known: String?, source: (@Sendable () async throws -> String)?) {
        state = Locked(State(known: known))
        self.source = source
    }

    var isRefreshable: Bool { source != nil }

    /// The token; a new one if it is the one that was refused. `nil` inside the source: a request of its own would wait
    /// for what only the source can give.
    func token(instead refused: String?) async throws -> String? {
        let (known, fetch) = state.withLock { state -> (String?, Fetch?) in
            if let fetch = state.fetch, FetchMark.around.contains(where: { $0 === fetch.mark }) {
                return (nil, nil)
            }
            if let known = state.known, known != refused { return (known, nil) }
            let fetch = state.fetch ?? begin()
            state.fetch = fetch
            return (nil, fetch)
        }
        guard let task = fetch?.task else { return known }
        // Who gives up leaves at once, and alone.
        let answer: Result<String, any Error>
        do throws(BlockingWork.Abandoned) {
            answer = try await supervised(until: .never, on: .shared) { await task.result }
        } catch {
            throw CancellationError()
        }
        return try answer.get()
    }

    /// In a task of its own: whoever came first may be cancelled, and the others still want a token.
    private func begin() -> Fetch {
        let mark = FetchMark()
        let task = Task {
            try await FetchMark.$around.withValue(FetchMark.around + [mark]) { try await self.fetch() }
        }
        return Fetch(mark: mark, task: task)
    }

    private func fetch() async throws -> String {
        defer { state.withLock { $0.fetch = nil } }
        guard let source else { return "" }
        let token = try await source()
        state.withLock { $0.known = token }
        return token
    }
}

/// Marks the tasks inside a source. It stands for one fetch: a task that outlives the fetch is not inside any longer.
private final class FetchMark: Sendable {
    /// The fetches that this task is part of: a source may use a client whose authenticator has a source.
    @TaskLocal static var around: [FetchMark] = []
}
