internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends a request to a second address if its response is late, and returns the response that comes first.
///
/// Both requests run in tasks of their own, so that the slower one can be cancelled. What happens to them
/// arrives as events in one stream, which only the caller's task reads: it needs no lock, and the
/// cancellation of the caller ends the stream.
final class Hedging: Layer {
    /// The policy of the client or of the call; a request's own takes precedence.
    private let policy: HedgingPolicy
    private let retries: RetryPolicy?
    /// Whether responses wait for a limit on their bytes: that is no slowness of the server's.
    private let isLimited: Bool
    private let table: HedgeTable
    private let loop: EventLoop
    private let next: any Layer

    init(
        _ configuration: HTTPClient.Configuration,
        by policy: HedgingPolicy,
        table: HedgeTable,
        next: any Layer
    ) {
        self.policy = policy
        isLimited = configuration.receivingRate != nil
        retries = configuration.retries
        self.table = table
        loop = configuration.loop
        self.next = next
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        let policy = hop.request.hedging ?? policy
        guard policy.isHedging, !isLimited, hop.request.receivingRate == nil, hop.request.mayBeHedged,
            let origin = try? hop.request.url.origin
        else { return try await next.send(hop) }
        var race = Race(of: copy hop, by: policy, at: origin, self)
        let (original, budget) = (race.hop, (hop.request.retries ?? retries)?.budget ?? policy.budget)
        return try await race.run { [next] detour in
            var hop = original
            hop.detour = detour
            if detour.isHedge { try await hop.renewCredentials() }
            return try await next.send(hop)
        } mayHedge: {
            budget?.take(at: $0) ?? true
        }
    }

    private enum Event {
        /// The first request is sent to this endpoint.
        case sent(Endpoint)
        /// The response of the first request is late.
        case late(Endpoint)
        case ended(Runner)
    }

    private enum Runner {
        case first, hedge
    }

    /// The results of the requests that have ended and were not looked at yet.
    ///
    /// They are not part of the events: the caller may leave one of those in the stream, and the body of a
    /// response refers to the stream through its observer. Neither would ever be released, nor would the
    /// connection.
    private final class Results: Sendable {
        private let results = Locked<[Runner: Result<Response, any Error>]>([:])

        func put(_ result: Result<Response, any Error>, of runner: Runner) {
            results.withLock { $0[runner] = result }
        }

        func take(of runner: Runner) -> Result<Response, any Error>? {
            results.withLock { $0.removeValue(forKey: runner) }
        }
    }

    /// One request, and its hedge if it gets one.
    private struct Race {
        let hedging: Hedging
        let policy: HedgingPolicy
        let origin: Origin
        let hop: HopRequest
        private let events: AsyncStream<Event>
        private let sink: AsyncStream<Event>.Continuation
        private let results = Results()
        private var tasks: [Task<Void, Never>] = []
        private var timer: Task<Void, Never>?
        private var sentAt: Instant?
        private var hasHedge = false
        private var running = 0
        /// The results that do not end the race while the other request runs.
        private var first: Result<Response, any Error>?
        private var second: Result<Response, any Error>?

        init(of hop: HopRequest, by policy: HedgingPolicy, at origin: Origin, _ hedging: Hedging) {
            self.hedging = hedging
            self.policy = policy
            self.origin = origin
            self.hop = hop
            (events, sink) = AsyncStream<Event>.makeStream()
        }

        mutating func run(
            send: @escaping @Sendable (Detour) async throws -> Response,
            mayHedge: (Instant) -> Bool
        ) async throws -> Response {
            defer { end() }
            let sink = sink
            begin(.first, Detour.watching(hop.detour) { sink.yield(.sent($0)) }, send)
            for await event in events {
                switch event {
                case .sent(let endpoint): wait(for: endpoint)
                case .late(let endpoint):
                    guard !hasHedge, hop.repeatability?.mayBeHedged ?? true, mayHedge(hedging.loop.now)
                    else { continue }
                    hasHedge = true
                    hop.call.log?.hedges(beside: endpoint)
                    begin(.hedge, Detour.hedging(hop.detour, beside: endpoint), send)
                case .ended(let runner):
                    running -= 1
                    guard let result = results.take(of: runner) else { continue }
                    if let result = settled(runner, result) { return try result.get() }
                }
            }
            // The stream ends only with the caller's task.
            throw CancellationError()
        }

