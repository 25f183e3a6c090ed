internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The files of a cache in their folder. All functions block, and run on the threads of `work`.
///
/// - `KEY.r` holds the response for a URL that depends on no field of the request.
/// - `KEY-VARIANT.r` holds a response that depends on some.
/// - `KEY.v` is the index: it says on which fields the responses of the URL depend. The names of the
///   `KEY-VARIANT.r` files contain a random number from the index, so that removing the index makes all of
///   them unreachable at once. The files themselves remain until a sweep evicts them.
/// - `key` has a random number, on which the digests in the names and heads of responses depend. Where it is
///   missing, the files of the former format are removed, whose askers are not known.
/// - `SLOT.m` has the mark of all URLs of a slot (`CacheMark`), a random number. A removal removes it too.
/// - `*.tmp` is a file that is being written.
///
/// Other processes may use the folder at the same time. A file only ever appears complete under its name. The
/// folder is locked (flock(2)) while a response gets its name, and while the files of a URL are removed, but
/// for no longer than these few calls take; a lock that another process keeps is not waited for. Each process
/// counts the files by itself from time to time (`sweep`). A file that fails its checks is removed and
/// reported as damaged.
final class CacheFiles: Sendable {
    let folder: StateFolder
    let objectLimit: Int
    /// The key of the folder's digests.
    let digestKey: [UInt8]
    /// The threads that all of this runs on.
    let work: BlockingWork
    /// The last errors, up to `faultLimit`.
    let faults = Locked<[CacheError]>([])
    private let limits: CacheLimits
    private let usage = Locked(Usage())
    private let sweeping = Locked(())
    /// Locked while a file gets its name, and while a URL's files are removed: no response appears after its
    /// removal.
    private let naming = Locked(())

    /// The known contents of the folder. Other processes may add to it as well.
    private struct Usage {
        var bytes = 0
        var objects = 0
        var isKnown = false
        /// Whether a sweep is about to count the files.
        var isBeingCounted = false
        /// The number of bytes added since the last count.
        var bytesAdded = 0
        var objectsAdded = 0
    }

    init(folder: StateFolder, limits: CacheLimits, work: BlockingWork) {
        self.folder = folder
        self.work = work
        self.limits = limits
        objectLimit = max(0, min(limits.objectBytes, limits.bytes))
        let known: Result<(key: [UInt8], isNew: Bool), SystemError> = Result { () throws(SystemError) in
            try folder.digestKey()
        }
        // Without a key of the folder, what this object stores is for itself.
        digestKey = (try? known.get().key) ?? StateFolder.newDigestKey()
        switch known {
        case .success((_, isNew: true)): work.submit { self.removeFormer() }
        case .success: break
        case .failure(let error): report(.file(error))
        }
    }

    /// Removes the files of the former format. Any that remain, because the process ends, are never read.
    private func removeFormer() {
        _ = attempt { () throws(SystemError) in
            for name in try folder.names() {
                let kind = CacheFileKind(name)
                // What cannot be read is found out where it is asked for.
                guard kind == .response || kind == .index, let file = try? folder.file(name),
                    let start = try? file.bytes(at: 0, count: 8), EntryFile.isFormer(start)
                else { continue }
                delete(name)
            }
        }
    }

    /// Returns the latest response that the request selects, and notes its use in the times of its files.
    func find(_ key: CacheKey, fields: VaryFields) -> DirectoryEntry? {
        var best = fields.asker == .anonymous ? load(key.plainName, key: key, variant: nil) : nil
        if let (index, file) = index(key) {
            for names in index.sets where names.suit(fields) {
                guard let variant = CacheVariant(names, fields, key: digestKey) else { continue }
                guard let other = load(key.name(variant, index: index), key: key, variant: variant) else {
                    continue
                }
                if let found = best, !other.head.isNewer(than: found.head) { continue }
                best = other
            }
            // Without its index a response is never found again.
            if best?.variant.names.names.isEmpty == false { noteUse(of: file) }
        }
        if let best { noteUse(of: best.file) }
        return best
    }

