internal import DirectCore
internal import DirectIO
internal import DirectTLS

/// The TLS state that all connections of one profile share: the prepared settings, and the sessions to
/// resume.
final class TLSClientState: Sendable {
    let sessions: SessionCache
    private let settings: TLSSettings
    private let made = Locked<TLSContext?>(nil)
    /// Held while the context is made, on threads that may block. Nothing else waits for it. It guards no
    /// value, but the thread sanitizer misreads a lock of `Void`.
    private let making = Locked(false)

    init(_ settings: TLSSettings, sessions: SessionCache) {
        self.settings = settings
        self.sessions = sessions
    }

    /// Returns the context for connections, which is made on first use. This reads files, so it runs off the
    /// loop.
    func context(_ deadline: Deadline, on loop: EventLoop) async throws(TransportError) -> TLSContext {
        if let context = made.withLock({ $0 }) { return context }
        let outcome: Result<TLSContext, TLSError>
        do throws(BlockingWork.Abandoned) {
            outcome = try await BlockingWork.shared.run(until: deadline.instant, on: loop) {
                self.makeOnce()
            }
        } catch {
            throw deadline.failure(error)
        }
        switch outcome {
        case .success(let context): return context
        case .failure(let error): throw .failed(deadline.phase, .tls(error))
        }
    }

    /// Makes the context once; concurrent callers wait for the first.
    private func makeOnce() -> Result<TLSContext, TLSError> {
        making.withLock { _ in
            if let known = made.withLock({ $0 }) { return .success(known) }
            do throws(TLSError) {
                let context = try TLSContext(settings)
                made.withLock { $0 = context }
                return .success(context)
            } catch {
                return .failure(error)
            }
        }
    }
}
