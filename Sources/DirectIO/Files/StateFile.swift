#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore

/// A file that keeps a client's state from one run to the next: cookies, a cache, resolver answers.
///
/// It is readable only by its owner (mode 0600) and is never a symbolic link. A reader that opens it during a
/// replacement finds either the old file or the whole new one. Every call blocks.
package enum StateFile {
    /// Returns the bytes of the file, or `nil` if there is no such file.
    ///
    /// - Parameter limit: The maximum size. A larger file is an error (`EFBIG`).
    package static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? {
        let (file, code) = retryingInterrupts { open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) }
        if file == -1, code == ENOENT { return nil }
        guard file != -1 else { throw SystemError("open", code: code, path: path) }
        defer { close(file) }
        var facts = stat()
        _ = try checked("fstat") { fstat(file, &facts) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", code: EINVAL, path: path) }
        guard facts.st_size <= limit else { throw SystemError("read", code: EFBIG, path: path) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(facts.st_size))
        while bytes.count <= limit {
            let piece = try readPiece(file)
            if piece.isEmpty { return bytes }
            bytes += piece
        }
        throw SystemError("read", code: EFBIG, path: path)
    }

    /// Replaces the contents of the file, which need not exist. The bytes are on disk when this returns.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let draft = path + ".\(getpid())-\(SystemRandom.word()).tmp"
        let file = try checked("open", path: path) {
            open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        }
        do throws(SystemError) {
            defer { close(file) }
            try writeAll(bytes, to: file)
            try putOnDisk(file)
        } catch {
            unlink(draft)
            throw error
        }
        do throws(SystemError) {
            _ = try checked("rename", path: path) { rename(draft, path) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Removes the file. It need not exist.
    package static func remove(_ path: String) throws(SystemError) {
        let (result, code) = retryingInterrupts { unlink(path) }
        guard result == -1, code != ENOENT else { return }
        throw SystemError("unlink", code: code, path: path)
    }

    private static func readPiece(_ file: Int32) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let piece = [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
            let (result, code) = retryingInterrupts { Self.systemRead(file, buffer: buffer) }
            if result == -1 { failure = SystemError("read", code: code) }
            count = max(0, result)
        }
        if let failure { throw failure }
        return piece
    }

    private static func systemRead(_ file: Int32, buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        #if canImport(Darwin)
        Darwin.read(file, buffer.baseAddress, buffer.count)
        #else
        Glibc.read(file, buffer.baseAddress, buffer.count)
        #endif
    }

    private static func writeAll(_ bytes: [UInt8], to file: Int32) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let (count, code) = bytes.withUnsafeBytes { all in
                retryingInterrupts {
                    write(file, all.baseAddress?.advanced(by: written), all.count - written)
                }
            }
            guard count != -1 else { throw SystemError("write", code: code) }
            written += count
        }
    }
}
