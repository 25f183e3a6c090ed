internal import DirectIO
internal import DirectTLS

/// What all TLS connections of one client share: settings made ready, and the sessions to resume.
final class TLSSecrets: Sendable {
    let sessions = SessionCache()
    private let settings: TLSSettings
    private let made = Locked<TLSContext?>(nil)

    init(_ settings: TLSSettings) {
        self.settings = settings
    }

    /// The context for connections, made when first asked for. Reads files, so off the loop.
    func context(on loop: EventLoop) async throws(TLSError) -> TLSContext {
        if let context = made.withLock({ $0 }) { return context }
        let outcome: Result<TLSContext, TLSError>?
        outcome = try? await BlockingWork.shared.run(until: .never, on: loop) { [made, settings] in
            // One makes it, the others wait for it: these threads may block.
            made.withLock { known in
                if let known { return .success(known) }
                do throws(TLSError) {
                    let context = try TLSContext(settings)
                    known = context
                    return .success(context)
                } catch {
                    return .failure(error)
                }
            }
        }
        guard let outcome else { throw .badSettings("not loaded: the request was cancelled") }
        return try outcome.get()
    }
}
