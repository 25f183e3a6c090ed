internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The files of a cache in their folder. All functions block, and run on the threads of `work`.
///
/// - `KEY.r` holds the response for a URL that depends on no field of the request.
/// - `KEY-VARIANT.r` holds a response that depends on some.
/// - `KEY.v` is the index: it says on which fields the responses of the URL depend.
/// - `direct-http-cache-key` has a random number, on which the digests in the names and heads of responses
///   depend. Where it is missing, the files of the former format are removed, whose askers are not known.
/// - `direct-http-cache-marks` has the marks of all URLs (`CacheMarks`). A response whose mark is not that of
///   its URL is from before a change: it is not used, and remains until its successor replaces it or a sweep
///   evicts it.
///
/// Other processes may use the folder at the same time. A file only ever appears complete under its name, and
/// nothing is locked but what has a temporary name. Each process counts the files by itself from time to time
/// (`sweep`), and what it is still receiving counts as well. A file that fails its checks is removed and
/// reported as damaged; one of an older version is replaced, and one of a newer version is left alone.
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
    private let marks: CacheMarks

    /// The known contents of the folder. Other processes may add to it as well.
    private struct Usage {
        var bytes = 0
        var objects = 0
        /// The bytes of responses that are still being received.
        var arriving = 0
        var isKnown = false
        /// Whether a sweep is about to count the files.
        var isBeingCounted = false
        /// The number of bytes added since the last count.
        var bytesAdded = 0
        var objectsAdded = 0

        func exceeds(_ limits: CacheLimits) -> Bool {
            bytes.addingClamped(arriving) > limits.bytes || objects > limits.objects
        }
    }

    init(folder: StateFolder, limits: CacheLimits, work: BlockingWork) {
        self.folder = folder
        self.work = work
        self.limits = limits
        objectLimit = max(0, min(limits.objectBytes, limits.bytes))
        marks = .of(folder)
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
                // A file that cannot be read is found out where it is asked for.
                guard kind == .response || kind == .index, let file = try? folder.file(name),
                    let start = try? file.bytes(at: 0, count: 8),
                    EntryFile.age(start) == .older || VariantIndex.age(start) == .older
                else { continue }
                delete(name)
            }
        }
    }

    /// Returns the latest response that the request selects, and notes its use in the times of its files.
    func find(_ key: CacheKey, fields: VaryFields) -> DirectoryEntry? {
        var found: [DirectoryEntry] = []
        if fields.asker.isAnonymous, let plain = load(key.plainName, key: key, variant: nil) {
            found.append(plain)
        }
        let index = index(key)
        for names in index?.0.sets ?? [] where names.suit(fields) {
            guard let variant = CacheVariant(names, fields, key: digestKey) else { continue }
            if let entry = load(key.name(variant), key: key, variant: variant) { found.append(entry) }
        }
        // Looked at last: what is used was not removed before it was found.
        guard !found.isEmpty, let mark = presentMark(of: key) else { return nil }
        let best = found.filter { $0.mark == mark }.max { $1.head.isNewer(than: $0.head) }
        // Without its index a response is never found again.
        if let file = index?.1, best?.variant.names.names.isEmpty == false { noteUse(of: file) }
        if let best { noteUse(of: best.file) }
        return best
    }

    private func presentMark(of key: CacheKey) -> CacheMark? {
        var mark: CacheMark?
        _ = attempt { () throws(SystemError) in mark = try marks.mark(of: key) }
        return mark
    }

    /// Sets the file's time, by which `sweep` selects what it removes.
    private func noteUse(of file: StateReader) {
        let now = UnixTime.now
        // A time in the future is that of a clock which was set back since.
        if file.time > now || now.secondsSince(file.time) > Self.touchInterval { file.touch() }
    }

    /// Gives a complete file its name, and updates the index if the response depends on the request.
    ///
    /// Does nothing if the plan's mark no longer holds, so that the response would not be used, and if a
    /// later response is there.
    func place(_ file: FileDraft, for plan: DraftPlan, size: Int) throws(SystemError) {
        let (key, names) = (plan.key, plan.variant.names)
        guard try marks.mark(of: key) == plan.mark else { return }
        if let present = load(plan.name, key: key, variant: names.names.isEmpty ? nil : plan.variant),
            present.mark == plan.mark, !plan.head.replaces(present.head)
        {
            return
        }
        guard try makeWay(at: plan.name) else { return }
        if !names.names.isEmpty {
            let known = index(key)
            var index = known?.0 ?? VariantIndex()
            if index.note(names) {
                guard try makeWay(at: key.indexName) else { return }
                let draft = try folder.draft(key.indexName)
                try draft.write(index.bytes(key), at: 0)
                try draft.commit()
            } else if let file = known?.1 {
                noteUse(of: file)
            }
        }
        try file.commit()
        count(size)
    }

    /// Copies a response with a new head, unless it has been replaced or removed in the meantime.
    ///
    /// The copy has the mark of the original. So it is not used if a removal comes at the last moment.
    func replaceHead(_ entry: DirectoryEntry, with head: CachedHead) {
        _ = attempt { () throws(SystemError) in
            let plan = DraftPlan(
                key: entry.key,
                variant: entry.variant,
                mark: entry.mark,
                head: head,
                length: UInt64(entry.length)
            )
            guard let front = EntryFile.front(plan, length: entry.length) else { return }
            let draft = try folder.draft(entry.name)
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
            guard try marks.mark(of: entry.key) == entry.mark, folder.holds(entry.file, as: entry.name) else {
                return
            }
            try draft.commit()
            count(front.count + size)
        }
    }

    /// Notes that all responses of a URL, or all there are, are about to be removed. Does not block.
    func willRemove(_ key: CacheKey?) {
        if let key { marks.willReplace(key) } else { marks.willRemoveAll() }
    }

    /// With its mark all responses of a URL are gone. The removal of files only makes room.
    func remove(_ key: CacheKey) {
        _ = attempt { () throws(SystemError) in try marks.replace(key) }
        for name in [key.plainName, key.indexName] { delete(name) }
    }

    /// Returns the mark of a URL, and makes one if there is none; `nil` if that fails, which is reported.
    func mark(_ key: CacheKey) -> CacheMark? {
        var mark: CacheMark?
        _ = attempt { () throws(SystemError) in mark = try marks.make(for: key) }
        return mark
    }

    /// Removes a file, and reports it if that fails.
    private func delete(_ name: String) {
        _ = attempt { () throws(SystemError) in _ = try folder.remove(name) }
    }

    func removeAll() {
        _ = attempt { () throws(SystemError) in try marks.removeAll() }
        _ = attempt { () throws(SystemError) in
            for name in try folder.names() where ![.foreign, .marks, .key].contains(CacheFileKind(name)) {
                delete(name)
            }
        }
        usage.withLock { $0 = Usage(arriving: $0.arriving) }
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

    func report(_ fault: CacheError) {
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
                return discard(key.indexName, of: VariantIndex.age(bytes))
            }
            found = (index, file)
        }
        return found
    }

    /// Whether a file may get this name: one that a newer version of the package has made stays.
    private func makeWay(at name: String) throws(SystemError) -> Bool {
        guard let bytes = try folder.fileToReplace(name)?.bytes(at: 0, count: 8) else { return true }
        return EntryFile.age(bytes) != .newer && VariantIndex.age(bytes) != .newer
    }

    /// The response in a file; `nil` if the file is missing or is not what its name says.
    private func load(_ name: String, key: CacheKey, variant: CacheVariant?) -> DirectoryEntry? {
        var entry: DirectoryEntry?
        _ = attempt { () throws(SystemError) in
            guard let file = try folder.file(name) else { return }
            entry = try read(file, name: name)
            guard let found = entry else {
                return discard(name, of: EntryFile.age(try file.bytes(at: 0, count: 8)))
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

    /// Removes a file that cannot be used, and reports it unless it is of an older version. One of a newer
    /// version stays.
    func discard(_ name: String, of age: StoredFormat.Age = .same) {
        guard age != .newer else { return }
        delete(name)
        if age != .older { report(.damaged(file: name)) }
    }

    /// The file's time is updated at most once in so many seconds.
    private static let touchInterval: Int64 = 60
    private static let faultLimit = 32
    private static let indexLimit = 64 * 1024
    private static let copySize = 256 * 1024
    private static let smallFile = 96 * 1024
    private static let firstPiece = 16 * 1024
    /// The number of responses that a URL may have in a full cache.
    private static let variantLimit = 32
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
        var found = Usage(bytes: kept.reduce(0) { $0.addingClamped($1.size) }, objects: kept.count)
        found.arriving = usage.withLock { $0.arriving }
        if found.exceeds(limits) {
            let goal = CacheLimits(
                bytes: max(0, limits.bytes / 10 * 9 - found.arriving),
                objects: limits.objects / 10 * 9,
                objectBytes: 0
            )
            for facts in evictable(kept) {
                guard found.bytes > goal.bytes || found.objects > goal.objects else { break }
                delete(facts.name)
                found.bytes -= facts.size
                found.objects -= 1
            }
        }
        usage.withLock {
            $0 = Usage(bytes: found.bytes, objects: found.objects, arriving: $0.arriving, isKnown: isDone)
        }
    }

    /// Returns the files in the order in which they are evicted: first those of a URL that has too many, and
    /// then the least recently used. A time in the future says nothing of their use.
    private func evictable(_ files: [StateFolder.Facts]) -> [StateFolder.Facts] {
        let now = UnixTime.now.seconds
        let latest = files.sorted { left, right in
            let isLate = (left.time / 1_000_000_000 > now, right.time / 1_000_000_000 > now)
            return isLate.0 == isLate.1 ? left.time > right.time : isLate.1
        }
        var counts: [Substring: Int] = [:]
        var (surplus, others): ([StateFolder.Facts], [StateFolder.Facts]) = ([], [])
        for file in latest {
            let count = counts[file.name.prefix(32), default: 0] + 1
            counts[file.name.prefix(32)] = count
            if count > Self.variantLimit { surplus.append(file) } else { others.append(file) }
        }
        return surplus.reversed() + others.reversed()
    }

    /// Returns the files that count towards the limits, and removes what killed writers have left behind.
    private func tidiedContents() throws(SystemError) -> [StateFolder.Facts] {
        let (files, unknown) = try folder.contents()
        for name in unknown { reportOnce(.foreign(file: name)) }
        return files.filter { facts in
            switch facts.isRegularFile ? CacheFileKind(facts.name) : .foreign {
            case .response, .index: return true
            case .marks, .key: return false
            // One that is locked is being written, and counted by its writer.
            case .draft:
                _ = folder.removeIfAbandoned(facts.name)
                return false
            case .foreign:
                reportOnce(.foreign(file: facts.name))
                return false
            }
        }
    }

    private func reportOnce(_ fault: CacheError) {
        if !faults.withLock({ $0.contains(fault) }) { report(fault) }
    }

    /// Reserves room for what is about to arrive; returns `false` if there is none. It counts towards the
    /// limits until `release` is called.
    func reserve(_ size: Int) -> Bool {
        usage.withLock { usage in
            guard size <= limits.bytes - usage.arriving else { return false }
            usage.arriving += size
            return true
        }
    }

    func release(_ size: Int) {
        usage.withLock { $0.arriving -= size }
    }

    /// Sweeps if what arrives no longer fits.
    func makeRoom() {
        if usage.withLock({ $0.exceeds(limits) || !$0.isKnown }) { sweep() }
    }

    /// Notes that a response was added, and sweeps if necessary. What other processes have added shows at the
    /// next count.
    private func count(_ size: Int) {
        let (isTimely, isTooMuch) = usage.withLock { usage in
            usage.bytes += size
            usage.objects += 1
            usage.bytesAdded += size
            usage.objectsAdded += 1
            let isOver = usage.exceeds(limits)
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
    fileprivate var plainName: String { digest.text + ".r" }
    fileprivate var indexName: String { digest.text + ".v" }

    fileprivate func name(_ variant: CacheVariant) -> String {
        digest.text + "-" + Digest128(high: 0, low: variant.digest.low).text.suffix(16) + ".r"
    }
}

extension DraftPlan {
    /// The name of the response's file.
    var name: String { variant.names.names.isEmpty ? key.plainName : key.name(variant) }
}
