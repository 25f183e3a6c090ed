internal import CDirectOpenSSL
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A file of roots in PEM, or another file of the settings.
///
/// It is read as a whole before it is parsed. OpenSSL's readers of PEM take a read that fails for the end of
/// the file: a store would have only the roots before that place, for as long as it exists.
struct RootFile {
    let path: String
    /// The contents of the file, for errors.
    var kind = "roots"
    /// Whether it counts only if it is a regular file: a pipe in a directory is none of its roots.
    var isRegular = false
    /// The file in words, for errors.
    var role: String { "\(kind) from \(path)" }

    /// Returns the bytes of the file.
    func bytes() throws(TLSError) -> [UInt8] {
        do throws(FileFault) {
            return try contents()
        } catch {
            throw error.error(of: role)
        }
    }

    /// Returns the bytes of the file. It may be a pipe, whose writer has five minutes: a pipe may never have
    /// one, and the thread would wait for good.
    func contents() throws(FileFault) -> [UInt8] {
        FileNote.current?.set(path)
        defer { FileNote.current?.set(nil) }
        // A C string would end at the NUL and name another file.
        guard !path.utf8.contains(0) else { throw FileFault(code: EINVAL) }
        let (file, code) = Self.retrying { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file != -1 else { throw FileFault(code: code) }
        defer { close(file) }
        var status = stat()
        let isRegularFile = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        guard isRegularFile || !isRegular else { throw FileFault(code: EINVAL) }
        let end = Instant.now.advanced(byNanoseconds: 300_000_000_000)
        // A system may have over a hundred files of roots: each is read in one call if its size is right.
        let size = isRegularFile ? Int(clamping: status.st_size) : 0
        var room = (1...Self.most).contains(size) ? size + 1 : 64 * 1024
        var bytes: [UInt8] = []
        while true {
            guard Instant.now < end else { throw FileFault(code: ETIMEDOUT) }
            // A second is as good as any time: the clock is looked at.
            var wait = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            guard isRegularFile || poll(&wait, 1, 1000) != 0 else { continue }
            var result = (count: 0, code: Int32(0))
            bytes += [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                result = Self.retrying { read(file, buffer.baseAddress, buffer.count) }
                count = max(0, result.count)
            }
            if result.count == 0 { return bytes }
            // Fewer than were asked for, and as many as there are.
            if isRegularFile, bytes.count == size, result.count < room { return bytes }
            guard result.count > 0 || result.code == EAGAIN else { throw FileFault(code: result.code) }
            room = 64 * 1024
        }
    }

    /// The longest file that is read in one call.
    private static let most = 1 << 20

    /// Repeats a call while signals interrupt it.
    private static func retrying<Count: FixedWidthInteger>(_ call: () -> Count) -> (count: Count, code: Int32)
    {
        while true {
            let count = call()
            guard count == -1 else { return (count, 0) }
            let code = errno
            guard code == EINTR else { return (count, code) }
        }
    }
}

/// The reason that a file or a directory could not be read.
struct FileFault: Error {
    /// The `errno`.
    let code: Int32

    /// Whether the process or the system lacks something for now, whatever the file is.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }

    /// The fault as an error about this file.
    func error(of role: String) -> TLSError { .badSettings("\(role): \(errnoText(code))") }
}

/// Notes which file is being read, for the error of those who wait no longer.
package final class FileNote: Sendable {
    /// The note of the thread that reads.
    @TaskLocal static var current: FileNote?

    private let path = Locked<String?>(nil)

    /// Creates an empty note.
    package init() {}

    /// The path of the file; `nil` if none is being read.
    package var file: String? { path.withLock { $0 } }

    fileprivate func set(_ path: String?) { self.path.withLock { $0 = path } }

    /// Notes the files that a function reads.
    package func whileReading<Value>(_ read: () -> Value) -> Value {
        Self.$current.withValue(self, operation: read)
    }
}

let noMemory = "not enough memory"

/// Whether the certificate lacks a part that it has when the same bytes are read again.
///
/// If memory runs out while OpenSSL reads a certificate, it may report success and keep a certificate without
/// its key, or one whose extensions count as invalid. A root is kept, so every certificate below it would be
/// rejected for as long as its index exists.
func isDamagedRoot(_ root: OpaquePointer) -> Bool {
    let (strength, flags) = (keyStrength(of: root), X509_get_extension_flags(root))
    guard strength <= 0 || flags & extensionFaults != 0 || flags & selfSigned == selfIssued else {
        return false
    }
    guard let copy = X509_dup(root) else { return true }
    defer { X509_free(copy) }
    return strength != keyStrength(of: copy) || flags != X509_get_extension_flags(copy)
}

/// The bits of security of the key: 0 without a key, and also for one of which OpenSSL could not keep the
/// size.
private func keyStrength(of root: OpaquePointer) -> Int32 {
    X509_get0_pubkey(root).map { EVP_PKEY_get_security_bits($0) } ?? 0
}

private let extensionFaults = UInt32(bitPattern: EXFLAG_INVALID | EXFLAG_NO_FINGERPRINT)
/// A root that names itself as its issuer is self-signed, as a rule.
private let selfIssued = UInt32(bitPattern: EXFLAG_SI)
private let selfSigned = UInt32(bitPattern: EXFLAG_SI | EXFLAG_SS)
