internal import CDirectOpenSSL

/// A kind of item in PEM text, and the functions of OpenSSL that read and free one.
struct PEMItem: Sendable {
    /// One of OpenSSL's functions `PEM_read_bio_…`.
    typealias Read =
        @Sendable (
            OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, Password?, UnsafeMutableRawPointer?
        ) -> OpaquePointer?
    /// OpenSSL's callback for the password of a key.
    typealias Password =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32
    private typealias Free = @Sendable (OpaquePointer?) -> Void

    static let certificate = PEMItem("certificate", PEM_read_bio_X509_AUX, free: X509_free)
    static let revocationList = PEMItem("revocation list", PEM_read_bio_X509_CRL, free: X509_CRL_free)
    static let privateKey = PEMItem("private key", PEM_read_bio_PrivateKey, free: EVP_PKEY_free)

    private let name: String
    private let read: Read
    private let free: Free

    private init(_ name: String, _ read: @escaping Read, free: @escaping Free) {
        (self.name, self.read, self.free) = (name, read, free)
    }

    /// Calls `body`, which owns each item, until it returns `false` or there is no further item. The error
    /// queue then says why, which is `PEM_R_NO_START_LINE` at the end of the text.
    ///
    /// - Returns: Whether the text could be read at all. If not, the process is out of memory, whatever the
    ///   queue says.
    @discardableResult
    func forEach(in bytes: [UInt8], passphrase: Passphrase = Passphrase(nil), body: (OpaquePointer) -> Bool)
        -> Bool
    {
        ErrorQueue.clear()
        // The bytes must not move while the BIO reads them: it keeps the pointer, not a copy.
        return bytes.withUnsafeBytes { buffer in
            guard let text = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return false
            }
            defer { BIO_free(text) }
            // OpenSSL borrows it for the calls.
            let question = Unmanaged.passUnretained(passphrase).toOpaque()
            defer { withExtendedLifetime(passphrase) {} }
            while let item = read(text, nil, answerPassphrase, question), body(item) {}
            return true
        }
    }

    /// Returns all items, which the caller owns. An error names their role.
    ///
    /// - Throws: If there is none, or a further one cannot be read.
    func all(in bytes: [UInt8], as role: String) throws(TLSError) -> [OpaquePointer] {
        let (items, fault) = beginning(of: bytes)
        guard let fault else { return items }
        for item in items { free(item) }
        throw .badSettings("\(role): \(fault)")
    }

    /// Returns the items in front of the first that cannot be read, which the caller owns, and what is wrong
    /// there; `nil` if these are all.
    func beginning(of bytes: [UInt8]) -> (items: [OpaquePointer], fault: String?) {
        var items: [OpaquePointer] = []
        forEach(in: bytes) { item in
            items.append(item)
            return true
        }
        let code = ErrorQueue.drain()
        if Self.isCut(bytes) { return (items, "PEM text that ends within a line of dashes") }
        if items.isEmpty { return (items, "no \(name) in PEM text") }
        if ERR_GET_REASON(code) == PEM_R_NO_START_LINE { return (items, nil) }
        return (items, "\(name) \(items.count + 1) in PEM text: \(ErrorQueue.reason(of: code))")
    }
}

extension PEMItem {
    /// Whether the text ends within the line that begins or ends an item. To OpenSSL there is no item then,
    /// and one that was meant is missing.
    static func isCut(_ bytes: [UInt8]) -> Bool {
        let blank: [UInt8] = [0x00, 0x09, 0x0A, 0x0D, 0x20]
        guard let end = bytes.lastIndex(where: { !blank.contains($0) }) else { return false }
        let text = bytes[...end]
        let line = text.lastIndex(of: 0x0A).map { text[($0 + 1)...] } ?? text
        let (begin, stop) = ("-----BEGIN ".utf8, "-----END ".utf8)
        let isPart = line.count > 2 && (begin.starts(with: line) || stop.starts(with: line))
        return isPart || line.starts(with: begin)
            || line.starts(with: stop) && !line.suffix(5).elementsEqual("-----".utf8)
    }
}

/// OpenSSL's callback for the passphrase of an encrypted key.
private func answerPassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?,
    size: Int32,
    isWriting: Int32,
    question: UnsafeMutableRawPointer?
) -> Int32 {
    guard let question else { return -1 }
    let room = UnsafeMutableBufferPointer(start: buffer, count: Int(max(0, size)))
    return Unmanaged<Passphrase>.fromOpaque(question).takeUnretainedValue().write(to: room)
}
