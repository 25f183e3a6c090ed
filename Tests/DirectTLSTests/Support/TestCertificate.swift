import CDirectOpenSSL

/// A certificate with its key, made in the process in about half a millisecond.
///
/// It can be wrong in ways that `CertificateProfile` of TLSFixtures cannot: a malformed date, a serial number
/// of any bytes, a public key that is not its own, no key identifiers. Tests also need its OpenSSL objects,
/// which TLSFixtures does not expose. The tests of all other targets use `TestAuthority`.
final class TestCertificate: @unchecked Sendable {
    let x509: OpaquePointer
    let key: OpaquePointer
    private let identifier: UInt8?

    /// The properties of a certificate that a test may choose.
    struct Plan {
        var names: [Name] = []
        var commonName = "leaf"
        /// Seconds from now.
        var begins = -3600
        var ends = 3600 * 24
        var isAuthority = false
        var usage = "serverAuth"
        var rawDate: String?
        /// A subjectPublicKeyInfo in base64, shown in place of the certificate's own key.
        var publicKey: String?
        var serial: [UInt8]?
        /// nameConstraints in OpenSSL's words.
        var constraints: String?
        /// The serial number of the issuer in an authorityKeyIdentifier.
        var issuerSerial: UInt8?
        /// subjectKeyIdentifier, which is also the authorityKeyIdentifier of its revocation lists.
        var identifier: UInt8?
    }

    enum Name {
        case dns(String)
        case address([UInt8])
        case uri(String)
    }

