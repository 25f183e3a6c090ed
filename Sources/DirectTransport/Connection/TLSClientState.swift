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
    private let former: FormerFiles

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

    init(_ settings: TLSSettings, sessions: SessionCache, former: FormerFiles) {
        self.settings = settings
        self.former = former
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
            if settings.clientIdentity?.files != nil { log?.note(.identityKept(error)) }
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
            if let known { return .kept(known.context, error) }
            let contents = settings.clientIdentity?.files.flatMap { former[$0] }
            guard let contents, let context = try? make(of: contents, insteadOf: nil) else {
                return .failure(error)
            }
            return .kept(context, error)
        }
    }

    private func renewed(_ known: Made?) throws(TLSError) -> TLSContext {
        let contents = try settings.clientIdentity?.files?.contents()
        if let known, known.files == contents, !known.context.isOutdated { return known.context }
        return try make(of: contents, insteadOf: known)
    }

    private func make(of contents: [[UInt8]]?, insteadOf known: Made?) throws(TLSError) -> TLSContext {
        var settings = settings
        let files = settings.clientIdentity?.files
        if let files, let contents { settings.clientIdentity = try files.identity(of: contents) }
        let context = try TLSContext(settings)
        if let files { former[files] = contents }
        made.withLock { made in
            // Files that have hung may be older than those of a context that was made meanwhile.
            if made?.context === known?.context { made = Made(context: context, files: contents) }
        }
        return context
    }
}

/// What the files of certificates had when they last could be used. The states of one client share it:
/// one that is new while files are being replaced has no former context of its own.
final class FormerFiles: Sendable {
    private let contents = Locked<[IdentityFiles: [[UInt8]]]>([:])

    subscript(files: IdentityFiles) -> [[UInt8]]? {
        get { contents.withLock { $0[files] } }
        set {
            contents.withLock { known in
                // Settings of requests name any number of files.
                if known.count >= ConnectionProfiles.limit { known.removeAll() }
                known[files] = newValue
            }
        }
    }
}
