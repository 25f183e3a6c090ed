#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A regular file that is read once, from its start to its end. All of it blocks.
///
/// It may be let go of while a read is still under way on another thread: the descriptor lives as long as the
/// last reference.
package final class FileReader: @unchecked Sendable {
    /// How many bytes the file had when it was opened.
    package let size: UInt64
    private let descriptor: Int32

    /// Opens the file. Anything that is no regular file is refused: a pipe might never end, nor even begin.
    package init(_ path: String) throws(SystemError) {
        // A C string would end at the NUL, and name another file.
        guard !path.utf8.contains(0) else { throw SystemError("open", code: EINVAL, path: path) }
        let file = try checked("open", path: path) { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        do throws(SystemError) {
            size = try Self.size(of: file, path)
        } catch {
            close(file)
            throw error
        }
        descriptor = file
    }

    deinit {
        close(descriptor)
    }

    /// The next bytes, as many as there are but no more than `pieceSize`; none at the end.
    package func next() throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
            let (result, code) = retryingInterrupts { read(descriptor, buffer.baseAddress, buffer.count) }
            if result == -1 { failure = SystemError("read", code: code) }
            count = max(0, result)
        }
        if let failure { throw failure }
        return piece
    }

    private static func size(of file: Int32, _ path: String) throws(SystemError) -> UInt64 {
        var facts = stat()
        _ = try checked("fstat") { fstat(file, &facts) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            let code = facts.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
            throw SystemError("open", code: code, path: path)
        }
        return UInt64(max(0, facts.st_size))
    }

    /// Large enough that handing the reading to another thread costs little beside it.
    private static let pieceSize = 256 * 1024
}
