internal import DirectCore
internal import DirectIO
internal import DirectTLS

/// The TLS state that all connections of one profile share: the prepared settings, and the sessions to
/// resume.
final class TLSClientState: Sendable {
    let sessions: SessionCache
    private let settings: TLSSettings
    private let made = Locked<Made?>(nil)
    /// Makes the context on one thread at a time, also because concurrent callers wait for the first: files
    /// that hang must not take all threads, which other clients and downloads need as well.
    private let lane = BlockingLane(on: .shared, width: 1)

    private struct Made {
        let context: TLSContext
        /// The files of the client's certificate as the context has them; `nil` if it is in memory.
        let files: [[UInt8]]?
    }

    /// Not a `Result`, as said at ``Locked``.
    enum Making {
        case success(TLSContext)
        /// The former one, because a new one has failed.
        case kept(TLSContext, TLSError)
        case failure(TLSError)
    }

    init(_ settings: TLSSettings, sessions: SessionCache) {
        self.settings = settings
        self.sessions = sessions
    }

    /// Returns the context for connections, which is made on first use, and anew when the files of the
    /// client's certificate have changed. A new context resumes no session of the former one. This reads
    /// files, so it runs off the loop.
    ///
    /// - Parameter log: Is told why the former context is used, if files have changed that cannot be.
    func context(
        _ deadline: Deadline,
        on loop: EventLoop,
        log: (any TransportObserver)?
    ) async throws(TransportError) -> TLSContext {
        if settings.clientIdentity?.files == nil, let made = made.withLock({ $0 }) { return made.context }
        let outcome: Making
        do throws(BlockingWork.Abandoned) {
            outcome = try await lane.run(until: deadline.instant, on: loop) { self.current() }
        } catch {
            throw deadline.failure(error)
        }
        switch outcome {
        case .success(let context): return context
        case .kept(let context, let error):
            log?.note(.identityKept(error))
            return context
        case .failure(let error): throw .failed(deadline.phase, .tls(error))
        }
    }

    /// Returns the context, made if there is none for the files as they are.
    func current() -> Making {
        let known = made.withLock { $0 }
        do throws(TLSError) {
            return .success(try renewed(known))
        } catch {
            // Files that are being replaced: the certificate is there, and its key not yet.
            return known.map { .kept($0.context, error) } ?? .failure(error)
        }
    }

    private func renewed(_ known: Made?) throws(TLSError) -> TLSContext {
        let files = settings.clientIdentity?.files
        let contents = try files?.contents()
        if let known, known.files == contents { return known.context }
        var settings = settings
        if let files, let contents { settings.clientIdentity = try files.identity(of: contents) }
        let context = try TLSContext(settings)
        made.withLock { $0 = Made(context: context, files: contents) }
        return context
    }
}
