#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore

/// A private folder of state files, such as a cache's. Every call blocks.
///
/// Files are written under temporary names and then renamed, so that a reader finds either the old file or the
/// whole new one, even if the writer crashes. Symbolic links are never followed.
package final class StateFolder: Sendable {
    /// The attributes of a file that are known without opening it.
    package struct Facts: Sendable {
        /// The name in the folder.
        package var name: String
        /// Whether it is a regular file.
        package var isRegularFile: Bool
        /// The size in bytes.
        package var size: Int
        /// The time at which it was written or last touched.
        package var time: UnixTime
    }

    private let descriptor: Int32

    /// Opens the folder and creates it if necessary. Its parent must exist.
    ///
    /// A folder that belongs to another user or that others can write to is refused, since they could plant files
    /// in it.
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
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let (file, code) = retryingInterrupts { openat(descriptor, name, flags) }
        if file == -1, code == ENOENT { return nil }
        guard file != -1 else { throw SystemError("open", code: code) }
        return try StateReader(file)
    }

    /// Creates a file under a temporary name.
    package func draft() throws(SystemError) -> StateDraft {
        let name = Hex.encode(padded: SystemRandom.word()) + Self.draftSuffix
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try checked("open") { openat(descriptor, name, flags, mode_t(0o600)) }
        return StateDraft(self, name, file)
    }

    /// Whether this name still refers to the file of this reader.
    package func holds(_ reader: StateReader, as name: String) -> Bool {
        var facts = stat()
        guard fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return UInt64(facts.st_ino) == reader.number
    }

    /// Removes a file, and returns whether it existed. A reader of the file can continue.
    @discardableResult
    package func remove(_ name: String) throws(SystemError) -> Bool {
        let (result, code) = retryingInterrupts { unlinkat(descriptor, name, 0) }
        guard result == -1 else { return true }
        guard code == ENOENT else { throw SystemError("unlink", code: code) }
        return false
    }

    /// Calls `body` while the folder is locked for other processes, and for other objects in this one (flock(2)). Only one
    /// thread at a time may call it.
    ///
    /// Waits for a tenth of a second at most, because the other process may be stopped. A folder that the system cannot
    /// lock, for example one of another machine, is taken for that of a single process.
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
        var facts = stat()
        let (result, code) = retryingInterrupts { fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) }
        // The file may have been removed since it was listed.
        if result == -1, code == ENOENT { return nil }
        guard result != -1 else { throw SystemError("fstat", code: code) }
        return Facts(
            name: name,
            isRegularFile: facts.st_mode & S_IFMT == S_IFREG,
            size: Int(facts.st_size),
            time: facts.changeTime
        )
    }

    fileprivate func move(_ name: String, to place: String) throws(SystemError) {
        _ = try checked("rename") { renameat(descriptor, name, descriptor, place) }
    }

    /// The suffix of the temporary names of drafts.
    package static let draftSuffix = ".tmp"
}

/// A file that is being read. It remains readable after its name has been removed.
package final class StateReader: Sendable {
    /// The size in bytes.
    package let size: Int
    /// The time at which the file was written or last touched.
    package let time: UnixTime
    fileprivate let number: UInt64
    private let descriptor: Int32

    fileprivate init(_ file: Int32) throws(SystemError) {
        var facts = stat()
        do throws(SystemError) {
            _ = try checked("fstat") { fstat(file, &facts) }
            guard facts.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", code: EINVAL) }
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
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            guard let base = buffer.baseAddress else { return }
            while filled < count {
                let (result, code) = retryingInterrupts {
                    pread(descriptor, base + filled, count - filled, off_t(offset + filled))
                }
                if result == -1 { failure = SystemError("read", code: code) }
                guard result > 0 else { return }
                filled += result
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Sets the file's time to the current time.
    package func touch() {
        futimens(descriptor, nil)
    }
}

/// A file that is being written under a temporary name. It is removed if it is released without having been placed.
package final class StateDraft: @unchecked Sendable {
    private let folder: StateFolder
    private let name: String
    private let descriptor: Int32
    private var isPlaced = false

    fileprivate init(_ folder: StateFolder, _ name: String, _ file: Int32) {
        self.folder = folder
        self.name = name
        descriptor = file
    }

    deinit {
        close(descriptor)
        // The next sweep of the folder finds a draft that cannot be removed now.
        if !isPlaced { _ = try? folder.remove(name) }
    }

    /// Writes all bytes at this offset. Only one task at a time may call this or ``place(as:)``.
    package func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        try writeAll(bytes, to: descriptor, at: UInt64(offset))
    }

    /// Renames the file to its final name and replaces any file of that name.
    package func place(as other: String) throws(SystemError) {
        try folder.move(name, to: other)
        isPlaced = true
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
