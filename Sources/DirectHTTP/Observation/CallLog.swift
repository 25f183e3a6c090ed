internal import DirectHTTP1
internal import DirectIO
internal import Synchronization

/// What has happened to one call so far, and the way of each event to the observer.
final class CallLog: Sendable {
    private static let numbers = Atomic<UInt64>(0)

    fileprivate struct State {
        var exchanges: [CallReport.Exchange] = []
        /// Why the next request follows.
        var reason: Hop.Reason?
        /// Why the tries of the last request have ended.
        var retryStop: RetryStop?
        /// The exchanges whose bodies are still to be read.
        var openBodies: Set<Int> = []
        var outcome: CallReport.Outcome?
        var hasEnded = false
        /// What the observer has not been told, oldest first, while some thread is telling it.
        var untold: [CallEvent] = []
        var isTelling = false
    }

    private let observer: CallObserver
    private let number = CallLog.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    private let loop: EventLoop
    private let start: Instant
    private let method: Method
    private let url: HTTPURL?
    private let state = Locked(State())

    init(_ observer: @escaping CallObserver, _ request: Request, on loop: EventLoop) {
        self.loop = loop
        start = loop.now
        self.observer = observer
        method = request.method
        url = (try? request.target.get())?.withoutCredentials
        tell { [method, url] _ in .began(method, url) }
    }

    /// A request goes over the network.
    func beginExchange(_ method: Method, _ url: HTTPURL) -> ExchangeLog {
        let place = state.withLock { state in
            let start = loop.now.since(start)
            state.exchanges.append(CallReport.Exchange(method, url, state.reason, start: start))
            state.reason = nil
            state.retryStop = nil
            return state.exchanges.count - 1
        }
        return ExchangeLog(call: self, place: place)
    }

    /// The response is not the last.
    func goesOn(_ hop: Hop) {
        tell { state in
            state.reason = hop.reason
            return .goesOn(hop)
        }
    }

    /// The last try of a request was made, and why that was the last, if it failed.
    func endsTries(_ stop: RetryStop?) {
        state.withLock { $0.retryStop = stop }
    }

    /// The caller has his response; what is left of it is its body.
    func conclude(_ response: Response) {
        end(.response(response.status))
    }

    /// The caller has got this error.
    func conclude(_ error: any Error) {
        end(error is CancellationError ? .cancelled : .failed(error))
    }

    private func end(_ outcome: CallReport.Outcome) {
        tell { state in
            state.outcome = outcome
            // A response that led to an error is nobody's any more; its body may end whenever it likes.
            if case .response = outcome, !state.openBodies.isEmpty { return nil }
            return self.ending(&state)
        }
    }

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

    /// Notes something about an exchange, and tells of it.
    func note(_ place: Int, _ change: (inout CallReport.Exchange) -> CallEvent.Kind?) {
        tell { state in change(&state.exchanges[place]) }
    }

    func beginBody(_ place: Int, _ status: Status, _ transaction: Transaction) {
        tell { state in
            state.openBodies.insert(place)
            state.exchanges[place].status = status
            state.exchanges[place].transaction = transaction
            state.exchanges[place].failedAttempts = transaction.isReused ? [] : transaction.failedAttempts
            return .responded(status, transaction)
        }
    }

    func endBody(_ place: Int, _ count: UInt64, isWhole: Bool) {
        tell { state in
            state.exchanges[place].bodyBytes = count
            state.exchanges[place].isBodyWhole = isWhole
            self.close(place, &state)
            return .bodyEnded(bytes: count, isWhole: isWhole)
        }
        tell { state in state.openBodies.isEmpty ? self.ending(&state) : nil }
    }

    func fail(_ place: Int, _ error: any Error) {
        state.withLock { state in
            let error = error as? HTTPError
            state.exchanges[place].error = error
            state.exchanges[place].failedAttempts = error?.attempts ?? []
            close(place, &state)
        }
    }

    private func close(_ place: Int, _ state: inout State) {
        state.openBodies.remove(place)
        state.exchanges[place].duration = loop.now.since(start) - state.exchanges[place].start
    }

    /// Tells the observer what follows from a change, after all that happened before. It is told by one thread
    /// at a time and never under the lock: what it does may lead back here.
    private func tell(_ change: (inout State) -> CallEvent.Kind?) {
        let begins = state.withLock { state in
            guard let kind = change(&state), !state.isSilent(kind) else { return false }
            state.untold.append(CallEvent(call: number, time: loop.now.since(start), kind: kind))
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard begins else { return }
        while let event = next() { observer(event) }
    }

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
    /// After the end there is silence: what a cache does to refresh what it has given out is not the call's.
    fileprivate func isSilent(_ kind: CallEvent.Kind) -> Bool {
        if case .ended = kind { false } else { hasEnded }
    }
}