    /// Signs with the issuer's key, or with its own where there is no issuer.
    init(_ plan: Plan, issuer: TestCertificate? = nil) {
        key = newKey()
        identifier = plan.identifier
        guard let x509 = X509_new() else { fatalError("no memory") }
        self.x509 = x509
        X509_set_version(x509, 2)
        if let serial = plan.serial {
            ASN1_STRING_set(X509_get_serialNumber(x509), serial, Int32(serial.count))
        } else {
            ASN1_INTEGER_set(X509_get_serialNumber(x509), Int.random(in: 1...Int.max))
        }
        setDates(plan)
        let name = X509_get_subject_name(x509)
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, plan.commonName, -1, -1, 0)
        X509_set_issuer_name(x509, X509_get_subject_name(issuer?.x509 ?? x509))
        let shown = plan.publicKey.map(publicKey)
        X509_set_pubkey(x509, shown ?? key)
        EVP_PKEY_free(shown)
        addExtensions(plan)
        guard X509_sign(x509, issuer?.key ?? key, EVP_sha256()) > 0 else { fatalError("cannot sign") }
    }

    deinit {
        X509_free(x509)
        EVP_PKEY_free(key)
    }

    static let authority = TestCertificate(Plan(commonName: "Test Root", isAuthority: true))

    /// A leaf of the test authority for these DNS names.
    static func leaf(_ names: String...) -> TestCertificate {
        TestCertificate(Plan(names: names.map(Name.dns)), issuer: authority)
    }

    var pem: [UInt8] {
        memory { PEM_write_bio_X509($0, x509) }
    }

    var keyPEM: [UInt8] {
        memory { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    var der: [UInt8] {
        memory { i2d_X509_bio($0, x509) }
    }

    /// A revocation list of this authority, in DER.
    func revocationList(revoking revoked: TestCertificate..., ends: Int = 3600 * 24) -> [UInt8] {
        let list = X509_CRL_new(), begin = X509_gmtime_adj(nil, -3600), end = X509_gmtime_adj(nil, ends)
        defer {
            X509_CRL_free(list)
            ASN1_STRING_free(begin)
            ASN1_STRING_free(end)
        }
        X509_CRL_set_version(list, 1)
        X509_CRL_set_issuer_name(list, X509_get_subject_name(x509))
        X509_CRL_set1_lastUpdate(list, begin)
        X509_CRL_set1_nextUpdate(list, end)
        for certificate in revoked {
            let entry = X509_REVOKED_new()
            X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate.x509))
            X509_REVOKED_set_revocationDate(entry, begin)
            X509_CRL_add0_revoked(list, entry)
        }
        if let identifier {
            let built = newExtension(NID_authority_key_identifier, [0x30, 3, 0x80, 1, identifier])
            X509_CRL_add_ext(list, built, -1)
            X509_EXTENSION_free(built)
        }
        guard X509_CRL_sign(list, key, EVP_sha256()) > 0 else { fatalError("cannot sign") }
        return memory { i2d_X509_CRL_bio($0, list) }
    }

    private func setDates(_ plan: Plan) {
        X509_gmtime_adj(X509_getm_notBefore(x509), plan.begins)
        X509_gmtime_adj(X509_getm_notAfter(x509), plan.ends)
        guard let raw = plan.rawDate else { return }
        let end = X509_getm_notAfter(x509)
        if ASN1_TIME_set_string(end, raw) != 1 { ASN1_STRING_set(end, raw, Int32(raw.utf8.count)) }
    }

    private func addExtensions(_ plan: Plan) {
        add(NID_basic_constraints, plan.isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE")
        add(NID_key_usage, plan.isAuthority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature")
        if !plan.isAuthority { add(NID_ext_key_usage, plan.usage) }
        if let constraints = plan.constraints { add(NID_name_constraints, constraints) }
        if let serial = plan.issuerSerial { add(NID_authority_key_identifier, [0x30, 3, 0x82, 1, serial]) }
        if let identifier { add(NID_subject_key_identifier, [4, 1, identifier]) }
        guard !plan.names.isEmpty else { return }
        let entries = plan.names.flatMap { name -> [UInt8] in
            switch name {
            case .dns(let text): derElement(0x82, Array(text.utf8))
            case .address(let bytes): derElement(0x87, bytes)
            case .uri(let text): derElement(0x86, Array(text.utf8))
            }
        }
        add(NID_subject_alt_name, derElement(0x30, entries))
    }

    private func add(_ kind: Int32, _ bytes: [UInt8]) {
        let built = newExtension(kind, bytes)
        X509_add_ext(x509, built, -1)
        X509_EXTENSION_free(built)
    }

    private func add(_ kind: Int32, _ value: String) {
        let built = X509V3_EXT_conf_nid(nil, nil, kind, value)
        X509_add_ext(x509, built, -1)
        X509_EXTENSION_free(built)
    }
}

/// Returns an extension with this value, which the caller owns.
private func newExtension(_ kind: Int32, _ bytes: [UInt8]) -> OpaquePointer? {
    let value = ASN1_OCTET_STRING_new()
    defer { ASN1_OCTET_STRING_free(value) }
    ASN1_OCTET_STRING_set(value, bytes, Int32(bytes.count))
    return X509_EXTENSION_create_by_NID(nil, kind, 0, value)
}

private func newKey() -> OpaquePointer {
    let maker = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
    defer { EVP_PKEY_CTX_free(maker) }
    var key: OpaquePointer?
    EVP_PKEY_keygen_init(maker)
    EVP_PKEY_CTX_set_group_name(maker, "P-256")
    EVP_PKEY_generate(maker, &key)
    guard let key else { fatalError("no key") }
    return key
}

private func publicKey(_ base64: String) -> OpaquePointer {
    let text = Array(base64.utf8).filter { $0 != UInt8(ascii: "\n") }
    var bytes = [UInt8](repeating: 0, count: text.count)
    EVP_DecodeBlock(&bytes, text, Int32(text.count))
    let key = bytes.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        return d2i_PUBKEY(nil, &cursor, buffer.count)
    }
    guard let key else { fatalError("not a key") }
    return key
}

private func derElement(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    guard content.count > 127 else { return [tag, UInt8(content.count)] + content }
    let size = [content.count >> 16, content.count >> 8, content.count].map { UInt8($0 & 255) }
    return [tag, 0x83] + size + content
}

private func memory(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
    let bio = BIO_new(BIO_s_mem())
    defer { BIO_free(bio) }
    guard write(bio) == 1 else { fatalError("cannot encode") }
    var start: UnsafeMutablePointer<CChar>?
    let count = direct_BIO_get_mem_data(bio, &start)
    return Array(UnsafeRawBufferPointer(start: start, count: count))
}
