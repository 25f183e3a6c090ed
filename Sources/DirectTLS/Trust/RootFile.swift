internal import CDirectOpenSSL

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A file of roots in PEM.
///
/// It is read as a whole before it is parsed. OpenSSL's readers of PEM take a read that fails for the end of
/// the file: a store would have only the roots before that place, for as long as it exists.
struct RootFile {
    let path: String
    /// What the file has, for errors.
    var kind = "roots"
    /// The file in words, for errors.
    var role: String { "\(kind) from \(path)" }

    /// Returns the bytes of the file.
    func bytes() throws(TLSError) -> [UInt8] {
        while true {
            ErrorQueue.clear()
            if let bytes = read() { return bytes }
            let code = ErrorQueue.drain()
            // A signal has interrupted the call, which OpenSSL does not repeat.
            guard code == ErrorQueue.code(of: EINTR) else {
                throw .badSettings("\(role): \(ErrorQueue.reason(of: code))")
            }
        }
    }

    /// Returns the bytes of the file, or `nil` with the reason in the error queue.
    private func read() -> [UInt8]? {
        guard let file = BIO_new_file(path, "r") else { return nil }
        defer { BIO_free(file) }
        var bytes: [UInt8] = []
        while true {
            var result: Int32 = 0
            let piece = [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
                result = BIO_read(file, buffer.baseAddress, Int32(buffer.count))
                count = max(0, Int(result))
            }
            if result == 0 { return bytes }
            guard result > 0 else { return nil }
            bytes += piece
        }
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
