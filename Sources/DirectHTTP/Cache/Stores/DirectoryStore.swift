internal import DirectHTTP1
internal import DirectIO

/// Keeps responses in a folder, which several processes may share.
///
/// A response is found by the names of its file and, where responses of its URL depend on the request, by an index
/// beside it: there is nothing that would have to be read when the folder is opened, or be put right after a crash.
/// Files are moved to their places whole; each carries checksums, so that nothing has to be forced to the disk.
final class DirectoryStore: CacheStore {
    private let files: CacheFiles

    init(path: String, limits: ResponseCache.Limits) throws(CacheFault) {
        do throws(SystemError) {
            files = CacheFiles(folder: try StateFolder(path), limits: limits)
        } catch {
            throw .folder(error)
        }
    }

    var faults: [CacheFault] { files.faults.withLock { $0 } }

    func find(_ key: CacheKey, _ fields: SelectingFields) async -> (any CacheEntry)? {
        await Self.blocking { [files] in files.find(key, fields) } ?? nil
    }

    func draft(
        _ key: CacheKey,
        _ variant: CacheVariant,
        _ head: CachedHead,
        length: UInt64?
    ) -> (any CacheDraft)? {
        guard length ?? 0 <= UInt64(files.objectLimit) else { return nil }
        return DirectoryDraft(files, key, variant, head)
    }

    func replaceHead(_ entry: any CacheEntry, with head: CachedHead) async {
        guard let entry = entry as? DirectoryEntry else { return }
        await Self.carryOut { [files] in files.replaceHead(entry, with: head) }
    }

    func remove(_ key: CacheKey) async {
        await Self.carryOut { [files] in files.remove(key) }
    }

    func removeAll() async {
        await Self.carryOut { [files] in files.removeAll() }
    }

    /// Counts what there is, and removes what has been used least until it is within the limits.
    func sweep() async {
        await Self.carryOut { [files] in files.sweep() }
    }

    /// Off the event loop and off Swift's threads; nothing if the task is cancelled before it is done.
    static func blocking<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async -> Answer? {
        try? await BlockingWork.shared.run(until: .never, on: .shared, work)
    }

    /// The same for what has to happen although the task is cancelled: what a response has made invalid must not stay.
    static func carryOut(_ work: @escaping @Sendable () -> Void) async {
        try? await BlockingWork.shared.carryOut(on: .shared, work)
    }
}

/// A response in a file.
final class DirectoryEntry: CacheEntry {
    let key: CacheKey
    let variant: CacheVariant
    let head: CachedHead
    let length: Int
    let name: String
    let file: StateReader
    let contentStart: Int
    /// The content, if it is small.
    private let bytes: [UInt8]?
    private let files: CacheFiles

    init(_ files: CacheFiles, _ front: EntryFile.Front, _ name: String, _ file: StateReader, bytes: [UInt8]?)
    {
        self.files = files
        key = front.key
        variant = front.variant
        head = front.head
        length = front.length
        contentStart = front.contentStart
        self.name = name
        self.file = file
        self.bytes = bytes
    }

    func content(_ range: Range<Int>) async throws -> ResponseBody.Content {
        if let bytes {
            return .complete(range.count == bytes.count ? bytes : Array(bytes[range]), Headers(), nil)
        }
        return .arriving(FilePieces(self, range))
    }

    /// The block of that number, checked; nothing if it is damaged, which is the end of the file.
    func block(_ index: Int) -> ArraySlice<UInt8>? {
        let start = index * EntryFile.blockSize
        let size = EntryFile.contentSize(min(EntryFile.blockSize, length - start))
        let offset = contentStart + EntryFile.blockOffset(index)
        if let bytes = try? file.bytes(at: offset, count: size), bytes.count == size,
            let content = EntryFile.content(ofBlock: bytes[...], index: index)
        {
            return content
        }
        files.discard(name)
        return nil
    }
}

/// A content that is read from its file, block by block.
final class FilePieces: BodyPieces {
    private let entry: DirectoryEntry
    private let range: Range<Int>
    private let position: Locked<Int>

    init(_ entry: DirectoryEntry, _ range: Range<Int>) {
        self.entry = entry
        self.range = range
        position = Locked(range.lowerBound)
    }

    var trailers: Headers { Headers() }

    var bytesLeft: UInt64? { UInt64(range.upperBound - position.withLock { $0 }) }

