#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Reads a regular file once, from its start to its end. Every call blocks.
///
/// It may be released while another thread is still reading. The descriptor is closed with the last
/// reference.
package final class FileReader: @unchecked Sendable {
    /// The size of the file when it was opened, in bytes.
    package let size: UInt64
    private let descriptor: Int32

    /// Opens a regular file. Other kinds are refused, since a pipe might never end, or never begin.
    package init(_ path: String) throws(SystemError) {
        // A C string would end at the NUL and name another file.
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
        Closing.close(descriptor)
    }

    /// Lets the next bytes be those from this place on.
    package func skip(to place: UInt64) throws(SystemError) {
        _ = try checked("lseek") { lseek(descriptor, off_t(clamping: place), SEEK_SET) }
    }

    /// Returns the next bytes, at most `pieceSize` and `count` of them. An empty array means the end.
    package func next(upTo count: UInt64 = .max) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let room = min(Self.pieceSize, Int(clamping: count))
        let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            let (result, code) = retryingInterrupts { read(descriptor, buffer.baseAddress, buffer.count) }
            if result == -1 { failure = SystemError("read", code: code) }
            count = max(0, result)
        }
        if let failure { throw failure }
        return piece
    }

    private static func size(of file: Int32, _ path: String) throws(SystemError) -> UInt64 {
        let facts = try stat(of: file)
        guard facts.isRegularFile else {
            throw SystemError("open", code: facts.isFolder ? EISDIR : EINVAL, path: path)
        }
        return UInt64(max(0, facts.st_size))
    }

    /// The size of a piece. It is large enough that handing the read to another thread costs little in
    /// comparison.
    private static let pieceSize = 256 * 1024
}
