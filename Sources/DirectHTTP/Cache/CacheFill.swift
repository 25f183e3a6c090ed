internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport
internal import Synchronization

/// A response body that is copied into the cache while the caller reads it.
///
/// States:
///
/// - Copying: `source` and `draft` are set. Each piece that the caller reads is appended to the draft.
/// - Reading: `draft` is `nil`. The copy is complete, or was given up because the store refused a piece or
///   the source failed; the caller goes on reading.
/// - Over: `source` is `nil`, after `fill`, or because the body exceeded the limit of `collect`. Further
///   reads throw `bodyAlreadyRead`.
///
/// The draft is committed, so that later requests can find the response, only when the source has ended
/// without an error or all of the announced length has arrived, and only if the URL has not been invalidated
/// in the meantime. A draft that is dropped earlier is discarded.
///
/// One task at a time may read. The one that has set `isBusy` owns the mutable state, and a concurrent read
/// throws `bodyAlreadyRead`.
final class CacheFill: ResponseBodySource, @unchecked Sendable {
    private let isBusy = Atomic<Bool>(false)
    /// Only the task that has set `isBusy` may touch the mutable properties below. `nil` once the body can no
    /// longer be read.
    private var source: (any ResponseBodySource)?
    private var draft: (any CacheDraft)?
    private var received: UInt64 = 0
    private let length: UInt64?
    let limit: CallLimit
    private let name: String

    init(
        _ source: any ResponseBodySource,
        into draft: any CacheDraft,
        length: UInt64?,
        name: String
    ) {
        self.source = source
        limit = source.limit
        self.draft = draft
        self.length = length
        self.name = name
    }

    var trailers: HTTPHeaders {
        (try? withoutWaiting { source?.trailers }) ?? HTTPHeaders()
    }

    /// Content that the caller did not read is not cached.
    func drain() async {
        try? await exclusively {
            draft = nil
            await source?.drain()
        }
    }

    /// Reads for the copy alone, to the end of the body or until the copy is given up.
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
            // The caller may know the length, and stop without asking for the end.
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
        guard length == nil || received == length else { return }
        await draft.commit()
    }

    /// Runs a function that does not suspend, if no other task is reading.
    private func withoutWaiting<Value>(_ body: () -> Value) throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw HTTPError(.body, .bodyAlreadyRead, name: name)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return body()
    }

    /// Runs a function that may suspend, if no other task is reading.
    private func exclusively<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw HTTPError(.body, .bodyAlreadyRead, name: name)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return try await body()
    }
}
