internal import DirectCore
internal import DirectIO

/// Sends a bearer token (RFC 6750), either a fixed one or one from a source that can supply a new one.
struct BearerAuthenticator: Authenticator {
    private let tokens: Tokens

    init(token: String) {
        tokens = Tokens(known: token)
    }

    init(
        ahead: Duration,
        on loop: EventLoop = .shared,
        source: @escaping @Sendable () async throws -> BearerToken
    ) {
        tokens = Tokens(source: source, ahead: ahead, loop: loop)
    }

    /// The number of calls that wait for the token from the source; `nil` if the source is not being asked.
    var waiting: Int? { tokens.waiting }

    /// Returns the current token. Fetches one first if there is none or if it has expired.
    func authorization(for request: AuthenticationRequest) async throws -> String? {
        try await tokens.token(instead: nil).map { "Bearer " + $0 }
    }

    /// Fetches a new token if the server refused one of this authenticator's.
    ///
    /// Returns `nil` for a fixed token, and if the source returns the refused token again.
    func authorization(
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
        var known: KnownToken?
        var fetch: Fetch?
    }

    private struct Fetch {
        let mark: FetchMark
        let task: Task<String, any Error>
        let start: Instant
        /// The calls that wait for it.
        var waiting = 0

        /// Whether it is given up: no call waits for it any more, and it takes long. Before that it is not,
        /// also if all have left: a server may take a token for renewal once.
        func isGivenUp(at now: Instant) -> Bool {
            waiting == 0 && now >= start.advanced(byNanoseconds: 10_000_000_000)
        }
    }

    private let state: Locked<State>
    private let source: (@Sendable () async throws -> BearerToken)?
    /// The time before the expiry of a token at which the next one is fetched.
    private let ahead: UInt64
    private let loop: EventLoop

    init(known: String) {
        state = Locked(State(known: KnownToken(text: known)))
        source = nil
        ahead = 0
        loop = .shared
    }

    init(source: @escaping @Sendable () async throws -> BearerToken, ahead: Duration, loop: EventLoop) {
        state = Locked(State())
        self.source = source
        self.ahead = ahead.clampedNanoseconds
        self.loop = loop
    }

    var isRefreshable: Bool { source != nil }

    var waiting: Int? { state.withLock { $0.fetch?.waiting } }

    /// Returns the current token, or fetches a new one if the current one is `refused` or has expired, or if
    /// there is none. A token that is about to expire is returned while the next one is being fetched.
    ///
    /// Returns `nil` inside the source: a request that the source makes would otherwise wait for the token
    /// that only the source can supply. So it does inside another source for which this one's waits.
    func token(instead refused: String?) async throws -> String? {
        let now = loop.now
        let (known, fetch, late) = state.withLock { state -> (String?, Fetch?, late: Fetch?) in
            if let fetch = state.fetch, FetchMark.around.contains(where: { $0 === fetch.mark }) {
                return (nil, nil, nil)
            }
            let late = state.fetch.flatMap { $0.isGivenUp(at: now) ? $0 : nil }
            if late != nil { state.fetch = nil }
            if let known = state.known, known.text != refused, now < known.expiry {
                if now >= known.renewal, state.fetch == nil { state.fetch = begin(at: now) }
                return (known.text, nil, late)
            }
            var fetch = state.fetch ?? begin(at: now)
            fetch.waiting += 1
            state.fetch = fetch
            return (nil, fetch, late)
        }
        late?.task.cancel()
        defer { if let fetch { leave(fetch) } }
        guard let fetch, FetchMark.mayWait(for: fetch.mark) else { return known }
        defer { FetchMark.endWait(for: fetch.mark) }
        let task = fetch.task
        // A cancelled caller returns immediately and does not cancel the fetch, which other callers may be
        // waiting for.
        let answer: Result<String, any Error>
        do throws(BlockingWork.Abandoned) {
            answer = try await supervised(until: .never, on: loop, executor: BlockingWork.code) {
                await task.result
            }
        } catch {
            throw CancellationError()
        }
        return try answer.get()
    }

