#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A file that is filled over several runs of a program, and renamed to its final path when it is complete.
///
/// One process, and one user within a process, has the file at a time: the lock ends with the descriptor, even if the
/// process is killed. Every call blocks. The methods may be called from any thread, but not at the same time.
package final class PartialFile: @unchecked Sendable {
    private let path: String
    private var descriptor: Int32

    /// Opens the file at this path and locks it. The file is created if necessary.
    ///
    /// Returns `nil` if another user has locked it.
    ///
    /// - Parameter mode: The permissions of a new file, from which the process's umask is subtracted.
    package static func open(_ path: String, mode: UInt16) throws(SystemError) -> PartialFile? {
        guard !path.utf8.contains(0) else { throw SystemError("open", code: EINVAL, path: path) }
        for _ in 0..<attempts {
            let file = PartialFile(path, try openFile(path, mode: mode))
            guard try file.lock() else { return nil }
            // The former user may have renamed or removed the file between the two calls. Then the lock is worthless.
            if try file.isInPlace() { return file }
        }
        throw SystemError("open", code: ENOENT, path: path)
    }

    /// How often a file may disappear between two calls before that is an error.
    private static let attempts = 100

    /// Throws `EISDIR` if there is a folder at this path, which no file can replace.
    package static func refuseFolder(_ path: String) throws(SystemError) {
        var facts = stat()
        guard !path.utf8.contains(0), stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else {
            return
        }
        throw SystemError("open", code: EISDIR, path: path)
    }

    private init(_ path: String, _ descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close()
    }

    /// Unlocks and closes the file. It must not be used afterwards.
    package func close() {
        guard descriptor >= 0 else { return }
        // A process that is being started has a copy of the descriptor until its exec, and a copy would keep the lock.
        _ = flock(descriptor, LOCK_UN)
        Self.systemClose(descriptor)
        descriptor = -1
    }

    /// Returns up to `count` bytes from this offset; none at the end of the file.
    package func read(at offset: UInt64, count: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let (result, code) = retryingInterrupts {
                pread(descriptor, buffer.baseAddress, count, off_t(clamping: offset))
            }
            if result == -1 { failure = SystemError("read", code: code) }
            filled = max(0, result)
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all bytes at this offset.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
        try writeAll(bytes, to: descriptor, at: offset)
    }

    /// Cuts the file off after this many bytes.
    package func truncate(to size: UInt64) throws(SystemError) {
        _ = try checked("ftruncate", path: path) { ftruncate(descriptor, off_t(clamping: size)) }
    }

    /// Returns when all bytes are on disk.
    package func settle() throws(SystemError) {
        try putOnDisk(descriptor)
    }

    /// Renames the file to another path, where it replaces any file. Call ``settle()`` first.
    package func rename(to other: String) throws(SystemError) {
        _ = try checked("rename", path: other) { Self.systemRename(path, other) }
    }

    /// Removes the file.
    package func remove() throws(SystemError) {
        _ = try checked("unlink", path: path) { unlink(path) }
    }

    private static func openFile(_ path: String, mode: UInt16) throws(SystemError) -> Int32 {
        // O_NONBLOCK: the path may be that of a pipe, which would have to wait for a writer.
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        return try checked("open", path: path) { systemOpen(path, flags: flags, mode: mode) }
    }

    /// Locks the file; returns false if it is locked.
    private func lock() throws(SystemError) -> Bool {
        let (result, code) = retryingInterrupts { flock(descriptor, LOCK_EX | LOCK_NB) }
        if result == -1, code == EWOULDBLOCK { return false }
        guard result != -1 else { throw SystemError("flock", code: code, path: path) }
        return true
    }

    /// Whether the path still leads to this file. Throws if the file is not a regular one.
    private func isInPlace() throws(SystemError) -> Bool {
        var own = stat()
        var found = stat()
        _ = try checked("fstat") { fstat(descriptor, &own) }
        guard own.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", code: EINVAL, path: path) }
        let (result, code) = retryingInterrupts { lstat(path, &found) }
        if result == -1, code == ENOENT { return false }
        guard result != -1 else { throw SystemError("lstat", code: code, path: path) }
        return own.st_ino == found.st_ino && own.st_dev == found.st_dev
    }

    // The C functions, under names that the methods do not hide.
    private static func systemOpen(_ path: String, flags: Int32, mode: UInt16) -> Int32 {
        #if canImport(Darwin)
        Darwin.open(path, flags, mode_t(mode))
        #else
        Glibc.open(path, flags, mode_t(mode))
        #endif
    }

    private static func systemClose(_ file: Int32) {
        #if canImport(Darwin)
        _ = Darwin.close(file)
        #else
        _ = Glibc.close(file)
        #endif
    }

    private static func systemRename(_ path: String, _ other: String) -> Int32 {
        #if canImport(Darwin)
        Darwin.rename(path, other)
        #else
        Glibc.rename(path, other)
        #endif
    }
}
