internal import DirectIO

extension ResponseBody {
    /// Writes the body to a file, and says how many bytes it has.
    ///
    /// The file appears in its place, or takes the place of the one that was there, when it is whole and on the
    /// disk; until then it lies beside it, and if anything fails it is removed. `mode` are its permissions, less
    /// those that the process withholds (umask). A body larger than `limit` is an error.
    ///
    /// The call's `timeouts.total` bounds the disk's time as well. Cancelling it, or that limit, leaves nothing of the file;
    /// only when it is just being put in its place is it too late for that.
    @concurrent
    @discardableResult
    public func write(
        to path: String,
        mode: UInt16 = 0o666,
        upTo limit: UInt64 = .max,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> UInt64 {
        try await FileTransfer(self, .shared).write(to: path, mode: mode, upTo: limit, onProgress)
    }
}

/// A body on its way to a file, whose disk may stand still for any time.
struct FileTransfer: Sendable {
    private let body: ResponseBody
    private let work: BlockingWork

    init(_ body: ResponseBody, _ work: BlockingWork) {
        self.body = body
        self.work = work
    }

    @concurrent
    func write(
        to path: String,
        mode: UInt16 = 0o666,
        upTo limit: UInt64 = .max,
        _ onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> UInt64 {
        do {
            let total = bytesLeft
            if let total, total > limit { throw error(.bodyTooLarge(limit: Int(clamping: limit))) }
            let draft = try await onDisk { () throws(SystemError) in try FileDraft(path, mode: mode) }
            do {
                let count = try await copy(to: draft, upTo: limit) { count in
                    onProgress?(TransferProgress(bytes: count, total: total))
                }
                try await onDisk { () throws(SystemError) in try draft.settle() }
                if Task.isCancelled { throw CancellationError() }
                try await put(draft)
                return count
            } catch {
                draft.discard()
                throw error
            }
        } catch {
            // Nobody will read on, although the caller may keep the response.
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

    /// Puts the file in its place. From here on the caller hears what came of it: to stop waiting would leave open
    /// whether the file is there. So it is done in a task that nobody cancels.
    private func put(_ draft: FileDraft) async throws {
        do {
            try await Task {
                try await work.run(on: .shared) { () throws(SystemError) in try draft.commit() }
            }.value
        } catch let failure as SystemError {
            throw error(.system(failure))
        }
    }

    private func onDisk<Answer: Sendable>(
        _ job: @escaping @Sendable () throws(SystemError) -> Answer
    ) async throws -> Answer {
        let limit = limit
        do {
            return try await work.run(until: limit.end, on: .shared, job)
        } catch let failure as SystemError {
            throw error(.system(failure))
        } catch BlockingWork.Abandoned.expired {
            throw error(limit.timeout)
        }
    }

    private var limit: CallLimit {
        if case .arriving(let pieces) = body.content { pieces.limit } else { .none }
    }

    private var bytesLeft: UInt64? {
        switch body.content {
        case .complete(let bytes, _, _): UInt64(bytes.count)
        case .arriving(let pieces): pieces.bytesLeft
        }
    }

    private func error(_ reason: HTTPError.Reason) -> HTTPError {
        switch body.content {
        case .complete(_, _, let facts):
            HTTPError(.body, reason, name: facts?.name, endpoint: facts?.endpoint)
        case .arriving(let pieces): pieces.error(reason)
        }
    }

    /// A network is read in small pieces; each turn of another thread should be worth its price.
    private static let bytesWorthWriting = 1 << 20
}
