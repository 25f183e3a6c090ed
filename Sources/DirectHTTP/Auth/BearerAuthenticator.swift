internal import DirectCore
internal import DirectIO

/// Sends a bearer token (RFC 6750), either a fixed one or one from a source that can supply a new one.
public struct BearerAuthenticator: Authenticator {
    private let tokens: Tokens

    init(token: String) {
        tokens = Tokens(known: token, source: nil)
    }

    init(source: @escaping @Sendable () async throws -> String) {
        tokens = Tokens(known: nil, source: source)
    }

    /// Returns the current token, and fetches one first if there is none.
    public func authorization(for request: AuthenticationRequest) async throws -> String? {
        try await tokens.token(instead: nil).map { "Bearer " + $0 }
    }

    /// Fetches a new token if the server refused one of this authenticator's.
    ///
    /// Returns `nil` for a fixed token, and if the source returns the refused token again.
    public func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        guard tokens.isRefreshable, let refused, refused.hasPrefix("Bearer ") else { return nil }
        let token = try await tokens.token(instead: String(refused.dropFirst(7)))
        return token.map { "Bearer " + $0 }.flatMap { $0 == refused ? nil : $0 }
    }
}

/// The current token, and the task that fetches the next one. At most one such task runs at a time.
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

    /// Returns the current token, or fetches a new one if the current one is `refused` or there is none.
    ///
    /// Returns `nil` inside the source: a request that the source makes would otherwise wait for the token that
    /// only the source can supply.
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
        // A cancelled caller returns immediately and does not cancel the fetch, which other callers may be waiting
        // for.
        let answer: Result<String, any Error>
        do throws(BlockingWork.Abandoned) {
            answer = try await supervised(until: .never, on: .shared) { await task.result }
        } catch {
            throw CancellationError()
        }
        return try answer.get()
    }

    /// Starts the fetch in a task of its own: the first caller may be cancelled while others still need the token.
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

/// Marks the tasks inside a source. A mark stands for one fetch: a task that outlives its fetch is no longer
/// inside.
private final class FetchMark: Sendable {
    /// The fetches that the current task is part of. There may be several: a source may use a client whose
    /// authenticator has a source too.
    @TaskLocal static var around: [FetchMark] = []
}
