internal import CDirectOpenSSL

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension FixtureCertificate {
    /// Reads `NAME.pem` in a folder: the leaf, the chain to send after it, and the private key. The key may
    /// instead be in `NAME.key`.
    public static func load(_ name: String, from folder: String) throws(FixtureError) -> FixtureCertificate {
        let path = "\(folder)/\(name).pem"
        let hasKey = try contents(of: path).contains("PRIVATE KEY")
        return try load(certificate: path, key: hasKey ? path : "\(folder)/\(name).key")
    }

    /// Reads two PEM files: the leaf and the chain to send after it from one, the unencrypted private key
    /// from the other.
    public static func load(certificate: String, key: String) throws(FixtureError) -> FixtureCertificate {
        let (certificates, keys) = (try contents(of: certificate), try contents(of: key))
        do throws(FixtureError) {
            return try FixtureCertificate(pem: certificates, key: keys)
        } catch .badFile(_, let why) {
            throw .badFile(path: certificate, why: why)
        }
    }

    /// Reads PEM text. Text outside the PEM blocks is skipped.
    public convenience init(pem: String, key: String) throws(FixtureError) {
        var certificates: [OpaquePointer] = []
        withMemoryBIO(reading: Array(pem.utf8)) { bio in
            while let next = PEM_read_bio_X509(bio, nil, nil, nil) { certificates.append(next) }
        }
        var privateKey: OpaquePointer?
        withMemoryBIO(reading: Array(key.utf8)) { privateKey = PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        // OpenSSL reports the end of the text as an error.
        ERR_clear_error()
        guard let privateKey, !certificates.isEmpty else {
            certificates.forEach { X509_free($0) }
            EVP_PKEY_free(privateKey)
            throw .badFile(path: "PEM", why: privateKey == nil ? "no private key" : "no certificate")
        }
        let leaf = certificates.removeFirst()
        self.init(x509: leaf, key: privateKey, chain: certificates)
        guard X509_check_private_key(leaf, privateKey) == 1 else {
            ERR_clear_error()
            throw .badFile(path: "PEM", why: "the key is not the certificate's")
        }
    }

    /// Returns a copy of this certificate with an invalid signature and the same chain.
    public func withBrokenSignature() throws(FixtureError) -> FixtureCertificate {
        var bytes = der
        // The signature is the last element, and its last byte can take any value without breaking the DER.
        bytes[bytes.count - 1] ^= 0x01
        let broken = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509(nil, &cursor, buffer.count)
        }
        guard let broken else { throw openSSLError("d2i_X509") }
        chain.forEach { X509_up_ref($0) }
        EVP_PKEY_up_ref(key)
        return FixtureCertificate(x509: broken, key: key, chain: chain)
    }
}

/// Returns the whole file as text.
private func contents(of path: String) throws(FixtureError) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .badFile(path: path, why: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw .badFile(path: path, why: String(cString: strerror(errno))) }
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}
