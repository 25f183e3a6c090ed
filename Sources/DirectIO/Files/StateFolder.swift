#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore

/// A private folder of state files, such as a cache's. Every call blocks.
///
/// Files are written under temporary names and then renamed, so that a reader finds either the old file or
/// the whole new one, even if the writer crashes. Symbolic links are never followed.
package final class StateFolder: Sendable {
    /// The attributes of a file that are known without opening it.
    package struct Facts: Sendable {
        /// The name in the folder.
        package let name: String
        /// Whether it is a regular file.
        package let isRegularFile: Bool
        /// The size in bytes.
        package var size: Int
        /// The time at which it was written or last touched.
        package var time: UnixTime
    }

    private let descriptor: Int32

    /// Opens the folder and creates it if necessary. Its parent must exist.
    ///
    /// A folder that belongs to another user or that others can write to is refused, since they could plant
    /// files in it.
    package init(_ path: String) throws(SystemError) {
        if mkdir(path, mode_t(0o700)) == -1, errno != EEXIST { throw SystemError("mkdir", code: errno) }
        let folder = try checked("open") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        do throws(SystemError) {
            var facts = stat()
            _ = try checked("fstat") { fstat(folder, &facts) }
            guard facts.st_uid == geteuid(), facts.st_mode & 0o022 == 0 else {
                throw SystemError("open", code: EPERM)
            }
        } catch {
            close(folder)
            throw error
        }
        descriptor = folder
    }

    deinit {
        close(descriptor)
    }

    /// Opens a file for reading. Returns `nil` if there is none.
    package func file(_ name: String) throws(SystemError) -> StateReader? {
        try StateReader(place(name))
    }

    /// Creates a file under a temporary name.
    package func draft() throws(SystemError) -> FileDraft {
        try FileDraft(in: self)
    }

    /// A name in the folder, which has to stay open.
    func place(_ name: String) -> FilePlace { FilePlace(folder: descriptor, name: name) }

    /// Whether this name still refers to the file of this reader.
    package func holds(_ reader: StateReader, as name: String) -> Bool {
        (try? place(name).facts()).map { UInt64($0.st_ino) == reader.number } ?? false
    }

    /// Removes a file, and returns whether it existed. A reader of the file can continue.
    @discardableResult
    package func remove(_ name: String) throws(SystemError) -> Bool {
        try place(name).remove()
    }

    /// Calls `body` while the folder is locked for other processes, and for other objects in this one
    /// (flock(2)). Only one thread at a time may call it.
    ///
    /// Waits for a tenth of a second at most, because the other process may be stopped. A folder that the
    /// system cannot lock, for example one of another machine, is taken for that of a single process.
    ///
    /// - Parameter body: Gets `false` if the folder is still locked by another process.
    package func whileLocked<Value>(
        _ body: (_ isExclusive: Bool) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        var (result, code) = lock()
        for _ in 0..<100 where result == -1 && code == EWOULDBLOCK {
            usleep(1000)
            (result, code) = lock()
        }
        defer { if result == 0 { _ = flock(descriptor, LOCK_UN) } }
        return try body(result == 0 || code != EWOULDBLOCK)
    }

    private func lock() -> (Int32, Int32) {
        retryingInterrupts { flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    /// Returns the attributes of all files, in no particular order.
    package func contents() throws(SystemError) -> [Facts] {
        var all: [Facts] = []
        for name in try names() {
            if let facts = try facts(of: name) { all.append(facts) }
        }
        return all
    }

    /// Returns the names of all files, in no particular order.
    package func names() throws(SystemError) -> [String] {
        let copy = try checked("open") { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let listing = fdopendir(copy) else {
            close(copy)
            throw SystemError("fdopendir", code: errno)
        }
        defer { closedir(listing) }
        var all: [String] = []
        while true {
            // Only errno tells a failure from the end (readdir(3)).
            errno = 0
            guard let entry = readdir(listing) else {
                let code = errno
                guard code == 0 else { throw SystemError("readdir", code: code) }
                return all
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { all.append(name) }
        }
    }

    private func facts(of name: String) throws(SystemError) -> Facts? {
        // The file may have been removed since it was listed.
        guard let facts = try place(name).facts() else { return nil }
        return Facts(
            name: name,
            isRegularFile: facts.isRegularFile,
            size: Int(facts.st_size),
            time: facts.changeTime
        )
    }

    /// The suffix of the temporary names of drafts.
    static let draftSuffix = ".tmp"
}

/// A file that is being read. It remains readable after its name has been removed.
package final class StateReader: Sendable {
    /// The size in bytes.
    package let size: Int
    /// The time at which the file was written or last touched.
    package let time: UnixTime
    fileprivate let number: UInt64
    private let descriptor: Int32

    /// Opens a file; `nil` if there is none.
    ///
    /// - Throws: `EINVAL` if it is no regular file, `EPERM` if another user may have written it.
    init?(_ place: FilePlace) throws(SystemError) {
        // O_NONBLOCK: the name may be that of a pipe, which would have to wait for a writer.
        let (file, code) = place.open(O_RDONLY | O_NONBLOCK)
        if file == -1, code == ENOENT { return nil }
        guard file != -1 else { throw SystemError("open", code: code, path: place.path) }
        let facts: stat
        do throws(SystemError) {
            facts = try stat(of: file)
            guard facts.isRegularFile else { throw SystemError("open", code: EINVAL, path: place.path) }
            guard facts.isPrivate, try place.isTrusted(facts) else {
                throw SystemError("open", code: EPERM, path: place.path)
            }
        } catch {
            close(file)
            throw error
        }
        descriptor = file
        size = Int(facts.st_size)
        time = facts.changeTime
        number = UInt64(facts.st_ino)
    }

    deinit {
        close(descriptor)
    }

    /// Returns `count` bytes from this offset, or fewer at the end of the file.
    package func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        try readAll(count, from: descriptor, at: UInt64(offset))
    }

    /// Sets the file's time to the current time.
    package func touch() {
        futimens(descriptor, nil)
    }
}

extension stat {
    fileprivate var changeTime: UnixTime {
        #if canImport(Darwin)
        UnixTime(seconds: Int64(st_mtimespec.tv_sec))
        #else
        UnixTime(seconds: Int64(st_mtim.tv_sec))
        #endif
    }
}
