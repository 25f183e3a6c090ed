#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore

/// The names that a file may have before its final one.
///
/// They are the same at each start, and the file of one in use is locked (flock(2)). So a file without a
/// lock is one that a killed process has left, and the next writer removes it. A random name is for the case
/// that all of them are in use, or that another user has made files of these names.
extension FilePlace {
    /// The fixed names for this target, and a random one.
    var draftPlaces: [FilePlace] {
        fixedDraftPlaces + [sibling(".\(Hex.encode(padded: SystemRandom.word()))\(Self.draftMark)")]
    }

    private var fixedDraftPlaces: [FilePlace] {
        var hash = FoldedHash(start: 0x9e37_79b9_7f4a_7c15, factor: 0xd6e8_feb8_6659_fd93)
        Array(name.utf8).withSpan { hash.fold($0) }
        // The name itself may be as long as the file system allows.
        let stem = "." + Hex.encode(padded: hash.value) + Self.draftMark
        return (0..<Self.fixedCount).map { sibling("\(stem)-\($0)") }
    }

    /// Removes what killed writers of this target have left.
    func removeLeftovers() {
        for place in fixedDraftPlaces { place.removeIfAbandoned() }
    }

    /// The temporary name of this target that is one of that file.
    func draftName(of facts: stat) throws(SystemError) -> FilePlace? {
        for place in fixedDraftPlaces where try place.holds(facts) { return place }
        return nil
    }

    /// What is known of the file, without the second name that a writer has left which was killed before it
    /// took that one away; `nil` if there is no file.
    func factsOfWhole() throws(SystemError) -> stat? {
        let facts = try facts()
        guard facts?.st_nlink == 2 else { return facts }
        removeLeftovers()
        return try self.facts()
    }

    /// Removes the file here if it is one of this user's that nobody has locked. Returns whether it did.
    @discardableResult
    func removeIfAbandoned() -> Bool {
        // O_NONBLOCK: the name may be that of a pipe, which would have to wait for a writer. On NFS only who
        // may write can lock a file (flock(2)).
        var (file, code) = open(O_RDWR | O_NONBLOCK)
        if file == -1, code != ENOENT { (file, code) = open(O_RDONLY | O_NONBLOCK) }
        guard file != -1 else { return false }
        defer { close(file) }
        guard let facts = try? stat(of: file), facts.isRegularFile, facts.st_uid == geteuid(),
            FileLock.take(file) == .taken, (try? holds(facts)) == true
        else { return false }
        return (try? remove()) ?? false
    }

    /// Creates and locks a file under the first of these names that is free, for reading and writing.
    func createDraft(mode: UInt16) throws(SystemError) -> (FilePlace, Int32) {
        for place in draftPlaces {
            let (file, code) = place.open(O_RDWR | O_CREAT | O_EXCL, mode: mode)
            if code == EEXIST { continue }
            guard file != -1 else { throw SystemError("open", code: code, path: path) }
            // Another process may have found it unlocked, and removed it.
            if FileLock.take(file) != .inUse, let facts = try? stat(of: file),
                (try? place.holds(facts)) == true
            {
                return (place, file)
            }
            close(file)
        }
        throw SystemError("open", code: EEXIST, path: path)
    }

    /// Whether a name is one of these, in any folder.
    static func isDraft(_ name: String) -> Bool {
        name.hasPrefix(".") && name.dropFirst(17).hasPrefix(draftMark)
    }

    private static let draftMark = ".direct-http"
    private static let fixedCount = 4
}

/// A lock of a whole file, which ends with the last copy of its descriptor.
enum FileLock {
    case taken
    case inUse
    /// The file system has no locks.
    case unknown

    /// Tries once, and never waits: the process that has the lock may be stopped.
    static func take(_ descriptor: Int32) -> FileLock {
        let (result, code) = retryingInterrupts { flock(descriptor, LOCK_EX | LOCK_NB) }
        guard result == -1 else { return .taken }
        return code == EWOULDBLOCK ? .inUse : .unknown
    }
}
