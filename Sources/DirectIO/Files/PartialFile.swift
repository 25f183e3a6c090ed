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
/// Another user must not decide how the file begins. What is under its name, or under that of the record, is
/// used only if it is a regular file of this process's user, which no other user can write to and which has
/// no other name. Anything else is left alone, and the file is filled under a random name in a single run.
/// The same happens where the file cannot be locked, and on a file system that shows files with other owners
/// or permissions than they were made with.
package final class PartialFile: @unchecked Sendable {
    private let draft: FileDraft
    /// `nil` if the file is filled in this run or never.
    private var record: FilePlace?
    private let user: UInt32

    /// Whether another run can continue the file.
    package var canBeContinued: Bool { record != nil }

    private enum Candidate {
        case usable(FileDraft)
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
    /// - Parameter user: The user whose files are used.
    /// - Parameter stem: Returns the name of the file up to `.part`, from that of the final file.
    package static func open(
        _ path: String,
        mode: UInt16,
        of user: UInt32 = geteuid(),
        stem: (String) -> String = { $0 }
    ) throws(SystemError) -> PartialFile? {
        let target = try FilePlace(replaceable: path)
        let part = target.sibling(stem(target.name) + ".part")
        let record = part.sibling(part.name + ".info")
        for _ in 0..<attempts {
            switch candidate(part, record, for: target, mode: mode, of: user) {
            case .usable(let draft): return PartialFile(draft, record, user)
            case .inUse: return nil
            case .gone: continue
            case .unusable: return PartialFile(try FileDraft(target, mode: mode), nil, user)
            }
        }
        throw SystemError("open", code: ENOENT, path: part.path)
    }

    /// How often a file may disappear between two calls before that is an error.
    private static let attempts = 100

    private init(_ draft: FileDraft, _ record: FilePlace?, _ user: UInt32) {
        (self.draft, self.record, self.user) = (draft, record, user)
    }

    deinit {
        close()
    }

    /// Unlocks the file. It must not be used afterwards.
    package func close() {
        // A process that is being started has a copy of the descriptor until its exec, and a copy would keep
        // the lock.
        _ = flock(draft.descriptor, LOCK_UN)
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
        _ = try checked("ftruncate", path: draft.place.path) {
            ftruncate(draft.descriptor, off_t(clamping: size))
        }
    }

    /// Returns when all bytes are on disk.
    package func settle() throws(SystemError) {
        try draft.settle()
    }

    /// Renames the file to its final path, where it replaces any file. Call ``settle()`` first.
    package func commit() throws(SystemError) {
        try draft.commit()
    }

    /// Removes the file.
    package func remove() throws(SystemError) {
        try draft.place.remove()
    }
}

/// The record, which says what the file is.
extension PartialFile {
    /// Returns the record; `nil` if there is none.
    package func readRecord(limit: Int) throws(SystemError) -> [UInt8]? {
        guard let record else { return nil }
        return try StateFile.read(record, limit: limit)
    }

    /// Replaces the record.
    package func saveRecord(_ bytes: [UInt8]) throws(SystemError) {
        try changeRecord { record throws(SystemError) in try StateFile.replace(record, with: bytes) }
    }

    /// Removes the record. It need not exist.
    package func removeRecord() throws(SystemError) {
        try changeRecord { record throws(SystemError) in try record.remove() }
    }

    private func changeRecord(_ change: (FilePlace) throws(SystemError) -> Void) throws(SystemError) {
        guard let record else { return }
        do throws(SystemError) {
            try change(record)
        } catch {
            guard (try? Self.isUsable(record, of: user)) == false else { throw error }
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
        of user: UInt32
    ) -> Candidate {
        // O_NONBLOCK: the name may be that of a pipe, which would have to wait for a writer.
        var (file, code) = part.open(O_RDWR | O_NONBLOCK)
        let isNew = code == ENOENT
        if isNew { (file, code) = part.open(O_RDWR | O_CREAT | O_EXCL, mode: FileDraft.hiddenMode) }
        if code == EEXIST { return .gone }
        // If the folder is the reason, creating a file of another name fails as well.
        guard file != -1 else { return .unusable }
        let draft = FileDraft(continuing: part, file, target: target, mode: mode)
        let candidate = (try? examine(draft, record, of: user)) ?? .unusable
        if case .unusable = candidate, isNew { _ = try? part.remove() }
        return candidate
    }

    private static func examine(_ draft: FileDraft, _ record: FilePlace, of user: UInt32)
        throws(SystemError) -> Candidate
    {
        let own = try stat(of: draft.descriptor)
        guard own.isPrivate, own.st_uid == user, try isUsable(record, of: user) else { return .unusable }
        let (result, code) = retryingInterrupts { flock(draft.descriptor, LOCK_EX | LOCK_NB) }
        if result == -1 { return code == EWOULDBLOCK ? .inUse : .unusable }
        // The former user may have renamed or removed the file between the two calls. Then the lock is
        // worthless.
        let found = try draft.place.facts()
        return found?.st_ino == own.st_ino && found?.st_dev == own.st_dev ? .usable(draft) : .gone
    }

    private static func isUsable(_ record: FilePlace, of user: UInt32) throws(SystemError) -> Bool {
        try record.facts().map { $0.isPrivate && $0.st_uid == user } ?? true
    }
}
