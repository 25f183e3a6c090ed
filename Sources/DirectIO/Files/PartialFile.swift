#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A file that is filled over several runs of a program and renamed to its final path when it is complete,
/// and the record beside it.
///
/// One process, and one user within a process, has the file at a time: the lock ends with the descriptor,
/// even if the process is killed. Every call blocks. The methods may be called from any thread, but not at
/// the same time.
///
/// The record begins with a title, and is written before the first byte of the file. Whether the file is the
/// one of the record only its bytes tell: inodes get their numbers again, and a copy has others. So bytes
/// that were found (``isFound``) are compared with the record before anything else is done with the file, and
/// if they differ both are left alone (``another()``). Nor must another user decide how the file begins:
/// what is under its name, or under that of the record, is used only if it is a regular file of this
/// process's user, which no other user can write to and which has no other name. In place of what is left
/// alone, a file is filled that is for a single run. The same happens where the file cannot be locked, and on
/// a file system that shows files with other owners or permissions than they were made with.
package final class PartialFile: @unchecked Sendable {
    private let draft: FileDraft
    /// `nil` if the file is filled in this run or never.
    private var record: FilePlace?
    private let owner: Owner
    /// Whether there are bytes in the file that its record has to prove: call ``adopt()`` if it does, or
    /// ``another()``, before the file is changed.
    package private(set) var isFound: Bool

    /// The owner of the files that are used.
    package struct Owner: Sendable {
        let user: UInt32
        let title: [UInt8]

        /// - Parameter title: What every record begins with.
        /// - Parameter user: The user who has made the files.
        package init(title: [UInt8], user: UInt32 = geteuid()) {
            (self.title, self.user) = (title, user)
        }
    }

    /// Whether another run can continue the file.
    package var canBeContinued: Bool { record != nil }

    private enum Candidate {
        case usable(FileDraft, isFound: Bool)
        case inUse
        /// It has been renamed or removed meanwhile.
        case gone
        case unusable
    }

    /// Opens and locks the file for this path. The file is created if necessary.
    ///
    /// Returns `nil` if another user has locked it.
    ///
    /// - Parameter mode: The permissions that a new file gets with its final name, from which the process's
    ///   umask is subtracted.
    /// - Parameter stem: Returns the name of the file up to `.part`, from that of the final file.
    package static func open(
        _ path: String,
        mode: UInt16,
        of owner: Owner,
        stem: (String) -> String = { $0 }
    ) throws(SystemError) -> PartialFile? {
        let target = try FilePlace(replaceable: path)
        let part = target.sibling(stem(target.name) + ".part")
        let record = part.sibling(part.name + ".info")
        record.removeLeftovers()
        for _ in 0..<attempts {
            switch candidate(part, record, for: target, mode: mode, of: owner) {
            case .usable(let draft, let isFound):
                target.removeLeftovers()
                return PartialFile(draft, record, owner, isFound: isFound)
            case .inUse: return nil
            case .gone: continue
            case .unusable: return PartialFile(try FileDraft(target, mode: mode), nil, owner)
            }
        }
        throw SystemError("open", code: ENOENT, path: part.path)
    }

    /// The number of times a file may disappear between two calls before that is an error.
    private static let attempts = 100

    private init(_ draft: FileDraft, _ record: FilePlace?, _ owner: Owner, isFound: Bool = false) {
        (self.draft, self.record, self.owner, self.isFound) = (draft, record, owner, isFound)
    }

    deinit {
        // The lock ends with the draft's descriptor, unless a process that is being started has a copy.
        let draft = draft
        BlockingWork.shared.submit { _ = flock(draft.descriptor, LOCK_UN) }
    }

    /// Unlocks the file. It must not be used afterwards.
    package func close() {
        // A process that is being started has a copy of the descriptor until its exec, and a copy would keep
        // the lock.
        _ = flock(draft.descriptor, LOCK_UN)
    }

    /// Unlocks the file, which stays as it is, and returns one for a single run that takes its place.
    package func another() throws(SystemError) -> PartialFile {
        close()
        return PartialFile(try draft.another(), nil, owner)
    }

    /// Takes the bytes that were found, since the record proves them, and completes what a process has left
    /// that was killed as it gave the file its final name. Returns whether the file still has to get that.
    package func adopt() throws(SystemError) -> Bool {
        if draft.replaces(draft.descriptor) {
            try remove()
            return false
        }
        // It may have the attributes that go with the name.
        try draft.takeBackName()
        isFound = try !stat(of: draft.descriptor).isPrivate(to: owner.user)
        return !isFound
    }

    /// Returns up to `count` bytes from this offset; none at the end of the file.
    package func read(at offset: UInt64, count: Int) throws(SystemError) -> [UInt8] {
        try readAll(count, from: draft.descriptor, at: offset)
    }

    /// Writes all bytes at this offset.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
        try draft.write(bytes, at: offset)
    }

    /// Cuts the file off after this many bytes.
    package func truncate(to size: UInt64) throws(SystemError) {
        _ = try checked("ftruncate", path: draft.place?.path) {
            ftruncate(draft.descriptor, off_t(clamping: size))
        }
    }

    /// Returns when all bytes are on disk.
    package func settle() throws(SystemError) {
        try draft.settle()
    }

    /// Gives the file its final path, where it replaces any file. Call ``settle()`` first.
    ///
    /// - Throws: `ENOENT` or `ESTALE` if the file has been removed, or another one is in its place.
    package func commit() throws(SystemError) {
        try draft.commit()
        try draft.confirm()
    }

    /// Removes the file, and then the record, without which it would seem to be another program's.
    package func remove() throws(SystemError) {
        try draft.removeName()
        try removeRecord()
    }
}

