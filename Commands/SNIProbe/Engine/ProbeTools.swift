internal import DirectCore
internal import DirectHTTP

/// The settings, the TLS context, and what is known of chains and addresses, which all probes of a run share.
final class ProbeTools: Sendable {
    let settings: ProbeSettings
    /// A probe has one limit, the one for all of it, which is that of each phase as well.
    let timeouts: Timeouts.Nanoseconds
    let context: ContextSource
    let chains = ChainCache()
    let turns: AddressTurns
    let memory: AddressMemory
    /// The HTTPS records, if they are wanted.
    let records: RecordSource?
    /// Whether a client would say different things of handshakes of one kind.
    let vary: Variance

    typealias Variance = @Sendable ([Handshake], ProbeTarget) -> Bool

    init(
        _ settings: ProbeSettings,
        loop: EventLoop,
        turns: AddressTurns = AddressTurns(),
        memory: AddressMemory = AddressMemory(),
        records: RecordSource? = nil,
        vary: @escaping Variance = { _, _ in false }
    ) {
        (self.settings, self.turns, self.memory) = (settings, turns, memory)
        (self.records, self.vary) = (records, vary)
        timeouts =
            Timeouts(
                queue: settings.timeout,
                resolve: settings.timeout,
                connect: settings.timeout,
                tls: settings.timeout,
                write: settings.timeout,
                response: settings.timeout,
                read: settings.timeout,
                continue: settings.timeout,
                total: settings.timeout
            )
            .nanoseconds
        context = ContextSource(loop)
    }
}

/// The TLS context of a run. The main thread creates it while the first probes connect.
final class ContextSource: Sendable {
    private struct State {
        var context: Result<SurveyContext, TLSError>?
        /// The probes that connected before the context was ready.
        var waiting: [LoopHandle] = []
    }

    private let state = Locked(State())
    private let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Stores the context and wakes all waiting probes.
    func provide(_ context: Result<SurveyContext, TLSError>) {
        let waiting = state.withLock { state in
            state.context = context
            defer { state.waiting.removeAll() }
            return state.waiting
        }
        for handle in waiting { handle.input.signal() }
    }

    /// Returns the context, waiting until it is ready.
    func value() async throws(TransportError) -> Result<SurveyContext, TLSError> {
        if let known = state.withLock({ $0.context }) { return known }
        let turn = LoopHandle(loop: loop)
        loop.add(turn)
        defer { loop.remove(turn) }
        while true {
            let known = state.withLock { state in
                if state.context == nil { state.waiting.append(turn) }
                return state.context
            }
            if let known { return known }
            // No deadline is needed: the main thread creates the context before anything else.
            guard await turn.waitForSignal(until: .never) == .ready else { throw .cancelled }
        }
    }

    /// Creates the context, which loads the trust roots.
    static func make(_ settings: ProbeSettings) -> Result<SurveyContext, TLSError> {
        do throws(TLSError) {
            let others = try settings.stores.dropFirst().map { (store) throws(TLSError) in
                (store.label, try SurveyContext(roots: store.roots))
            }
            return .success(
                try SurveyContext(
                    roots: settings.roots,
                    versions: settings.versions,
                    identity: settings.identity,
                    others: others
                )
            )
        } catch {
            return .failure(error)
        }
    }
}
