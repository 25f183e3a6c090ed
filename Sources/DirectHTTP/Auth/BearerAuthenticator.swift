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
        "Bearer " + (try await tokens.token(instead: nil))
    }

    public func authorization(
        for question: AuthenticationQuestion,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        guard tokens.isRefreshable, let refused, refused.hasPrefix("Bearer ") else { return nil }
        let answer = "Bearer " + (try await tokens.token(instead: String(refused.dropFirst(7))))
        return answer == refused ? nil : answer
    }
}

/// The token of the moment, and the one task that fetches the next.
private final class Tokens: Sendable {
    private struct State {
        var known: String?
        var fetching: Task<String, any Error>?
    }

    private let state: Locked<State>
    private let source: (@Sendable () async throws -> String)?

    init(known: String?, source: (@Sendable () async throws -> String)?) {
        state = Locked(State(known: known))
        self.source = source
    }

    var isRefreshable: Bool { source != nil }

    /// The token; a new one if it is the one that was refused.
    func token(instead refused: String?) async throws -> String {
        let task = state.withLock { state -> Task<String, any Error>? in
            if let known = state.known, known != refused { return nil }
            if let fetching = state.fetching { return fetching }
            // A task of its own: whoever came first may be cancelled, and the others still want a token.
            let task = Task { try await self.fetch() }
            state.fetching = task
            return task
        }
        guard let task else { return state.withLock { $0.known } ?? "" }
        // Who gives up leaves at once, and alone.
        let answer: Result<String, any Error>
        do throws(BlockingWork.Abandoned) {
            answer = try await supervised(until: .never, on: .shared) { await task.result }
        } catch {
            throw CancellationError()
        }
        return try answer.get()
    }

    private func fetch() async throws -> String {
        defer { state.withLock { $0.fetching = nil } }
        guard let source else { return "" }
        let token = try await source()
        state.withLock { $0.known = token }
        return token
    }
}