/// The record, which says what the file is.
extension PartialFile {
    /// Returns the record; `nil` if there is none.
    package func readRecord(limit: Int) throws(SystemError) -> [UInt8]? {
        guard let record else { return nil }
        return try StateFile.read(record, limit: limit)
    }

    /// Replaces the record, which has to begin with the title. Call this before the file is written.
    package func saveRecord(_ bytes: [UInt8]) throws(SystemError) {
        guard try draft.hasItsName else {
            // Beside another file the record would say that it is this one.
            try removeRecord()
            return record = nil
        }
        try changeRecord { record throws(SystemError) in
            try StateFile.replace(record, with: bytes)
        }
    }

    /// Removes the record. It need not exist.
    package func removeRecord() throws(SystemError) {
        try changeRecord { record throws(SystemError) in try record.remove() }
    }

    /// Changes the record, unless what has its name is another file.
    private func changeRecord(_ change: (FilePlace) throws(SystemError) -> Void) throws(SystemError) {
        guard let record else { return }
        do throws(SystemError) {
            guard try Recorded(record, owner) != .foreign else { return self.record = nil }
            try change(record)
        } catch {
            guard (try? Recorded(record, owner)) == .foreign else { throw error }
            // Another user has taken its name meanwhile. The file is as good without it, in this run.
            self.record = nil
        }
    }
}

/// The decision whether a file is used.
extension PartialFile {
    private static func candidate(
        _ part: FilePlace,
        _ record: FilePlace,
        for target: FilePlace,
        mode: UInt16,
        of owner: Owner
    ) -> Candidate {
        // O_NONBLOCK: the name may be that of a pipe, which would have to wait for a writer.
        var (file, code) = part.open(O_RDWR | O_NONBLOCK)
        let isNew = code == ENOENT
        if isNew { (file, code) = part.open(O_RDWR | O_CREAT | O_EXCL, mode: FileDraft.hiddenMode) }
        if code == EEXIST { return .gone }
        // If the folder is the reason, creating a file of another name fails as well.
        guard file != -1 else { return .unusable }
        let draft = FileDraft(file, at: part, for: target, mode: mode)
        let candidate = (try? examine(draft, isNew: isNew, record, target, of: owner)) ?? .unusable
        if case .usable = candidate { return candidate }
        // The descriptor is closed later.
        _ = flock(file, LOCK_UN)
        if case .unusable = candidate, isNew { _ = try? part.remove() }
        return candidate
    }

    private static func examine(
        _ draft: FileDraft,
        isNew: Bool,
        _ record: FilePlace,
        _ target: FilePlace,
        of owner: Owner
    ) throws(SystemError) -> Candidate {
        let lock = FileLock.take(draft.descriptor)
        let own = try stat(of: draft.descriptor)
        let recorded = try Recorded(record, owner)
        let isOwn = try own.st_nlink == 2 ? isAlmostNamed(own, target, owner) : own.isPrivate(to: owner.user)
        guard isOwn, recorded != .foreign, !isNew || own.permissions == FileDraft.hiddenMode
        else { return .unusable }
        guard lock == .taken else { return lock == .inUse ? .inUse : .unusable }
        // The former user may have renamed or removed the file between the two calls. Then the lock is
        // worthless.
        guard let place = draft.place, try place.holds(own) else { return .gone }
        guard own.st_size > 0 else { return .usable(draft, isFound: false) }
        return recorded == .own ? .usable(draft, isFound: true) : .unusable
    }

    /// Whether a process may have left the file that was killed as it gave it the final name.
    private static func isAlmostNamed(_ own: stat, _ target: FilePlace, _ owner: Owner)
        throws(SystemError) -> Bool
    {
        guard own.isRegularFile, own.st_size > 0 else { return false }
        if try target.holds(own) { return true }
        guard own.st_uid == owner.user else { return false }
        return try target.draftName(of: own) != nil
    }
}

extension stat {
    fileprivate func isPrivate(to user: UInt32) -> Bool { isPrivate && st_uid == user }
}

/// The file under the name of a record.
private enum Recorded {
    case nothing
    case own
    /// It is no record of this owner.
    case foreign

    init(_ record: FilePlace, _ owner: PartialFile.Owner) throws(SystemError) {
        self = .nothing
        guard let facts = try record.factsOfWhole() else { return }
        self = .foreign
        guard facts.isPrivate(to: owner.user), let reader = try StateReader(record) else { return }
        if try reader.bytes(at: 0, count: owner.title.count) == owner.title { self = .own }
    }
}
