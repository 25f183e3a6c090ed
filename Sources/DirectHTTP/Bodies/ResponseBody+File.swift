internal import DirectIO

extension ResponseBody {
    /// Writes the body to a file, and says how many bytes it has.
    ///
    /// The file appears in its place, or takes the place of the one that was there, when it is whole and on the
    /// disk; until then it lies beside it, and if anything fails it is removed. `mode` are its permissions, less
    /// those that the process withholds (umask). A body larger than `limit` is an error.
    @concurrent
    @discardableResult
    public func write(
        to path: String,
        mode: UInt16 = 0o666,
        upTo limit: UInt64 = .max,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> UInt64 {
        do {
            let total = bytesLeft
            if let total, total > limit { throw error(.bodyTooLarge(limit: Int(clamping: limit))) }
            let draft = try await onDisk { () throws(SystemError) in try FileDraft(path, mode: mode) }
            do {
                let count = try await copy(to: draft, upTo: limit) { count in
                    onProgress?(TransferProgress(bytes: count, total: total))
                }
                try await onDisk { () throws(SystemError) in try draft.commit() }
                return count
            } catch {
                draft.discard()
                throw error
            }
        } catch {
            // Nobody will read on, although the caller may keep the response.
            await drain()
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
        var iterator = makeAsyncIterator()
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

    private func onDisk<Answer: Sendable>(
        _ work: @escaping @Sendable () throws(SystemError) -> Answer
    ) async throws -> Answer {
        do {
            return try await BlockingWork.shared.run(on: .shared, work)
        } catch let failure as SystemError {
            throw error(.system(failure))
        }
    }

    private var bytesLeft: UInt64? {
        switch content {
        case .complete(let bytes, _, _): UInt64(bytes.count)
        case .arriving(let pieces): pieces.bytesLeft
        }
    }

    private func error(_ reason: HTTPError.Reason) -> HTTPError {
        switch content {
        case .complete(_, _, let facts):
            HTTPError(.body, reason, name: facts?.name, endpoint: facts?.endpoint)
        case .arriving(let pieces): pieces.error(reason)
        }
    }

    /// A network is read in small pieces; each turn of another thread should be worth its price.
    private static let bytesWorthWriting = 1 << 20
}
