internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Stores responses in a folder, which several processes may share.
///
/// A response is found by the name of its file and, if the responses of its URL depend on the request, by an
/// index file next to it. So there is no data that has to be read when the folder is opened, or repaired
/// after a crash. Files get their names when they are complete. Each contains checksums, so there is
/// no need to flush it to the disk: what a power failure leaves behind is recognised as damaged.
final class DirectoryStore: CacheStore {
    private let files: CacheFiles
    var digestKey: [UInt8] { files.digestKey }
    /// A step that has taken too long. Until the disk has come back from it, no call waits for the disk.
    private let overdue = Locked(Overdue())

    private struct Overdue {
        weak var step: Step?
    }

    /// Belongs to the work of a step, and ends with it.
    private final class Step: Sendable {}

    private var isSilent: Bool { overdue.withLock { $0.step != nil } }

    /// Files are read and written on the threads of `work`, or on those of the folder.
    init(path: String, limits: CacheLimits, work: BlockingWork? = nil) throws(CacheError) {
        do throws(SystemError) {
            let folder = try StateFolder(path)
            files = CacheFiles(folder: folder, limits: limits, work: work ?? .forFolder(path))
        } catch {
            throw .folder(error)
        }
    }

    var faults: [CacheError] { files.faults.withLock { $0 } }

    func find(
        _ key: CacheKey,
        fields: VaryFields,
        wait: DiskWait
    ) async throws -> (any CacheEntry)? {
        try await look(wait) { $0.find(key, fields: fields) }
    }

    func mark(_ key: CacheKey, wait: DiskWait) async throws -> CacheMark? {
        try await look(wait) { $0.mark(key) }
    }

    /// Looks something up. Without a thread for that there is nothing, as with a file that cannot be read:
    /// the request goes on.
    private func look<Answer: Sendable>(
        _ wait: DiskWait,
        job: @escaping @Sendable (CacheFiles) -> Answer?
    ) async throws -> Answer? {
        if isSilent { return nil }
        let step = Step()
        let job: @Sendable () -> Answer? = { [files] in withExtendedLifetime(step) { job(files) } }
        switch try await wait.outcome(on: files.work, .request, job: job) {
        case .success(let answer): return answer
        case .failure(let refusal):
            if refusal == .silent { overdue.withLock { $0.step = step } }
            _ = files.attempt { () throws(SystemError) in throw refusal }
            return nil
        }
    }

    func draft(_ plan: DraftPlan, wait: DiskWait) -> (any CacheDraft)? {
        guard plan.length ?? 0 <= UInt64(files.objectLimit) else { return nil }
        return DirectoryDraft(files, plan, wait)
    }

    func replaceHead(_ entry: any CacheEntry, with head: CachedHead, wait: DiskWait) async {
        guard let entry = entry as? DirectoryEntry, !isSilent else { return }
        try? await wait.run(on: files.work, .body) { [files] in files.replaceHead(entry, with: head) }
    }

    func remove(_ key: CacheKey, wait: DiskWait) async {
        files.willRemove(key)
        await carryOut(within: wait) { $0.remove(key) }
    }

    func removeAll() async {
        files.willRemove(nil)
        await carryOut(within: .unlimited) { $0.removeAll() }
    }

    /// Runs a removal. One that takes too long goes on, and is reported.
    private func carryOut(within wait: DiskWait, _ removal: @escaping @Sendable (CacheFiles) -> Void) async {
        let step = Step()
        let job: @Sendable () -> Void = { [files] in withExtendedLifetime(step) { removal(files) } }
        if isSilent {
            files.work.submit(job)
        } else if await wait.carryOut(on: files.work, job) {
            return
        } else {
            overdue.withLock { $0.step = step }
        }
        files.report(.file(.silent))
    }

    /// Counts the files, and if they exceed the limits removes the least recently used down to nine tenths.
    func sweep() async {
        _ = await DiskWait.unlimited.carryOut(on: files.work) { [files] in files.sweep() }
    }
}

/// A response in a file, which it keeps open.
final class DirectoryEntry: CacheEntry {
    let key: CacheKey
    let variant: CacheVariant
    let mark: CacheMark
    let head: CachedHead
    let length: Int
    let name: String
    let file: StateReader
    let contentStart: Int
    /// The content, if it is small enough to be read with the head.
    private let bytes: [UInt8]?
    /// The files that this one is part of.
    let files: CacheFiles