    /// Starts the fetch in a task of its own: the first caller may be cancelled while others still need the
    /// token.
    private func begin(at start: Instant) -> Fetch {
        let mark = FetchMark()
        let task = Task(executorPreference: BlockingWork.code) {
            try await FetchMark.$around.withValue(FetchMark.around + [mark]) {
                try await self.fetch(from: start, mark)
            }
        }
        return Fetch(mark: mark, task: task, start: start)
    }

    /// Notes that a call no longer waits for a fetch.
    private func leave(_ fetch: Fetch) {
        state.withLock { if $0.fetch?.mark === fetch.mark { $0.fetch?.waiting -= 1 } }
    }

    private func fetch(from start: Instant, _ mark: FetchMark) async throws -> String {
        guard let source else { return "" }
        do {
            let token = try await source()
            state.withLock { state in
                // One that was given up may come after the one of a later fetch.
                guard state.fetch?.mark === mark || state.known == nil else { return }
                state.known = KnownToken(token, from: start, ahead: ahead)
                if state.fetch?.mark === mark { state.fetch = nil }
            }
            return token.secret.text
        } catch {
            state.withLock { state in
                guard state.fetch?.mark === mark else { return }
                state.known?.postponeRenewal(at: loop.now)
                state.fetch = nil
            }
            throw error
        }
    }
}

/// A token, and the times at which it expires and the next one is fetched.
private struct KnownToken {
    let text: String
    private(set) var expiry = Instant.never
    private(set) var renewal = Instant.never

    init(text: String) {
        self.text = text
    }

    /// Counts the lifetime from the start of the fetch: when the server began to count is not known.
    init(_ token: BearerToken, from start: Instant, ahead: UInt64) {
        text = token.secret.text
        guard let lifetime = token.lifetime?.clampedNanoseconds else { return }
        expiry = start.advanced(byNanoseconds: lifetime)
        // A token that lives shorter than `ahead` would be renewed with every request.
        renewal = start.advanced(byNanoseconds: lifetime - min(ahead, lifetime / 2))
    }

    /// Puts off the next renewal after one that failed, by half of the time that is left. At the expiry
    /// callers wait.
    mutating func postponeRenewal(at now: Instant) {
        guard expiry < .never, now < expiry else { return }
        renewal = now.advanced(byNanoseconds: (expiry.nanoseconds - now.nanoseconds) / 2)
    }
}

/// Marks the tasks inside a source. A mark stands for one fetch: a task that outlives its fetch is no longer
/// inside.
private final class FetchMark: Sendable {
    /// The fetches that the current task is part of. There may be several: a source may use a client whose
    /// authenticator has a source too.
    @TaskLocal static var around: [FetchMark] = []

    /// The fetches that wait for others, by requests of their sources.
    private static let waits = Locked<[(fetch: FetchMark, other: FetchMark)]>([])

    /// Notes that the current task waits for a fetch; `false` if that one waits for one that the task is part
    /// of, so that neither would end.
    static func mayWait(for mark: FetchMark) -> Bool {
        let around = around
        guard !around.isEmpty else { return true }
        return waits.withLock { waits in
            var (found, next) = ([mark], 0)
            while next < found.count {
                if around.contains(where: { $0 === found[next] }) { return false }
                for wait in waits
                where wait.fetch === found[next] && !found.contains(where: { $0 === wait.other }) {
                    found.append(wait.other)
                }
                next += 1
            }
            waits += around.map { ($0, mark) }
            return true
        }
    }

    /// Notes that the current task no longer waits for a fetch.
    static func endWait(for mark: FetchMark) {
        waits.withLock { waits in
            for fetch in around {
                if let place = waits.firstIndex(where: { $0.fetch === fetch && $0.other === mark }) {
                    waits.remove(at: place)
                }
            }
        }
    }
}
