internal import DirectCore
internal import DirectIO
internal import DirectTLS

/// The TLS state that all connections of one profile share: the prepared settings, and the sessions to
/// resume.
final class TLSClientState: Sendable {
    let sessions: SessionCache
    private let settings: TLSSettings
    private let made = Locked<Made?>(nil)
    /// Makes the context, on the threads of a folder: files that hang must not take those that other clients
    /// need.
    private let making: SharedCall<Making>
    private let reading = FileNote()

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
        making = SharedCall(on: settings.firstFile.map { .forFile($0) } ?? .shared)
    }

    /// Returns the context for connections, which is made on first use, and anew when the files of the
    /// client's certificate have changed, or one of the system's roots in which there was none. A new context
    /// resumes no session of the former one. This reads files, so it runs off the loop.
    ///
    /// Files that hang have a second if there is a context already, which is used then.
    ///
    /// - Parameter log: Is told why the former context is used, if files have changed that cannot be.
    func context(
        _ deadline: Deadline,
        on loop: EventLoop,
        log: (any TransportObserver)?
    ) async throws(TransportError) -> TLSContext {
        let made = made.withLock { $0 }
        if let made, made.files == nil, !made.context.lacksRoots { return made.context }
        let age: UInt64 = made == nil ? .max : 1_000_000_000
        let outcome: Making
        do throws(BlockingWork.Abandoned) {
            outcome = try await making.value(until: deadline.instant, toAge: age, on: loop) {
                self.reading.whileReading { self.current() }
            }
        } catch {
            return try former(made, deadline, at: loop.now, for: error, log)
        }
        switch outcome {
        case .success(let context): return context
        case .kept(let context, let error):
            if made?.files != nil { log?.note(.identityKept(error)) }
            return context
        case .failure(let error): throw .failed(deadline.phase, .tls(error))
        }
    }

    /// Returns the context that there is although the files could not be read in time.
    private func former(
        _ made: Made?,
        _ deadline: Deadline,
        at now: Instant,
        for reason: BlockingWork.Abandoned,
        _ log: (any TransportObserver)?
    ) throws(TransportError) -> TLSContext {
        let cause: SystemError
        switch reason {
        case .refused(let refusal): cause = refusal
        case .expired where now < deadline.end: cause = .silent(at: reading.file ?? settings.firstFile)
        case .cancelled, .expired: throw deadline.failure(reason)
        }
        guard let made else { throw .failed(deadline.phase, .system(cause)) }
        if made.files != nil { log?.note(.identityKept(.badSettings("\(cause)"))) }
        return made.context
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
        if let known, known.files == contents, !known.context.isOutdated { return known.context }
        var settings = settings
        if let files, let contents { settings.clientIdentity = try files.identity(of: contents) }
        let context = try TLSContext(settings)
        made.withLock { made in
            // Files that have hung may be older than those of a context that was made meanwhile.
            if made?.context === known?.context { made = Made(context: context, files: contents) }
        }
        return context
    }
}
