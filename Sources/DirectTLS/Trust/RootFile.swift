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
    private var role: String { "\(kind) from \(path)" }

    /// Returns the certificates of the file.
    func certificates() throws(TLSError) -> CertificateList {
        try CertificateList(pem: try bytes(), as: role)
    }

    /// How far a file was read into a store.
    enum Reading: Equatable {
        /// All its roots are in the store.
        case whole
        /// The file cannot be read, or memory ran out.
        case incomplete
        /// After so many roots there is one that cannot be parsed: it is malformed, or memory ran out.
        /// OpenSSL 3.5 does not say when it could not enlarge a string (`CRYPTO_realloc`), and reports an
        /// error of ASN.1.
        case broken(after: Int)
    }

    /// Adds the file's roots to a store that other connections use at the same time, during a handshake. The
    /// store skips those that it already has.
    ///
    /// A root that is incomplete for lack of memory is not added, because the store would keep it for good.
    /// The error queue is left without errors of its own.
    @discardableResult
    func add(to store: OpaquePointer) -> Reading {
        guard let bytes = try? bytes() else { return .incomplete }
        var (count, isWhole) = (0, true)
        let isRead = PEMItem.certificate.forEach(in: bytes) { certificate in
            defer { X509_free(certificate) }
            guard !isDamagedRoot(certificate), !ErrorQueue.drainSaysNoMemory() else {
                isWhole = false
                return true
            }
            // The store adds a reference of its own.
            if X509_STORE_add_cert(store, certificate) != 1 { isWhole = false }
            count += 1
            return true
        }
        let end = ERR_peek_error()
        // The end of the text is an error, too. Without memory, OpenSSL may also end without any.
        guard !ErrorQueue.drainSaysNoMemory(), isRead, isWhole, end != 0 else { return .incomplete }
        return ERR_GET_REASON(end) == PEM_R_NO_START_LINE ? .whole : .broken(after: count)
    }

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

extension TrustStore {
    /// Answers a lookup with a root from the store, in the form that OpenSSL expects of a lookup method.
    /// Returns whether there is one.
    static func answer(
        _ result: OpaquePointer?,
        with name: OpaquePointer?,
        in store: OpaquePointer
    ) -> Bool {
        X509_STORE_lock(store)
        defer { X509_STORE_unlock(store) }
        guard let found = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), X509_LU_X509, name)
        else { return false }
        // OpenSSL expects a borrowed pointer here and adds its own reference, while `set1` adds one, too.
        let certificate = X509_OBJECT_get0_X509(found)
        X509_OBJECT_set1_X509(result, certificate)
        X509_free(certificate)
        return true
    }
}
