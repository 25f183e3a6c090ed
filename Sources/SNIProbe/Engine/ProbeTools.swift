internal import DirectHTTP

/// What all probes of a run share.
final class ProbeTools: Sendable {
    let settings: ProbeSettings
    let context: ContextSource
    let chains = ChainCache()

    init(_ settings: ProbeSettings, loop: EventLoop) {
        self.settings = settings
        context = ContextSource(loop)
    }
}

/// The one `SurveyContext` of a run, made on the main thread while the first connections are.
final class ContextSource: Sendable {
    private struct State {
        var context: Result<SurveyContext, TLSError>?
        /// Probes that have connected before it was there.
        var waiting: [LoopHandle] = []
    }

    private let state = Locked(State())
    private let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Hands it to all who wait for it.
    func provide(_ context: Result<SurveyContext, TLSError>) {
        let waiting = state.withLock { state in
            state.context = context
            defer { state.waiting.removeAll() }
            return state.waiting
        }
        for handle in waiting { handle.input.signal() }
    }

    func value() async -> Result<SurveyContext, TLSError> {
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
            // Not for ever: whoever is to make it does so before anything else.
            guard await turn.input.wait(until: .never, on: loop) == .ready else {
                return .failure(.notOpen)
            }
        }
    }

    static func make(_ settings: ProbeSettings) -> Result<SurveyContext, TLSError> {
        do throws(TLSError) {
            return .success(try SurveyContext(roots: settings.roots, versions: settings.versions))
        } catch {
            return .failure(error)
        }
    }
}
