internal import DirectHTTP1
internal import DirectIO
internal import Synchronization

/// A content on its way to the caller, of which a copy is kept. Only one that was read to a clean end is found
/// later; letting go of it before forgets the copy.
final class CacheFill: BodyPieces, @unchecked Sendable {
    private let isBusy = Atomic<Bool>(false)
    /// Only the task that holds `isBusy` touches what follows. Nothing once it has failed.
    private var source: (any BodyPieces)?
    private var draft: (any CacheDraft)?
    private var received: UInt64 = 0
    private let length: UInt64?
    let limit: CallLimit
    private let name: String
    private let isWanted: @Sendable () -> Bool

    init(
        _ source: any BodyPieces,
        into draft: any CacheDraft,
        length: UInt64?,
        name: String,
        isWanted: @escaping @Sendable () -> Bool
    ) {
        self.source = source
        limit = source.limit
        self.draft = draft
        self.length = length
        self.name = name
        self.isWanted = isWanted
    }

    var trailers: Headers {
        (try? withoutWaiting { source?.trailers }) ?? Headers()
    }

    /// What is not read is not kept.
    func drain() async {
        try? await exclusively {
            draft = nil
            await source?.drain()
        }
    }

    /// Reads for the copy alone: to the end of the content, or until the copy is given up.
    func fill() async {
        try? await exclusively {
            while draft != nil, try await nextPiece() != nil {}
            (source, draft) = (nil, nil)
        }
    }

    var bytesLeft: UInt64? {
        (try? withoutWaiting { source?.bytesLeft }) ?? nil
    }

    func error(_ reason: HTTPError.Reason) -> HTTPError {
        (try? withoutWaiting { source?.error(reason) }) ?? HTTPError(.body, reason, name: name)
    }

    func next() async throws -> [UInt8]? {
        try await exclusively { try await nextPiece() }
    }

    func collect(upTo limit: Int) async throws -> [UInt8] {
        try await exclusively {
            var all: [UInt8] = []
            while let piece = try await nextPiece() {
                guard piece.count <= limit - all.count else {
                    let error = source?.error(.bodyTooLarge(limit: limit))
                    (source, draft) = (nil, nil)
                    throw error ?? HTTPError(.body, .bodyTooLarge(limit: limit), name: name)
                }
                if all.isEmpty { all = piece } else { all += piece }
            }
            return all
        }
    }

    private func nextPiece() async throws -> [UInt8]? {
        guard let source else { throw HTTPError(.body, .bodyAlreadyRead, name: name) }
        do {
            guard let piece = try await source.next() else {
                await commit()
                return nil
            }
            received += UInt64(piece.count)
            if let draft, await !draft.append(piece) { self.draft = nil }
            // The caller may know the length, and never ask for more.
            if received == length { await commit() }
            return piece
        } catch {
            draft = nil
            throw error
        }
    }

    private func commit() async {
        guard let draft else { return }
        self.draft = nil
        guard length == nil || received == length, isWanted() else { return }
        await draft.commit()
    }

    private func withoutWaiting<Value>(_ body: () -> Value) throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw HTTPError(.body, .bodyAlreadyRead, name: name)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return body()
    }

    private func exclusively<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw HTTPError(.body, .bodyAlreadyRead, name: name)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return try await body()
    }
}