    /// Sets the file's time, by which `sweep` selects what it removes.
    private func noteUse(of file: StateReader) {
        if UnixTime.now.secondsSince(file.time) > Self.touchInterval { file.touch() }
    }

    /// Moves a complete file to its name, and updates the index if the response depends on the request.
    ///
    /// Does nothing if the plan's mark no longer holds, or if another process keeps the folder locked: then
    /// it is not known whether the response is still wanted.
    func place(_ file: FileDraft, for plan: DraftPlan, size: Int) throws(SystemError) {
        let (key, variant) = (plan.key, plan.variant)
        let isPlaced = try whileNaming { isExclusive throws(SystemError) in
            guard isExclusive, try number(of: key) == plan.mark.number else { return false }
            var name = key.plainName
            if !variant.names.names.isEmpty {
                let known = index(key)
                var index = known?.0 ?? VariantIndex()
                if index.note(variant.names) {
                    try write(index, key: key)
                } else if let file = known?.1 {
                    noteUse(of: file)
                }
                name = key.name(variant, index: index)
            }
            try file.place(as: name)
            return true
        }
        if isPlaced { count(size) }
    }

    /// Copies a response with a new head, unless it has been replaced or removed in the meantime.
    func replaceHead(_ entry: DirectoryEntry, with head: CachedHead) {
        _ = attempt { () throws(SystemError) in
            guard
                let front = EntryFile.front(
                    entry.key,
                    variant: entry.variant,
                    head: head,
                    length: entry.length
                )
            else {
                return
            }
            let draft = try folder.draft()
            try draft.write(front, at: 0)
            let size = EntryFile.contentSize(entry.length)
            var copied = 0
            while copied < size {
                let piece = try entry.file.bytes(
                    at: entry.contentStart + copied,
                    count: min(Self.copySize, size - copied)
                )
                guard !piece.isEmpty else { return }
                try draft.write(piece, at: UInt64(front.count + copied))
                copied += piece.count
            }
            let isPlaced = try whileNaming { isExclusive throws(SystemError) in
                guard isExclusive, folder.holds(entry.file, as: entry.name) else { return false }
                try draft.place(as: entry.name)
                return true
            }
            if isPlaced { count(front.count + size) }
        }
    }

    /// The mark is removed first: a process that the lock does not stop finds it gone when it looks.
    func remove(_ key: CacheKey) {
        _ = attempt { () throws(SystemError) in
            try whileNaming { _ throws(SystemError) in
                for name in [key.markName, key.plainName, key.indexName] { delete(name) }
            }
        }
    }

    /// Returns the mark of a URL, and makes one if there is none; `nil` if that fails, which is reported.
    func mark(_ key: CacheKey) -> CacheMark? {
        var mark: CacheMark?
        _ = attempt { () throws(SystemError) in
            let found = try naming.withLock { _ throws(SystemError) in
                if let known = try number(of: key) { return known }
                return try makeMark(for: key)
            }
            mark = CacheMark(number: found)
        }
        return mark
    }

    private func makeMark(for key: CacheKey) throws(SystemError) -> UInt64 {
        let number = SystemRandom.word()
        var bytes = StoredBytesWriter()
        bytes.add(number)
        let draft = try folder.draft()
        try draft.write(bytes.bytes, at: 0)
        try draft.place(as: key.markName)
        return number
    }

    /// Calls `body` while no other thread and, as far as it gets `true`, no other process names or removes
    /// files.
    private func whileNaming<Value>(
        _ body: (_ isExclusive: Bool) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        try naming.withLock { _ throws(SystemError) in try folder.whileLocked(body) }
    }

    /// Returns the number in the file of a URL's mark; `nil` if there is none, or no whole one.
    private func number(of key: CacheKey) throws(SystemError) -> UInt64? {
        guard let file = try folder.file(key.markName) else { return nil }
        var reader = StoredBytesReader(try file.bytes(at: 0, count: 8))
        return reader.number(UInt64.self)
    }

    /// Removes a file. Reports it if that fails: the cache would still answer with a response that should be
    /// gone.
    private func delete(_ name: String) {
        _ = attempt { () throws(SystemError) in _ = try folder.remove(name) }
    }

