internal import CDirectOpenSSL
internal import DirectCore

/// Reads the contents of one certificate, which may be hostile. Borrows the pointer.
///
/// The contents come from the operator of the server, or from an attacker: names may contain NUL bytes, dates
/// may be invalid, and there may be ten thousand names.
struct CertificateReader {
    private let certificate: OpaquePointer

    /// The certificate itself. Borrowed.
    var raw: OpaquePointer { certificate }

    init(_ certificate: OpaquePointer) {
        self.certificate = certificate
    }

    /// The names and addresses of a subjectAltName.
    struct Names {
        var dns: [String] = []
        var addresses: [String] = []
        var uris: [String] = []
        /// The number of names and addresses, and of URIs, beyond the limit.
        var omitted = 0

        var all: [String] { dns + addresses }
    }

    /// Returns the dNSName, iPAddress and uniformResourceIdentifier entries of the subjectAltName. Bytes that
    /// are not UTF-8 are replaced. URIs have a limit of their own: no name is left out because of them.
    func names(atMost limit: Int) -> Names {
        var names = Names()
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let list = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return names }
        let stack = OpaquePointer(list)
        defer { GENERAL_NAMES_free(stack) }
        for index in 0..<max(0, OPENSSL_sk_num(stack)) {
            guard let entry = OPENSSL_sk_value(stack, index) else { continue }
            var kind: Int32 = 0
            let value = GENERAL_NAME_get0_value(entry.assumingMemoryBound(to: GENERAL_NAME.self), &kind)
            guard let value = ASN1Value(value), [GEN_DNS, GEN_IPADD, GEN_URI].contains(kind) else { continue }
            guard (kind == GEN_URI ? names.uris : names.all).count < limit else {
                names.omitted += 1
                continue
            }
            switch kind {
            case GEN_DNS: names.dns.append(value.utf8)
            case GEN_URI: names.uris.append(value.utf8)
            default:
                let bytes = value.bytes
                names.addresses.append(
                    IPAddress(bytes: bytes)?.description ?? "invalid address \(Hex.encode(bytes))"
                )
            }
        }
        return names
    }

    var subject: String { Self.text(X509_get_subject_name(certificate)) }
    var issuer: String { Self.text(X509_get_issuer_name(certificate)) }
    var notBefore: Int? { ASN1Value(X509_get0_notBefore(certificate))?.secondsSince1970 }
    var notAfter: Int? { ASN1Value(X509_get0_notAfter(certificate))?.secondsSince1970 }

    /// The serial number in hexadecimal digits. A negative one, which RFC 5280 forbids, has a minus sign.
    var serial: String {
        guard let number = ASN1Value(X509_get0_serialNumber(certificate)) else { return "" }
        return (number.isNegative ? "-" : "") + Hex.encode(number.bytes)
    }

    /// The certificate in DER.
    var der: [UInt8] {
        Self.encoded { i2d_X509(certificate, $0) }
    }

    /// The public key with its algorithm (SubjectPublicKeyInfo) in DER.
    var publicKeyInfo: [UInt8] {
        Self.encoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) }
    }

    /// Returns a name as RFC 2253 text, in which OpenSSL escapes control characters.
    static func text(_ name: OpaquePointer?) -> String {
        guard let name, let memory = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(memory) }
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        // Without this flag UTF-8 is left as it is. Deceptive characters in it are escaped where the text is
        // printed.
        let flags = direct_XN_FLAG_RFC2253() & ~UInt(ASN1_STRFLGS_ESC_MSB)
        guard X509_NAME_print_ex(memory, name, 0, flags) >= 0 else { return "" }
        var start: UnsafeMutablePointer<CChar>?
        let count = direct_BIO_get_mem_data(memory, &start)
        guard let start, count > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let count = Int(encode(nil))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            var cursor = buffer.baseAddress
            used = max(0, Int(encode(&cursor)))
        }
    }
}