    func next() async throws -> [UInt8]? {
        let start = position.withLock { position in
            defer {
                position = min(range.upperBound, (position / EntryFile.blockSize + 1) * EntryFile.blockSize)
            }
            return position
        }
        guard start < range.upperBound else { return nil }
        let index = start / EntryFile.blockSize
        let first = index * EntryFile.blockSize
        let end = min(range.upperBound, first + EntryFile.blockSize)
        let answer = await DirectoryStore.blocking { [entry] () -> [UInt8]? in
            guard let block = entry.block(index) else { return nil }
            let part = block.dropFirst(start - first).prefix(end - start)
            return part.count == end - start ? Array(part) : nil
        }
        guard let answer else { throw CancellationError() }
        guard let piece = answer else { throw HTTPError(.body, .cache(.damaged(file: entry.name))) }
        return piece
    }

    func collect(upTo limit: Int) async throws -> [UInt8] {
        let left = range.upperBound - position.withLock { $0 }
        guard left <= limit else { throw HTTPError(.body, .bodyTooLarge(limit: limit)) }
        var all: [UInt8] = []
        all.reserveCapacity(left)
        while let piece = try await next() { all += piece }
        return all
    }
}

/// A response that is being written: small ones at once when all is there, larger ones as they come.
private final class DirectoryDraft: CacheDraft {
    private let files: CacheFiles
    private let key: CacheKey
    private let variant: CacheVariant
    private let head: CachedHead
    private let state = Locked(State())

    private struct State {
        /// What has not been written yet, from a block's beginning on.
        var rest: [UInt8] = []
        var file: StateDraft?
        var blocks = 0
        var length = 0
    }

    init(_ files: CacheFiles, _ key: CacheKey, _ variant: CacheVariant, _ head: CachedHead) {
        self.files = files
        self.key = key
        self.variant = variant
        self.head = head
    }

    func append(_ piece: [UInt8]) async -> Bool {
        let isFull: Bool? = state.withLock { state in
            guard piece.count <= files.objectLimit - state.length else { return nil }
            state.length += piece.count
            if state.rest.isEmpty { state.rest = piece } else { state.rest += piece }
            return state.rest.count >= Self.worthWriting
        }
        guard let isFull else { return false }
        guard isFull else { return true }
        return await DirectoryStore.blocking { [self] in
            files.attempt { () throws(SystemError) in try writeBlocks() }
        } ?? false
    }

    func commit() async {
        await DirectoryStore.carryOut { [self] in
            _ = files.attempt { () throws(SystemError) in try finish() }
        }
    }

    private func writeBlocks() throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            // The head's size does not depend on the content's length: it is known before.
            guard let front = EntryFile.front(key, variant, head, length: 0) else {
                throw SystemError("write", code: 0)
            }
            let file = try file(&state)
            let whole = state.rest.count / EntryFile.blockSize * EntryFile.blockSize
            try write(state.rest[..<whole], &state, file, from: front.count)
            state.rest.removeFirst(whole)
        }
    }

    private func finish() throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            guard let front = EntryFile.front(key, variant, head, length: state.length) else { return }
            let isNew = state.file == nil
            let file = try file(&state)
            if isNew, state.rest.count <= EntryFile.blockSize {
                let block = state.rest.isEmpty ? [] : EntryFile.block(state.rest[...], index: 0)
                try file.write(front + block, at: 0)
            } else {
                try write(state.rest[...], &state, file, from: front.count)
                try file.write(front, at: 0)
            }
            state.rest = []
            state.file = nil
            try files.place(file, key, variant, size: front.count + EntryFile.contentSize(state.length))
        }
    }

    private func file(_ state: inout State) throws(SystemError) -> StateDraft {
        if let file = state.file { return file }
        let file = try files.folder.draft()
        state.file = file
        return file
    }

    private func write(
        _ bytes: ArraySlice<UInt8>,
        _ state: inout State,
        _ file: StateDraft,
        from contentStart: Int
    ) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let block = EntryFile.block(rest.prefix(EntryFile.blockSize), index: state.blocks)
            try file.write(block, at: contentStart + EntryFile.blockOffset(state.blocks))
            state.blocks += 1
            rest = rest.dropFirst(EntryFile.blockSize)
        }
    }

    /// Several blocks at a time: each time costs a change of threads.
    private static let worthWriting = 4 * EntryFile.blockSize
}
