internal import DirectCore
internal import DirectIO
internal import DirectTransport

extension ResponseBody {
    /// Writes the body to a file.
    ///
    /// The data is written to a file without a name, or with a temporary one, in the same folder. When it is
    /// complete and flushed to the disk, that file gets the name `path` and replaces a file that was there.
    /// If anything fails, nothing is left. If `path` is a symbolic link, the link stays and its target is
    /// replaced.
    ///
    /// A device, such as `/dev/null` or a terminal, is written to directly. A pipe, a socket and a folder are
    /// errors.
    ///
    /// ``Timeouts/total`` of the call limits the time for the disk as well, unless the whole body had arrived
    /// before. When the task is cancelled or that limit expires, no file is left behind, except that the
    /// final move is not interrupted once it has begun.
    ///
    /// - Parameter path: The path of the file.
    /// - Parameter mode: The permissions of a new file, reduced by the process's umask. A file that is
    ///   replaced passes its owner and its permissions on, as far as `mode` and the system allow.
    /// - Parameter limit: The largest number of bytes to accept.
    /// - Parameter onProgress: Called with the number of bytes received so far.
    /// - Returns: The number of bytes in the body.
    /// - Throws: ``HTTPError``, also for a body larger than `limit` and for errors of the file system, or
    ///   `CancellationError`.
    @concurrent
    @discardableResult
    public func write(
        to path: String,
        mode: UInt16 = 0o666,
        upTo limit: UInt64 = .max,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> UInt64 {
        try await FileTransfer(self, .forFile(path)).write(to: path, mode: mode, upTo: limit, onProgress)
    }
}

/// The transfer of a body to a file, whose disk may block for any length of time.
struct FileTransfer: Sendable {
    private let body: ResponseBody
    private let work: BlockingWork
    /// The limits of the call; none if the body has arrived. Looked at once: the body has none behind its
    /// last piece, and most of the writing comes after that.
    private let limit: CallLimit

    init(_ body: ResponseBody, _ work: BlockingWork) {
        self.body = body
        self.work = work
        limit = if case .arriving(let body) = body.content { body.limit } else { .none }
    }

    @concurrent
    func write(
        to path: String,
        mode: UInt16 = 0o666,
        upTo limit: UInt64 = .max,
        _ onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> UInt64 {
        do {
            let total = body.bytesLeft
            if let total, total > limit { throw error(.bodyTooLarge(limit: Int(clamping: limit))) }
            let draft = try await onDisk { () throws(SystemError) in
                try FileDraft(path, mode: mode, direct: .devices)
            }
            do {
                let count = try await copy(to: draft, upTo: limit) { count in
                    onProgress?(TransferProgress(bytes: count, total: total))
                }
                try await onDisk { () throws(SystemError) in try draft.settle() }
                if Task.isCancelled { throw CancellationError() }
                try await put(draft)
                return count
            } catch {
                // The disk may hang, and it is not waited for on a thread of the caller's.
                await work.conclude(on: self.limit.executor, timedBy: .shared) { draft.discard() }
                throw error
            }
        } catch {
            // The rest of the body will not be read, even if the caller keeps the response.
            await body.drain()
            throw error
        }
    }

    private func copy(
        to draft: FileDraft,
        upTo limit: UInt64,
        _ note: (UInt64) -> Void
    ) async throws -> UInt64 {
        var gathered: [UInt8] = []
        var count: UInt64 = 0
        var iterator = body.makeAsyncIterator()
        while let piece = try await iterator.next() {
            count += UInt64(piece.count)
            guard count <= limit else { throw error(.bodyTooLarge(limit: Int(clamping: limit))) }
            if gathered.isEmpty { gathered = piece } else { gathered += piece }
            note(count)
            guard gathered.count >= Self.bytesWorthWriting else { continue }
            let bytes = gathered
            gathered = []
            try await onDisk { () throws(SystemError) in try draft.write(bytes) }
        }
        let rest = gathered
        try await onDisk { () throws(SystemError) in try draft.write(rest) }
        return count
    }

    /// Moves the file to its place. The caller waits for the outcome: if it stopped waiting, it could not
    /// know whether the file is there.
    private func put(_ draft: FileDraft) async throws {
        do {
            try await withGrace(on: limit.executor, timedBy: .shared) { [work] in
                try await work.run(on: .shared) { () throws(SystemError) in try draft.commit() }
            }
        } catch let failure as SystemError {
            throw error(.system(failure))
        }
    }

    private func onDisk<Answer: Sendable>(
        _ job: @escaping @Sendable () throws(SystemError) -> Answer
    ) async throws -> Answer {
        do {
            return try await work.run(until: limit.end, on: .shared, job)
        } catch let failure as SystemError {
            throw error(.system(failure))
        } catch BlockingWork.Abandoned.expired {
            throw error(HTTPError.Reason(limit.timeout))
        }
    }

    @inline(never)
    private func error(_ reason: HTTPError.Reason) -> HTTPError { body.error(reason) }

    /// The number of bytes to collect before a write. Data arrives in small pieces, and each write costs a
    /// switch to another thread.
    private static let bytesWorthWriting = 1 << 20
}

extension ResponseBody {
    /// The number of bytes still to be read; `nil` if it is unknown.
    var bytesLeft: UInt64? {
        switch content {
        case .complete(let bytes, _, _): UInt64(bytes.count)
        case .arriving(let body): body.bytesLeft
        }
    }
}
