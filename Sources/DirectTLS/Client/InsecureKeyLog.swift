internal import CDirectOpenSSL
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A log of the secrets of TLS connections, in the format of `SSLKEYLOGFILE`, with which Wireshark decrypts a
/// capture.
///
/// Given up is the secrecy of all connections: the log and a capture show everything, credentials included.
/// It is for debugging. No environment variable turns it on. Two logs are equal if they are the same object.
public final class InsecureKeyLog: Hashable, Sendable {
    private let write: @Sendable (String) -> Void

    /// Makes a log that passes each line to the closure, without its line end. The call is made on the thread
    /// that runs the handshake, so it must not block.
    public init(_ write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// Makes a log that appends to a file, which is made if there is none, readable by its owner only.
    ///
    /// - Throws: ``TLSError/badSettings(_:)`` if the file cannot be opened, is a pipe, belongs to another
    ///   user, is one that others than its owner may read or write, or has a second name; or if the path is a
    ///   link of another user than this one and root.
    public convenience init(appendingTo path: String) throws(TLSError) {
        let file = try LogFile(path)
        self.init { file.append($0) }
    }

    func add(_ line: UnsafePointer<CChar>) { write(String(cString: line)) }

    /// Whether both are the same object.
    public static func == (left: InsecureKeyLog, right: InsecureKeyLog) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// OpenSSL's callback for a line of the log.
let logKey: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void = { ssl, line in
    guard let ssl, let line, let connection = TLSConnection.owning(ssl) else { return }
    connection.context.settings.insecureKeyLog?.add(line)
}

/// A file that is open for appending. The system appends each line in one piece, as far as it fits.
private final class LogFile: Sendable {
    private let descriptor: Int32
    /// Whether the last line has no end.
    private let isTorn = Locked(false)

    init(_ path: String) throws(TLSError) {
        // A C string would end at the NUL and name another file.
        guard !path.utf8.contains(0) else { throw .badSettings("key log \(path): a path with NUL") }
        var (descriptor, code) = Self.open(path, O_NOFOLLOW)
        // A link in a folder of all users must not choose the file. The system's own links, such as
        // `/dev/stdout`, are root's.
        if code == ELOOP, Self.isTrustedLink(path) { (descriptor, code) = Self.open(path, 0) }
        guard descriptor >= 0 else {
            throw .badSettings("key log \(path): \(ErrorQueue.reason(of: ErrorQueue.code(of: code)))")
        }
        self.descriptor = descriptor
        // A line for a pipe whose reader has gone would end the process with SIGPIPE. What is open is closed
        // by `deinit`.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFIFO else {
            throw .badSettings("key log \(path): a pipe")
        }
        // Devices, such as the terminal, have modes of their own.
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0, status.st_nlink <= 1 else {
            throw .badSettings("key log \(path): others than this user may use the file")
        }
    }

    private static func open(_ path: String, _ more: Int32) -> (descriptor: Int32, code: Int32) {
        while true {
            // O_NONBLOCK: the name may be that of a pipe, which would have to wait for a reader.
            let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | more
            let descriptor = openFile(path, flags, 0o600)
            if descriptor >= 0 { return (descriptor, 0) }
            let code = errno
            if code != EINTR { return (-1, code) }
        }
    }

    private static func isTrustedLink(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && (facts.st_uid == geteuid() || facts.st_uid == 0)
    }

    deinit {
        close(descriptor)
    }

    /// Appends a line. A line that cannot be written is lost: the log must not fail the connection.
    func append(_ line: String) {
        isTorn.withLock { isTorn in
            // What is left of a line must not become the beginning of the next one.
            let bytes = Array(((isTorn ? "\n" : "") + line + "\n").utf8)
            var written = 0
            while written < bytes.count {
                let result = writeBytes(descriptor, Array(bytes[written...]), bytes.count - written)
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { break }
                written += result
            }
            if written > 0 { isTorn = written < bytes.count }
        }
    }
}

/// The C functions, under names that no method hides.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    open(path, flags, mode)
}

private func writeBytes(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