        private mutating func begin(
            _ runner: Runner,
            _ detour: Detour,
            _ send: @escaping @Sendable (Detour) async throws -> Response
        ) {
            running += 1
            let (sink, results) = (sink, results)
            tasks.append(
                Task(executorPreference: hop.call.limit.executor) {
                    let result: Result<Response, any Error>
                    do { result = .success(try await send(detour)) } catch { result = .failure(error) }
                    results.put(result, of: runner)
                    sink.yield(.ended(runner))
                }
            )
        }

        /// Begins to wait for the response. The request may be sent again, on another connection.
        private mutating func wait(for endpoint: Endpoint) {
            timer?.cancel()
            let now = hedging.loop.now
            sentAt = now
            guard !hasHedge, let delay = hedging.table.delay(of: policy, for: origin, at: now) else {
                return
            }
            let (sink, loop) = (sink, hedging.loop)
            timer = Task(executorPreference: loop) {
                let end = now.advanced(byNanoseconds: delay)
                // A stop of the process is no lateness: the first request looks at its socket before.
                guard (try? await loop.sleep(until: end, isForThread: true)) != nil else { return }
                sink.yield(.late(endpoint))
            }
        }

        /// Returns the result of the race; `nil` if the other request decides it.
        private mutating func settled(
            _ runner: Runner,
            _ result: Result<Response, any Error>
        ) -> Result<Response, any Error>? {
            learn(from: runner, result)
            if case .first = runner { first = result } else { second = result }
            if case .success(let response) = result {
                // A server that asks for a pause gets it: the other request is not waited for either.
                if let pause = hedging.pause(askedBy: response) {
                    hedging.table.pause(origin, until: pause)
                    return result
                }
                if !response.status.isServerError { return result }
            }
            guard running == 0 else { return nil }
            // If neither succeeded, a response beats an error, and the original beats the hedge.
            if case .success? = first { return first }
            if case .success? = second { return second }
            return first ?? second
        }

        /// Records how fast the origin is. A first request that has lost would have taken at least until now.
        private func learn(from runner: Runner, _ result: Result<Response, any Error>) {
            switch result {
            case .success(let response):
                guard let record = response.transaction?.record else { return }
                hedging.table.note(record.response.since(record.sent), of: origin)
                if case .hedge = runner, first == nil, let sentAt {
                    hedging.table.note(hedging.loop.now.since(sentAt), of: origin)
                }
            case .failure(let error):
                // A retry keeps away from addresses that have failed. What it lacks, other requests have.
                guard case .hedge = runner, hop.detour == nil, let error = error as? HTTPError,
                    error.isForWantOfAnAddress
                else { return }
                hedging.table.pause(
                    origin,
                    until: hedging.loop.now.advanced(byNanoseconds: Hedging.searchPause)
                )
            }
        }

        /// Cancels what still runs. A response that comes all the same is released, which closes its
        /// connection.
        private func end() {
            timer?.cancel()
            for task in tasks { task.cancel() }
            sink.finish()
        }
    }

    /// The time for which no other address is looked for where there was none: one minute.
    private static let searchPause: UInt64 = 60_000_000_000

    /// Returns the end of the pause that the response asks for (`Retry-After`); `nil` if it asks for none.
    private func pause(askedBy response: Response) -> Instant? {
        guard response.status == .tooManyRequests || response.status == .serviceUnavailable else {
            return nil
        }
        return RetryAfter.wait(response.headers, now: loop.date).map {
            loop.now.advanced(byNanoseconds: $0.clampedNanoseconds)
        }
    }
}

extension Request {
    /// Whether the server may get the request twice at a time.
    var mayBeHedged: Bool { method.isIdempotent && body.isReplayable && upgrade.isEmpty }
}

extension HTTPError {
    /// Whether a hedge was not sent because there is no other address. See `Transport.connectionForHedge`.
    fileprivate var isForWantOfAnAddress: Bool {
        if case .overtaken = reason { phase == .connect && attempts.isEmpty } else { false }
    }
}

/// Tells where a request is sent, before the call's log.
final class SendingObserver: TransportObserver {
    private let onSending: @Sendable (Endpoint) -> Void
    private let log: ExchangeLog?

    init(_ onSending: @escaping @Sendable (Endpoint) -> Void, log: ExchangeLog?) {
        self.onSending = onSending
        self.log = log
    }

    func note(_ event: TransportEvent) {
        if case .sending(let endpoint?, _, _) = event { onSending(endpoint) }
        log?.note(event)
    }
}
