#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore

/// A file that is written under a temporary name and renamed to its final path when it is complete. Readers of that
/// path find either the old file or the whole new one. Every call blocks.
///
/// A draft that is released before ``commit()`` deletes its file.
package final class FileDraft: @unchecked Sendable {
    private let path: String
    private let draft: String
    private let descriptor: Int32
    private var isCommitted = false

    /// Creates a temporary file next to this path.
    ///
    /// - Parameter mode: The permissions, from which the process's umask is subtracted.
    package init(_ path: String, mode: UInt16) throws(SystemError) {
        guard !path.utf8.contains(0) else { throw SystemError("open", code: EINVAL, path: path) }
        let draft = path + ".\(getpid())-\(SystemRandom.word()).tmp"
        descriptor = try checked("open", path: path) {
            open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        }
        self.path = path
        self.draft = draft
    }

    deinit {
        close(descriptor)
        if !isCommitted { discard() }
    }

    /// Appends these bytes.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let (count, code) = bytes.withUnsafeBytes { all in
                retryingInterrupts {
                    Self.systemWrite(
                        descriptor,
                        bytes: all.baseAddress?.advanced(by: written),
                        count: all.count - written
                    )
                }
            }
            guard count != -1 else { throw SystemError("write", code: code) }
            written += count
        }
    }

    /// Returns when all bytes are on disk, still under the temporary name.
    package func settle() throws(SystemError) {
        try putOnDisk(descriptor)
    }

    /// Renames the file to its path. Call ``settle()`` first.
    package func commit() throws(SystemError) {
        _ = try checked("rename", path: path) { rename(draft, path) }
        isCommitted = true
    }

    /// Deletes the temporary file unless it has been committed. Deletes it now rather than when the last reference
    /// is released.
    package func discard() {
        // The temporary name is unique, so deleting it twice does no harm.
        unlink(draft)
    }

    /// The C function, under a name that the method does not hide.
    private static func systemWrite(_ file: Int32, bytes: UnsafeRawPointer?, count: Int) -> Int {
        #if canImport(Darwin)
        Darwin.write(file, bytes, count)
        #else
        Glibc.write(file, bytes, count)
        #endif
    }
}

/// Returns when the bytes of the file are on disk.
func putOnDisk(_ file: Int32) throws(SystemError) {
    #if canImport(Darwin)
    // On Darwin, fsync returns when the disk's own cache has the data. Some file systems support nothing better.
    if fcntl(file, F_FULLFSYNC) == 0 { return }
    #endif
    _ = try checked("fsync") { fsync(file) }
}

/// Writes all bytes at this offset of a file.
func writeAll(_ bytes: [UInt8], to descriptor: Int32, at offset: UInt64) throws(SystemError) {
    var written = 0
    while written < bytes.count {
        let (count, code) = bytes.withUnsafeBytes { all in
            retryingInterrupts {
                pwrite(
                    descriptor,
                    all.baseAddress?.advanced(by: written),
                    all.count - written,
                    off_t(clamping: offset + UInt64(written))
                )
            }
        }
        guard count != -1 else { throw SystemError("write", code: code) }
        written += count
    }
}