    func removeAll() {
        _ = attempt { () throws(SystemError) in
            let names = try whileNaming { _ throws(SystemError) in
                let names = try folder.names()
                for name in names where CacheFileKind(name) == .mark { delete(name) }
                return names
            }
            for name in names where ![.foreign, .key].contains(CacheFileKind(name)) { delete(name) }
        }
        usage.withLock { $0 = Usage() }
    }

    /// Runs an operation, and reports its error if it fails. Returns whether it succeeded.
    @inline(never)
    func attempt(_ work: () throws(SystemError) -> Void) -> Bool {
        do throws(SystemError) {
            try work()
            return true
        } catch {
            report(.file(error))
            return false
        }
    }

    private func report(_ fault: CacheError) {
        faults.withLock { faults in
            if faults.count >= Self.faultLimit { faults.removeFirst() }
            faults.append(fault)
        }
    }

    /// Returns the index of a URL, and its file; `nil` if there is none.
    private func index(_ key: CacheKey) -> (VariantIndex, StateReader)? {
        var found: (VariantIndex, StateReader)?
        _ = attempt { () throws(SystemError) in
            guard let file = try folder.file(key.indexName) else { return }
            let bytes = try file.bytes(at: 0, count: min(file.size, Self.indexLimit))
            guard let index = VariantIndex(bytes, key) else {
                return discard(key.indexName, beginningWith: bytes)
            }
            found = (index, file)
        }
        return found
    }

    private func write(_ index: VariantIndex, key: CacheKey) throws(SystemError) {
        let draft = try folder.draft()
        try draft.write(index.bytes(key), at: 0)
        try draft.place(as: key.indexName)
    }

    /// The response in a file; `nil` if the file is missing or is not what its name says.
    private func load(_ name: String, key: CacheKey, variant: CacheVariant?) -> DirectoryEntry? {
        var entry: DirectoryEntry?
        _ = attempt { () throws(SystemError) in
            guard let file = try folder.file(name) else { return }
            entry = try read(file, name: name)
            guard let found = entry else {
                return discard(name, beginningWith: try file.bytes(at: 0, count: 8))
            }
            guard found.key == key, variant.map({ $0 == found.variant }) ?? found.variant.names.names.isEmpty
            else {
                entry = nil
                return discard(name)
            }
        }
        return entry
    }

    private func read(_ file: StateReader, name: String) throws(SystemError) -> DirectoryEntry? {
        let isSmall = file.size <= Self.smallFile
        var bytes = try file.bytes(at: 0, count: isSmall ? file.size : Self.firstPiece)
        guard let frontSize = EntryFile.frontSize(bytes), frontSize <= file.size else { return nil }
        if frontSize > bytes.count { bytes = try file.bytes(at: 0, count: frontSize) }
        guard let front = EntryFile.front(Array(bytes.prefix(frontSize)), fileSize: file.size) else {
            return nil
        }
        guard isSmall, front.length <= EntryFile.blockSize else {
            return DirectoryEntry(self, front, name, file, bytes: nil)
        }
        guard front.length > 0 else { return DirectoryEntry(self, front, name, file, bytes: []) }
        guard let content = EntryFile.content(ofBlock: bytes[frontSize...], index: 0) else { return nil }
        return DirectoryEntry(self, front, name, file, bytes: Array(content))
    }

    /// Removes a damaged file and reports it, unless it begins like one of the former format.
    func discard(_ name: String, beginningWith start: [UInt8] = []) {
        delete(name)
        guard !EntryFile.isFormer(start) else { return }
        report(.damaged(file: name))
    }

    /// The file's time is updated at most once in so many seconds.
    private static let touchInterval: Int64 = 60
    private static let faultLimit = 32
    private static let indexLimit = 64 * 1024
    private static let copySize = 256 * 1024
    private static let smallFile = 96 * 1024
    private static let firstPiece = 16 * 1024
    /// The age in seconds at which a draft counts as abandoned.
    private static let draftLifetime: Int64 = 3600
}

