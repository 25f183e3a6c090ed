internal import CDirectOpenSSL

/// The private key of a client, freed with this object.
final class PrivateKey {
    /// Owned.
    let raw: OpaquePointer

    /// Takes over a key.
    init(owning raw: OpaquePointer) {
        self.raw = raw
    }

    /// Parses the first key of a text in PEM: PKCS#8, encrypted or not, or a traditional form of OpenSSL's.
    ///
    /// - Parameter passphrase: The passphrase of an encrypted key; `nil` refuses one.
    convenience init(pem bytes: [UInt8], passphrase: String?) throws(TLSError) {
        let question = Passphrase(passphrase)
        var key: OpaquePointer?
        PEMItem.privateKey.forEach(in: bytes, passphrase: question) { item in
            key = item
            return false
        }
        let reason = ErrorQueue.drainedReason()
        guard let key else {
            guard question.wasAsked else { throw .badSettings("client key: \(reason)") }
            // A wrong passphrase decrypts to noise, which may fail in any way.
            throw passphrase != nil
                ? .wrongPassphrase : .badSettings("client key: it is encrypted, and there is no passphrase")
        }
        self.init(owning: key)
    }

    deinit { EVP_PKEY_free(raw) }

    /// Whether it is the key of the certificate. Leaves no error behind.
    func isKey(of certificate: OpaquePointer) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return X509_check_private_key(certificate, raw) == 1
    }

    /// The key as PEM (PKCS#8), not encrypted.
    var pem: [UInt8] {
        get throws(TLSError) {
            try pemText(of: "client key") { PEM_write_bio_PrivateKey($0, raw, nil, nil, 0, nil, nil) }
        }
    }
}

/// What OpenSSL gets when it asks for the passphrase of a key. Without one it would ask on the terminal.
final class Passphrase {
    private let bytes: [UInt8]?
    /// Whether it was asked for, that is whether there is an encrypted key.
    private(set) var wasAsked = false

    init(_ text: String?) {
        bytes = text.map { Array($0.utf8) }
    }

    /// Writes the passphrase to OpenSSL's buffer. Returns its length, or -1 to give up.
    func write(to buffer: UnsafeMutableBufferPointer<CChar>) -> Int32 {
        wasAsked = true
        guard let bytes, bytes.count <= buffer.count else { return -1 }
        for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
        return Int32(bytes.count)
    }
}

/// Returns the text that a function of OpenSSL writes in PEM.
func pemText(of role: String, _ write: (OpaquePointer) -> Int32) throws(TLSError) -> [UInt8] {
    ErrorQueue.clear()
    guard let text = BIO_new(BIO_s_mem()) else { throw .badSettings("\(role): no memory") }
    defer { BIO_free(text) }
    guard write(text) == 1 else { throw .badSettings("\(role): \(ErrorQueue.drainedReason())") }
    var data: UnsafeMutablePointer<CChar>?
    let count = direct_BIO_get_mem_data(text, &data)
    return UnsafeRawBufferPointer(start: data, count: count).map { $0 }
}
