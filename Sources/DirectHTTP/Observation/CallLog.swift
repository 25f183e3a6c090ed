internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport
internal import Synchronization

/// The record of one call: collects its report and passes each event to the observer, in order.
final class CallLog: Sendable {
    private static let numbers = Atomic<UInt64>(0)

    fileprivate struct State {
        /// The tags of the call's request, as the interceptors have left it.
        var tags: RequestTags
        /// The requests so far, for the report.
        var exchanges: [CallReport.Exchange] = []
        /// The reason for the next request.
        var reason: Hop.Reason?
        /// The reason that the last request was not retried.
        var retryStop: RetryStop?
        /// The requests whose response bodies have not ended.
        var openBodies: Set<Int> = []
        /// The result of the call for its caller; `nil` until it has one.
        var outcome: CallReport.Outcome?
        /// Whether the report was made.
        var hasEnded = false
        /// Events that the observer has not got yet, oldest first, while a thread is calling it.
        var untold: [CallEvent] = []
        /// Whether a thread is calling the observer.
        var isTelling = false
    }

    private let observer: @Sendable (CallEvent) -> Void
    private let number = CallLog.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    private let loop: EventLoop
    private let start: Instant
    private let method: HTTPMethod
    private let url: HTTPURL?
    private let state: Locked<State>

    init(_ observer: @escaping @Sendable (CallEvent) -> Void, _ request: Request, on loop: EventLoop) {
        self.loop = loop
        start = loop.now
        self.observer = observer
        method = request.method
        state = Locked(State(tags: request.tags))
        url = (try? request.parsedURL.get())?.withoutCredentials
        tell { [method, url] _ in .began(method, url) }
    }

    /// Records what interceptors have made of the tags; `nil` changes nothing.
    func take(_ tags: RequestTags?) {
        if let tags { state.withLock { $0.tags = tags } }
    }

    /// Records that a request goes to the network.
    func beginExchange(_ method: HTTPMethod, url: HTTPURL, tags: RequestTags?) -> ExchangeLog {
        let place = state.withLock { state in
            let start = loop.now.since(start)
            state.exchanges.append(CallReport.Exchange(method, url, state.reason, start: start))
            state.reason = nil
            state.retryStop = nil
            return state.exchanges.count - 1
        }
        return ExchangeLog(call: self, place: place, tags: tags, method: method, url: url)
    }

    /// Records that another request follows.
    func goesOn(_ hop: Hop) {
        tell { state in
            state.reason = hop.reason
            return .goesOn(hop)
        }
    }

    /// Records that the request that is in progress at the endpoint is sent to another one as well.
    func hedges(beside endpoint: Endpoint) {
        tell { state in
            state.reason = .hedge
            return .hedging(endpoint)
        }
    }

    /// Records that a request is not retried any more; `stop` is `nil` if it succeeded or no policy applies.
    func attemptsEnded(_ stop: RetryStop?) {
        state.withLock { $0.retryStop = stop }
    }

    /// Records that the caller has got its response; only the body is left.
    func conclude(_ response: Response) {
        end(.response(response.status))
    }

    /// Records that the caller has got this error.
    func conclude(_ error: any Error) {
        end(error is CancellationError ? .cancelled : .failed(error))
    }

    /// Records how the call ended, and ends it unless a body is still being read.
    private func end(_ outcome: CallReport.Outcome) {
        tell { state in
            state.outcome = outcome
            // No caller reads the response behind an error; its body may end later than the call.
            if case .response = outcome, !state.openBodies.isEmpty { return nil }
            return self.ending(&state)
        }
    }

    /// Returns the last event, once.
    private func ending(_ state: inout State) -> CallEvent.Kind? {
        guard let outcome = state.outcome, !state.hasEnded else { return nil }
        state.hasEnded = true
        return .ended(
            CallReport(
                method: method,
                url: url,
                outcome: outcome,
                duration: loop.now.since(start),
                exchanges: state.exchanges,
                retryStop: state.retryStop
            )
        )
    }

    /// Changes the record of a request, and reports the event.
    func note(
        _ place: Int,
        tags: RequestTags?,
        change: (inout CallReport.Exchange) -> CallEvent.Kind?
    ) {
        tell(tags) { state in change(&state.exchanges[place]) }
    }

    /// Records the head of a response.
    func beginBody(_ place: Int, tags: RequestTags?, status: HTTPStatus, transaction: HTTPTransaction) {
        tell(tags) { state in
            state.openBodies.insert(place)
            state.exchanges[place].status = status
            state.exchanges[place].transaction = transaction
            state.exchanges[place].failedAttempts = transaction.wasIdle ? [] : transaction.failedAttempts
            return .responded(status, transaction)
        }
    }

    /// Records the end of a response's body, and of the call if that was waiting for it.
    func endBody(_ place: Int, tags: RequestTags?, count: UInt64, isWhole: Bool) {
        tell(tags) { state in
            state.exchanges[place].bodyBytes = count
            state.exchanges[place].isBodyWhole = isWhole
            self.close(place, state: &state)
            return .bodyEnded(bytes: count, isWhole: isWhole)
        }
        tell { state in state.openBodies.isEmpty ? self.ending(&state) : nil }
    }

    /// Records the failure of a request.
    func fail(_ place: Int, error: any Error) {
        state.withLock { state in
            let error = error as? HTTPError
            state.exchanges[place].error = error
            state.exchanges[place].failedAttempts = error?.attempts ?? []
            close(place, state: &state)
        }
    }

    /// Records how long a request took.
    private func close(_ place: Int, state: inout State) {
        state.openBodies.remove(place)
        state.exchanges[place].duration = loop.now.since(start) - state.exchanges[place].start
    }

    /// Makes a change and passes its event to the observer, after all earlier ones. One thread at a time
    /// calls the observer, and never under the lock, because the observer may call back into the log.
    private func tell(_ tags: RequestTags? = nil, _ change: (inout State) -> CallEvent.Kind?) {
        let begins = state.withLock { state in
            guard let kind = change(&state), !state.isSilent(kind) else { return false }
            let tags = tags ?? state.tags
            state.untold.append(CallEvent(call: number, tags: tags, time: loop.now.since(start), kind: kind))
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard begins else { return }
        while let event = next() { observer(event) }
    }

    /// Returns the oldest event for the observer; `nil` if there is none.
    private func next() -> CallEvent? {
        state.withLock { state in
            guard !state.untold.isEmpty else {
                state.isTelling = false
                return nil
            }
            return state.untold.removeFirst()
        }
    }
}

extension CallLog.State {
    /// No event follows the end of a call: what it has abandoned, such as code of the caller's or a body, may
    /// end later.
    fileprivate func isSilent(_ kind: CallEvent.Kind) -> Bool {
        if case .ended = kind { false } else { hasEnded }
    }
}
