#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A file that is written beside its final place and put there when it is whole: who looks finds what was there
/// before, or all of the new one. All of it blocks.
///
/// One that is let go of before `commit` leaves nothing behind.
package final class FileDraft: @unchecked Sendable {
    private let path: String
    private let draft: String
    private let descriptor: Int32
    private var isCommitted = false

    /// Begins a file for that path, with the permissions of `mode` less those that the process withholds (umask).
    package init(_ path: String, mode: UInt16) throws(SystemError) {
        guard !path.utf8.contains(0) else { throw SystemError("open", code: EINVAL, path: path) }
        let draft = path + ".\(getpid())-\(UInt64.random(in: .min ... .max)).tmp"
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

    /// Writes these bytes behind the others.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let (count, code) = bytes.withUnsafeBytes { all in
                retryingInterrupts {
                    Self.systemWrite(descriptor, all.baseAddress?.advanced(by: written), all.count - written)
                }
            }
            guard count != -1 else { throw SystemError("write", code: code) }
            written += count
        }
    }

    /// Returns when all bytes are on the disk, still beside the file's place.
    package func settle() throws(SystemError) {
        try putOnDisk(descriptor)
    }

    /// Puts the file, which has been settled, in its place.
    package func commit() throws(SystemError) {
        _ = try checked("rename", path: path) { rename(draft, path) }
        isCommitted = true
    }

    /// Leaves nothing of it, unless it has been committed; now, and not when the last thread lets go of it.
    package func discard() {
        // Nobody else makes a file of this name, so another time does no harm.
        unlink(draft)
    }

    /// The C function, under a name that the method does not hide.
    private static func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        Darwin.write(file, bytes, count)
        #else
        Glibc.write(file, bytes, count)
        #endif
    }
}

/// Returns when the bytes of the file are on the disk.
func putOnDisk(_ file: Int32) throws(SystemError) {
    #if canImport(Darwin)
    // There fsync is done when the disk's own cache has them. Some file systems know no more than that.
    if fcntl(file, F_FULLFSYNC) == 0 { return }
    #endif
    _ = try checked("fsync") { fsync(file) }
}
