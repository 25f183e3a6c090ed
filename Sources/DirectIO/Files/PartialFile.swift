#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import CDirectLinux

/// A file that is filled over several runs of a program and renamed to its final path when it is complete,
/// and the record beside it.
///
/// One process, and one user within a process, has the file at a time: the lock ends with the descriptor,
/// even if the process is killed. Every call blocks. The methods may be called from any thread, but not at
/// the same time.
///
/// The record is written before the first byte of the file, begins with a title, and names the file by its
/// inode and the time of its creation. What is there without such a record, or after the record was written,
/// is not of this package, and is left alone. Where there is no such time (NFS, FUSE), only the contents tell
/// (``isCertain``). Nor must another user decide how the file begins:
/// what is under its name, or under that of the record, is used only if it is a regular file of this
/// process's user, which no other user can write to and which has no other name. In place of what is left
/// alone, a file is filled that is for a single run. The same happens where the file cannot be locked, and on
/// a file system that shows files with other owners or permissions than they were made with.
package final class PartialFile: @unchecked Sendable {
    private let draft: FileDraft
    /// `nil` if the file is filled in this run or never.
    private var record: FilePlace?
    private let owner: Owner
    /// What the record of this file begins with: the title, and the file. Empty without a record.
    private let heading: [UInt8]
    /// Whether it is known that the file is that of its record. If not, what is not as the record says must
    /// be left alone (``another()``).
    package let isCertain: Bool

    /// The owner of the files that are used.
    package struct Owner: Sendable {
        let user: UInt32
        let title: [UInt8]
        /// Returns the time at which an open file was created; 0 for an unknown one.
        let created: @Sendable (Int32) -> Int64

        /// - Parameter title: What every record begins with, as bytes without an end of line.
        /// - Parameter user: The user who has made the files.
        package init(
            title: [UInt8],
            user: UInt32 = geteuid(),
            created: @escaping @Sendable (Int32) -> Int64 = timeOfCreation
        ) {
            (self.title, self.user, self.created) = (title, user, created)
        }
    }

    /// Whether another run can continue the file.
    package var canBeContinued: Bool { record != nil }

    private enum Candidate {
        case usable(FileDraft, heading: [UInt8], isCertain: Bool)
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
        for _ in 0..<attempts {
            switch candidate(part, record, for: target, mode: mode, of: owner) {
            case .usable(let draft, let heading, let isCertain):
                target.removeLeftovers()
                return PartialFile(draft, record, owner, heading: heading, isCertain: isCertain)
            case .inUse: return nil
            case .gone: continue
            case .unusable: return PartialFile(try FileDraft(target, mode: mode), nil, owner)
            }
        }
        throw SystemError("open", code: ENOENT, path: part.path)
    }

    /// The number of times a file may disappear between two calls before that is an error.
    private static let attempts = 100

    private init(
        _ draft: FileDraft,
        _ record: FilePlace?,
        _ owner: Owner,
        heading: [UInt8] = [],
        isCertain: Bool = true
    ) {
        (self.draft, self.record, self.owner) = (draft, record, owner)
        (self.heading, self.isCertain) = (heading, isCertain)
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
    /// Returns the record; `nil` if there is none of this file.
    package func readRecord(limit: Int) throws(SystemError) -> [UInt8]? {
        guard let record, let bytes = try StateFile.read(record, limit: limit + heading.count),
            bytes.starts(with: heading)
        else { return nil }
        return owner.title + bytes.dropFirst(heading.count)
    }

    /// Makes the record one that counts no byte. Call this before the file is written.
    package func claim() throws(SystemError) {
        try saveRecord(owner.title)
    }

    /// Replaces the record, which has to begin with the title.
    package func saveRecord(_ bytes: [UInt8]) throws(SystemError) {
        let bytes = heading + bytes.dropFirst(owner.title.count)
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

    /// Changes the record, unless what has its name begins otherwise: that is another file.
    private func changeRecord(_ change: (FilePlace) throws(SystemError) -> Void) throws(SystemError) {
        guard let record else { return }
        do throws(SystemError) {
            let present = try StateReader(record)
            if let present, try present.bytes(at: 0, count: heading.count) != heading {
                return self.record = nil
            }
            try change(record)
        } catch {
            guard (try? Self.isUsable(record, of: owner.user)) == false else { throw error }
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
        let (heading, isCertain) = try owner.heading(of: draft)
        let recorded = try isUsable(record, of: owner.user) ? Recorded(record, owner, heading) : .foreign
        if lock == .taken, recorded == .thisFile, try isAlreadyNamed(draft, target) { return .gone }
        let own = try stat(of: draft.descriptor)
        guard own.isPrivate, own.st_uid == owner.user, recorded != .foreign,
            !isNew || own.permissions == FileDraft.hiddenMode
        else { return .unusable }
        guard lock == .taken else { return lock == .inUse ? .inUse : .unusable }
        // The former user may have renamed or removed the file between the two calls. Then the lock is
        // worthless.
        guard let place = draft.place, try place.holds(own) else { return .gone }
        // The file of the record is gone. What has its name now is new, or another program's.
        if recorded == .anotherFile { try record.remove() }
        let isEmpty = own.st_size == 0
        guard recorded == .thisFile || isNew || recorded == .nothing && isEmpty else { return .unusable }
        return .usable(draft, heading: heading, isCertain: isCertain || isEmpty)
    }

    /// Completes what a process has left that was killed as it gave the file its final name. Returns whether
    /// the file had it.
    private static func isAlreadyNamed(_ draft: FileDraft, _ target: FilePlace) throws(SystemError) -> Bool {
        let own = try stat(of: draft.descriptor)
        guard own.st_nlink == 2 else { return false }
        if try target.holds(own) {
            try draft.removeName()
            return true
        }
        // It may have the attributes that go with the name.
        if try target.removeDraftName(of: own) { draft.hide() }
        return false
    }

    private static func isUsable(_ record: FilePlace, of user: UInt32) throws(SystemError) -> Bool {
        try record.factsOfWhole().map { $0.isPrivate && $0.st_uid == user } ?? true
    }
}

/// The file that a record is of.
private enum Recorded {
    case nothing
    case thisFile
    case anotherFile
    /// It is no record of this owner.
    case foreign

    init(_ record: FilePlace, _ owner: PartialFile.Owner, _ heading: [UInt8]) throws(SystemError) {
        guard let reader = try StateReader(record) else {
            self = .nothing
            return
        }
        let start = try reader.bytes(at: 0, count: heading.count)
        self = start == heading ? .thisFile : start.starts(with: owner.title) ? .anotherFile : .foreign
    }
}

extension PartialFile.Owner {
    /// What the record of this file begins with, and whether that can be said of no other file. An inode's
    /// number is given again once a file is removed, so the time of creation goes with it.
    fileprivate func heading(of draft: FileDraft) throws(SystemError) -> (bytes: [UInt8], isCertain: Bool) {
        let (inode, created) = (try stat(of: draft.descriptor).st_ino, created(draft.descriptor))
        let name = created == 0 ? "file unknown\n" : "file \(inode) \(created)\n"
        return (title + Array(name.utf8), created != 0)
    }

    /// The time at which an open file was created, in nanoseconds since 1970; 0 where the file system has no
    /// such time.
    package static let timeOfCreation: @Sendable (Int32) -> Int64 = { descriptor in
        #if canImport(Darwin)
        let created = (try? stat(of: descriptor))?.st_birthtimespec ?? timespec()
        return Int64(created.tv_sec) * 1_000_000_000 + Int64(created.tv_nsec)
        #else
        return direct_creation_time(descriptor)
        #endif
    }
}