    init(_ files: CacheFiles, _ front: EntryFile.Front, _ name: String, _ file: StateReader, bytes: [UInt8]?)
    {
        self.files = files
        key = front.key
        variant = front.variant
        mark = front.mark
        head = front.head
        length = front.length
        contentStart = front.contentStart
        self.name = name
        self.file = file
        self.bytes = bytes
    }

    func content(_ range: Range<Int>, wait: DiskWait) async throws -> ResponseBody.Storage {
        if let bytes {
            return .complete(range.count == bytes.count ? bytes : Array(bytes[range]), HTTPHeaders(), nil)
        }
        return .arriving(GuardedBody(CacheFileSource(self, range, wait)))
    }

    /// Reads a block and checks it. If it is damaged, returns `nil` and removes the file.
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

/// A response that is being written. A small one is written when it is complete, a larger one while it
/// arrives.
///
/// Whole blocks are written as soon as `worthWriting` bytes have been collected, after a gap that is left for
/// the head. `commit` writes the remaining bytes and the head, whose checksum covers the length, and moves
/// the file to its name. If it is released before, the file is removed.
private final class DirectoryDraft: CacheDraft {
    private let files: CacheFiles
    private let plan: DraftPlan
    private let wait: DiskWait
    private let state = Locked(State())

    private struct State {
        /// The bytes that have not been written yet, from the start of a block.
        var rest: [UInt8] = []
        var file: FileDraft?
        var blocks = 0
        var length = 0
    }

    init(_ files: CacheFiles, _ plan: DraftPlan, _ wait: DiskWait) {
        self.files = files
        self.plan = plan
        self.wait = wait
    }

    deinit {
        files.release(state.withLock { $0.length })
    }

    func append(_ piece: [UInt8]) async -> Bool {
        let isFull: Bool? = state.withLock { state in
            guard piece.count <= files.objectLimit - state.length, files.reserve(piece.count) else {
                return nil
            }
            state.length += piece.count
            if state.rest.isEmpty { state.rest = piece } else { state.rest += piece }
            return state.rest.count >= Self.worthWriting
        }
        guard let isFull else { return false }
        guard isFull else { return true }
        let isWritten = try? await wait.run(on: files.work, .body) { [self] in
            files.attempt { () throws(SystemError) in try writeBlocks() }
        }
        return isWritten ?? false
    }

    func commit() async {
        let outcome = try? await wait.outcome(on: files.work, .body) { [self] in
            files.attempt { () throws(SystemError) in try finish() }
        }
        if case .failure(let error)? = outcome { files.report(.file(error)) }
    }

    private func writeBlocks() throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            // The size of the head does not depend on the content's length, so it is known in advance.
            guard let front = front(length: 0) else {
                throw SystemError("write", code: 0)
            }
            let file = try file(&state)
            files.makeRoom()
            let whole = state.rest.count / EntryFile.blockSize * EntryFile.blockSize
            try write(state.rest[..<whole], state: &state, file: file, from: front.count)
            state.rest.removeFirst(whole)
        }
    }

    private func finish() throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            guard let front = front(length: state.length) else { return }
            let isNew = state.file == nil
            let file = try file(&state)
            if isNew, state.rest.count <= EntryFile.blockSize {
                let block = state.rest.isEmpty ? [] : EntryFile.block(state.rest[...], index: 0)
                try file.write(front + block, at: 0)
            } else {
                try write(state.rest[...], state: &state, file: file, from: front.count)
                try file.write(front, at: 0)
            }
            let size = front.count + EntryFile.contentSize(state.length)
            // What is complete counts as a file, and no longer as what arrives.
            files.release(state.length)
            (state.rest, state.file, state.length) = ([], nil, 0)
            try files.place(file, for: plan, size: size)
        }
    }

    private func front(length: Int) -> [UInt8]? {
        EntryFile.front(plan, length: length)
    }

    private func file(_ state: inout State) throws(SystemError) -> FileDraft {
        if let file = state.file { return file }
        let file = try files.folder.draft(plan.name)
        state.file = file
        return file
    }

    private func write(
        _ bytes: ArraySlice<UInt8>,
        state: inout State,
        file: FileDraft,
        from contentStart: Int
    ) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let block = EntryFile.block(rest.prefix(EntryFile.blockSize), index: state.blocks)
            try file.write(block, at: UInt64(contentStart + EntryFile.blockOffset(state.blocks)))
            state.blocks += 1
            rest = rest.dropFirst(EntryFile.blockSize)
        }
    }

    /// Several blocks are written at a time, since each write costs a switch to another thread.
    private static let worthWriting = 4 * EntryFile.blockSize
}
