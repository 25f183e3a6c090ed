internal import DirectHTTP

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Reads the lines of a file or of standard input, with bounded memory.
///
/// A regular file is read when `next` needs more. Reading a pipe or a terminal may block, so `next` returns
/// `needsInput` instead, and the main loop calls `fill` when the descriptor is readable.
final class LineSource {
    /// The result of `next`.
    enum Step {
        case line(String, number: Int)
        /// The next line has not arrived at the descriptor yet.
        case needsInput
        case end
        case fault(TargetError, number: Int)
    }

    let name: String
    /// Whether it can be read a second time.
    let isFile: Bool
    let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var lines = 0
    private var reachedEnd = false
    private var readError: Int32 = 0

    /// The maximum length of a line in bytes.
    static let longestLine = 64 << 10
    private let longestLine: Int

    /// Opens a file, or standard input if the path is `-`.
    ///
    /// - Parameter waits: Whether a named pipe is waited for until another process opens it, too.
    init(
        _ path: String,
        longestLine: Int = LineSource.longestLine,
        waits: Bool = true
    ) throws(UsageError) {
        self.longestLine = longestLine
        name = path == "-" ? "standard input" : path
        if path == "-" {
            descriptor = 0
        } else {
            descriptor = open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
            guard descriptor >= 0 else { throw UserFiles.unreadable(path, code: errno) }
        }
        var facts = stat()
        isFile = fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && descriptor != 0
        if facts.st_mode & S_IFMT == S_IFDIR { throw UserFiles.unreadable(path, code: EISDIR) }
    }

    deinit {
        if descriptor > 0 { close(descriptor) }
    }

    /// Returns the next line. Reads from a regular file if needed, but never from other descriptors.
    func next() -> Step {
        while true {
            if let line = takeLine() { return line }
            if reachedEnd { return .end }
            guard buffer.count - start <= longestLine else {
                reachedEnd = true
                return .fault(.lineTooLong(longestLine), number: lines + 1)
            }
            guard isFile else { return .needsInput }
            fill()
        }
    }

    /// Reads once. Blocks if there is no input.
    func fill() {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        let (piece, code) = readPiece()
        buffer += piece
        if piece.isEmpty { (reachedEnd, readError) = (true, code) }
    }

    /// The error that ended the reading, or `nil` if there was none.
    var failure: UsageError? { readError == 0 ? nil : UserFiles.unreadable(name, code: readError) }

    /// Returns to the first line. Allowed only for regular files.
    func rewind() {
        lseek(descriptor, 0, SEEK_SET)
        buffer.removeAll(keepingCapacity: true)
        (start, lines, reachedEnd) = (0, 0, false)
    }

    private func readPiece() -> ([UInt8], Int32) {
        var code: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: 64 << 10) { piece, count in
            let outcome = retryingInterrupts { read(descriptor, piece.baseAddress, piece.count) }
            count = max(0, outcome.result)
            code = outcome.code
        }
        return (piece, code)
    }

    private func takeLine() -> Step? {
        guard start < buffer.count else { return nil }
        let end = buffer.withUnsafeBufferPointer { bytes -> Int? in
            guard let base = bytes.baseAddress,
                let found = memchr(base + start, 10, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
        // The last line needs no line break.
        guard let stop = end ?? (reachedEnd ? buffer.count : nil) else { return nil }
        lines += 1
        defer { start = min(stop + 1, buffer.count) }
        guard let text = String(validating: buffer[start..<stop], as: UTF8.self) else {
            return .fault(.notText, number: lines)
        }
        // Some editors write a byte order mark at the start of a file.
        if lines == 1, text.unicodeScalars.first == "\u{FEFF}" {
            return .line(String(text.unicodeScalars.dropFirst()), number: lines)
        }
        return .line(text, number: lines)
    }
}