extension CacheFiles {
    /// Counts the files, and if they exceed the limits removes the least recently used down to nine tenths.
    func sweep() {
        sweeping.withLock { _ in sweepAlone() }
    }

    /// Counts and removes. Only one thread at a time may do so.
    private func sweepAlone() {
        var kept: [StateFolder.Facts] = []
        let isDone = attempt { () throws(SystemError) in kept = try tidiedContents() }
        // A sparse file may have any size, so the sum may overflow.
        var bytes = kept.reduce(0) { $0.addingClamped($1.size) }
        var objects = kept.count
        if bytes > limits.bytes || objects > limits.objects {
            kept.sort { $0.time < $1.time }
            for facts in kept {
                guard bytes > limits.bytes / 10 * 9 || objects > limits.objects / 10 * 9 else { break }
                delete(facts.name)
                bytes -= facts.size
                objects -= 1
            }
        }
        usage.withLock { $0 = Usage(bytes: bytes, objects: objects, isKnown: isDone) }
    }

    /// Returns the files that count towards the limits, and removes drafts that a writer has left behind for
    /// more than an hour.
    private func tidiedContents() throws(SystemError) -> [StateFolder.Facts] {
        let now = UnixTime.now
        return try folder.contents().filter { facts in
            switch facts.isRegularFile ? CacheFileKind(facts.name) : .foreign {
            case .response, .index: return true
            case .mark, .key: return false
            case .draft:
                guard now.secondsSince(facts.time) > Self.draftLifetime else { return true }
                delete(facts.name)
                return false
            case .foreign:
                let fault = CacheError.foreign(file: facts.name)
                if !faults.withLock({ $0.contains(fault) }) { report(fault) }
                return false
            }
        }
    }

    /// Notes that a response was added, and sweeps if necessary. What other processes have added shows at the
    /// next count.
    private func count(_ size: Int) {
        let (isTimely, isTooMuch) = usage.withLock { usage in
            usage.bytes += size
            usage.objects += 1
            usage.bytesAdded += size
            usage.objectsAdded += 1
            let isOver = usage.bytes > limits.bytes || usage.objects > limits.objects
            let isLongAgo = usage.bytesAdded > limits.bytes / 16 || usage.objectsAdded > limits.objects / 16
            let isTimely = (!usage.isKnown || isOver || isLongAgo) && !usage.isBeingCounted
            if isTimely { usage.isBeingCounted = true }
            return (isTimely, isOver || isLongAgo)
        }
        guard isTimely else { return }
        if isTooMuch { sweep() } else { work.submit { self.sweep() } }
    }
}

extension CacheKey {
    fileprivate var markName: String { Hex.encode([slot]) + ".m" }
    fileprivate var plainName: String { digest.text + ".r" }
    fileprivate var indexName: String { digest.text + ".v" }

    fileprivate func name(_ variant: CacheVariant, index: VariantIndex) -> String {
        let mixed = Digest128(high: 0, low: variant.digest.low ^ index.generation)
        return digest.text + "-" + mixed.text.suffix(16) + ".r"
    }
}

extension StateFolder {
    /// Returns the key of a cache's folder, and whether this call has made it.
    ///
    /// If two processes make one at the same time, the later one counts from the next opening on. The other
    /// process finds only what it has stored itself until then.
    fileprivate func digestKey() throws(SystemError) -> (key: [UInt8], isNew: Bool) {
        try whileLocked { _ throws(SystemError) in
            let known = try file(CacheFileKind.keyName)?.bytes(at: 0, count: Self.keySize + 1)
            if let known, known.count == Self.keySize { return (known, false) }
            let key = Self.newDigestKey()
            let draft = try draft()
            try draft.write(key, at: 0)
            try draft.place(as: CacheFileKind.keyName)
            return (key, true)
        }
    }

    fileprivate static func newDigestKey() -> [UInt8] {
        var bytes = StoredBytesWriter()
        for _ in 0..<keySize / 8 { bytes.add(SystemRandom.word()) }
        return bytes.bytes
    }

    private static let keySize = 32
}
