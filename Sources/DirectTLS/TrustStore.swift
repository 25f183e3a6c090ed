internal import CDirectOpenSSL

/// Builds the set of certificates that may vouch for a server.
enum TrustStore {
    /// A store for these roots. The caller owns one reference.
    static func make(_ roots: TrustRoots) throws(TLSError) -> OpaquePointer {
        switch roots {
        case .system:
            return try SystemRoots.shared()
        case .systemAnd(let sources):
            return try filled { store throws(TLSError) in
                try SystemRoots.find().add(to: store)
                for source in sources { try add(source, to: store) }
            }
        case .only(let sources):
            guard !sources.isEmpty else { throw .badSettings("no roots, and the system's are not wanted") }
            return try filled { store throws(TLSError) in
                for source in sources { try add(source, to: store) }
            }
        }
    }

    /// A new store after `fill`; freed again where that fails.
    static func filled(_ fill: (OpaquePointer) throws(TLSError) -> Void) throws(TLSError) -> OpaquePointer {
        guard let store = X509_STORE_new() else { throw .badSettings("no memory for a trust store") }
        do throws(TLSError) {
            ErrorQueue.clear()
            try fill(store)
            try demandWholeRoots(in: store)
            return store
        } catch {
            X509_STORE_free(store)
            throw error
        }
    }

    private static func add(_ source: CertificateSource, to store: OpaquePointer) throws(TLSError) {
        switch source {
        case .pemFile(let path):
            guard X509_STORE_load_file(store, path) == 1 else {
                throw .badSettings("roots from \(path): \(ErrorQueue.drainedReason())")
            }
        case .pem(let bytes):
            try CertificateList(pem: bytes, as: "roots").add(to: store)
        case .der(let bytes):
            try CertificateList(der: bytes).add(to: store)
        }
    }
}

/// Certificates parsed from bytes of the user's, freed with this object.
final class CertificateList {
    private var items: [OpaquePointer] = []

    /// Reads them; the error says what they were to be.
    init(pem bytes: [UInt8], as role: StaticString = "certificates") throws(TLSError) {
        ErrorQueue.clear()
        // The bytes must stay put while the BIO reads them: it keeps the pointer, not a copy.
        bytes.withUnsafeBytes { buffer in
            guard let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return
            }
            defer { BIO_free(memory) }
            while let certificate = PEM_read_bio_X509_AUX(memory, nil, refusePassword, nil) {
                items.append(certificate)
            }
        }
        let code = ErrorQueue.drain()
        guard !items.isEmpty else { throw .badSettings("\(role): no certificate in PEM text") }
        guard ERR_GET_REASON(code) == PEM_R_NO_START_LINE else {
            throw .badSettings(
                "\(role): certificate \(items.count + 1) in PEM text: \(ErrorQueue.reason(of: code))"
            )
        }
    }

    init(der bytes: [UInt8]) throws(TLSError) {
        ErrorQueue.clear()
        let certificate = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509(nil, &cursor, buffer.count)
        }
        guard let certificate else {
            throw .badSettings("certificate in DER form: \(ErrorQueue.drainedReason())")
        }
        items = [certificate]
    }

    /// The certificates. Borrowed.
    var all: [OpaquePointer] { items }

    /// The first certificate. Borrowed.
    var first: OpaquePointer? { items.first }

    deinit {
        for certificate in items { X509_free(certificate) }
    }

    /// Makes each a root. The store takes references of its own.
    func add(to store: OpaquePointer) throws(TLSError) {
        for certificate in items {
            guard X509_STORE_add_cert(store, certificate) == 1 else {
                throw .badSettings("root: \(ErrorQueue.drainedReason())")
            }
        }
    }

    /// Makes the first our own and the rest its chain. The context takes references of its own.
    func show(in context: OpaquePointer) throws(TLSError) {
        for (index, certificate) in items.enumerated() {
            let taken =
                index == 0
                ? SSL_CTX_use_certificate(context, certificate)
                : direct_SSL_CTX_add1_chain_cert(context, certificate)
            guard taken == 1 else {
                throw .badSettings("client certificate \(index + 1): \(ErrorQueue.drainedReason())")
            }
        }
    }
}

/// Without this OpenSSL would ask on the terminal for the password of an encrypted key.
func refusePassword(
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: Int32,
    _ isWriting: Int32,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    -1
}
