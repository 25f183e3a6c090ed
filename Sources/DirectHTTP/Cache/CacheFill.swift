internal import DirectHTTP1
internal import DirectTransport

/// The pieces of a body that is copied into the cache while the caller reads it.
///
/// While there is a `draft`, each piece is appended to it. Without one the copy is complete, or was given up
/// because the store refused a piece; the caller goes on reading.
///
/// The draft is committed, so that later requests can find the response, only when the body has ended without
/// an error or all of the announced length has arrived, and only if the URL has not been invalidated in the
/// meantime. A draft that is dropped earlier is discarded.
final class CacheFill: ResponseBodySource {
    private let body: GuardedBody
    private var draft: (any CacheDraft)?
    /// Removes an entry that the response contradicts; called if the response does not take its place.
    private var supersede: (@Sendable () async -> Void)?
    private var received: UInt64 = 0
    private let length: UInt64?
    let limit: CallLimit

    init(
        _ body: GuardedBody,
        into draft: any CacheDraft,
        length: UInt64?,
        otherwise supersede: (@Sendable () async -> Void)? = nil
    ) {
        self.body = body
        limit = body.limit
        self.draft = draft
        self.length = length
        self.supersede = supersede
    }

    deinit {
        guard let supersede else { return }
        Task.detached(executorPreference: limit.threads) { await supersede() }
    }

    var trailers: HTTPHeaders { body.trailers }

    var bytesLeft: UInt64? { body.bytesLeft }

    var location: BodyLocation { body.location }

    /// Whether what is read is still copied.
    var isCopying: Bool { draft != nil }

    /// Content that the caller did not read is not cached.
    func drain() async {
        await giveUp()
        await body.drain()
    }

    func next() async throws -> [UInt8]? {
        let next: [UInt8]?
        do {
            next = try await body.next()
        } catch {
            await giveUp()
            throw error
        }
        guard let piece = next else {
            await commit()
            return nil
        }
        received += UInt64(piece.count)
        if let draft, await !draft.append(piece) { await giveUp() }
        // The caller may know the length, and stop without asking for the end.
        if received == length { await commit() }
        return piece
    }

    private func commit() async {
        guard let draft else { return }
        guard length == nil || received == length else { return await giveUp() }
        (self.draft, supersede) = (nil, nil)
        await draft.commit()
    }

    private func giveUp() async {
        draft = nil
        let supersede = supersede
        self.supersede = nil
        await supersede?()
    }
}
