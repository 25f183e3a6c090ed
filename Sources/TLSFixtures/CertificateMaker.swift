internal import CDirectOpenSSL

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Creates and signs certificates from profiles with OpenSSL's C API. A P-256 certificate takes 0.6 ms.
enum CertificateMaker {
    /// Returns a new certificate. It is self-signed if `issuer` is `nil`.
    ///
    /// - Parameter chain: The certificates that a server sends after it.
    static func make(
        _ profile: CertificateProfile,
        serial: UInt64,
        issuer: FixtureCertificate?,
        chain: [FixtureCertificate]
    ) throws(FixtureError) -> FixtureCertificate {
        direct_start_OpenSSL()
        let key = try key(for: profile)
        guard let certificate = X509_new() else { throw openSSLError("X509_new") }
        do throws(FixtureError) {
            try fill(certificate, profile: profile, serial: serial, key: key, issuer: issuer)
            try addExtensions(certificate, profile: profile, issuer: issuer?.x509 ?? certificate)
            try sign(certificate, by: issuer?.key ?? key, digest: profile.digest)
        } catch {
            X509_free(certificate)
            EVP_PKEY_free(key)
            throw error
        }
        chain.forEach { X509_up_ref($0.x509) }
        return FixtureCertificate(x509: certificate, key: key, chain: chain.map(\.x509))
    }

    /// Sets the version, serial number, validity, names and public key.
    private static func fill(
        _ certificate: OpaquePointer,
        profile: CertificateProfile,
        serial: UInt64,
        key: OpaquePointer,
        issuer: FixtureCertificate?
    ) throws(FixtureError) {
        // X.509 counts from 0: 2 stands for version 3 (RFC 5280, section 4.1.2.1).
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial)
        ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(profile.validity.notBefore))
        ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(profile.validity.notAfter))
        for (field, value) in [("O", profile.organization), ("CN", profile.commonName)] {
            guard let value else { continue }
            let bytes = Array(value.utf8)
            guard
                X509_NAME_add_entry_by_txt(
                    X509_get_subject_name(certificate),
                    field,
                    MBSTRING_UTF8,
                    bytes,
                    Int32(bytes.count),
                    -1,
                    0
                ) == 1
            else { throw openSSLError("subject \(field)=\(value)") }
        }
        X509_set_issuer_name(certificate, X509_get_subject_name(issuer?.x509 ?? certificate))
        guard X509_set_pubkey(certificate, key) == 1 else { throw openSSLError("X509_set_pubkey") }
    }

    private static func addExtensions(
        _ certificate: OpaquePointer,
        profile: CertificateProfile,
        issuer: OpaquePointer
    ) throws(FixtureError) {
        var extensions: [(nid: Int32, value: String)] = []
        if let isAuthority = profile.isAuthority {
            let length = profile.pathLength.map { ",pathlen:\($0)" } ?? ""
            extensions.append(
                (NID_basic_constraints, "critical,CA:\(isAuthority ? "TRUE" : "FALSE")\(length)")
            )
        }
        if let usage = profile.keyUsage { extensions.append((NID_key_usage, usage)) }
        if !profile.purposes.isEmpty {
            extensions.append((NID_ext_key_usage, profile.purposes.map(\.rawValue).joined(separator: ",")))
        }
        extensions.append((NID_subject_key_identifier, "hash"))
        // For a certificate that is its own issuer OpenSSL would write an empty authorityKeyIdentifier, which
        // a root must not have.
        if issuer != certificate { extensions.append((NID_authority_key_identifier, "keyid")) }
        if let constraints = profile.nameConstraints {
            extensions.append((NID_name_constraints, "critical," + constraints))
        }
        if let url = profile.issuerURL { extensions.append((NID_info_access, "caIssuers;URI:" + url)) }
        if let url = profile.revocationListURL {
            extensions.append((NID_crl_distribution_points, "URI:" + url))
        }
        if profile.mustStaple { extensions.append((NID_tlsfeature, "status_request")) }
        for (nid, value) in extensions {
            try add(nid, value: value, to: certificate, issuer: issuer)
        }
        try addNames(profile, to: certificate)
        for raw in profile.extensions { try add(raw, to: certificate) }
    }

    /// Adds an extension that OpenSSL builds from its text form.
    private static func add(
        _ nid: Int32,
        value: String,
        to certificate: OpaquePointer,
        issuer: OpaquePointer
    ) throws(FixtureError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        guard let built = X509V3_EXT_conf_nid(nil, &context, nid, value) else {
            throw openSSLError("extension \(value)")
        }
        X509_add_ext(certificate, built, -1)
        X509_EXTENSION_free(built)
    }

    /// Adds an extension whose value the profile has in DER.
    private static func add(
        _ raw: CertificateProfile.Extension,
        to certificate: OpaquePointer
    ) throws(FixtureError) {
        let content = ASN1_OCTET_STRING_new()
        defer { ASN1_OCTET_STRING_free(content) }
        ASN1_OCTET_STRING_set(content, raw.der, Int32(raw.der.count))
        let identifier = OBJ_txt2obj(raw.identifier, 1)
        defer { ASN1_OBJECT_free(identifier) }
        guard let built = X509_EXTENSION_create_by_OBJ(nil, identifier, raw.isCritical ? 1 : 0, content)
        else {
            throw openSSLError("extension \(raw.identifier)")
        }
        X509_add_ext(certificate, built, -1)
        X509_EXTENSION_free(built)
    }

    /// Adds subjectAltName. It is built entry by entry rather than from text, so that a name may contain any
    /// byte.
    private static func addNames(
        _ profile: CertificateProfile,
        to certificate: OpaquePointer
    ) throws(FixtureError) {
        guard !profile.names.isEmpty else { return }
        let names = OPENSSL_sk_new_null()
        defer { GENERAL_NAMES_free(names) }
        for name in profile.names {
            let (kind, bytes): (Int32, [UInt8]) =
                switch name {
                case .dns(let text): (GEN_DNS, Array(text.utf8))
                case .dnsBytes(let bytes): (GEN_DNS, bytes)
                case .ip(let text): (GEN_IPADD, try addressBytes(text))
                case .uri(let text): (GEN_URI, Array(text.utf8))
                case .email(let text): (GEN_EMAIL, Array(text.utf8))
                }
            let type = kind == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING
            OPENSSL_sk_push(names, fixture_GENERAL_NAME_new(kind, type, bytes, Int32(bytes.count)))
        }
        // RFC 5280, section 4.2.1.6: the extension is critical if the subject is empty.
        let critical: Int32 = (profile.commonName ?? profile.organization) == nil ? 1 : 0
        guard
            X509_add1_ext_i2d(certificate, NID_subject_alt_name, UnsafeMutableRawPointer(names), critical, 0)
                == 1
        else { throw openSSLError("subject alternative names") }
    }

    static func sign(
        _ certificate: OpaquePointer,
        by key: OpaquePointer,
        digest: CertificateProfile.Digest
    ) throws(FixtureError) {
        guard X509_sign(certificate, key, digestFunction(digest, for: key)) > 0 else {
            throw openSSLError("X509_sign")
        }
    }

    /// Returns the digest for `X509_sign`; `nil` for Ed25519, whose signature algorithm includes one (RFC
    /// 8032).
    static func digestFunction(_ digest: CertificateProfile.Digest, for key: OpaquePointer) -> OpaquePointer?
    {
        guard EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519 else { return nil }
        return switch digest {
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        case .sha1: EVP_sha1()
        case .md5: EVP_md5()
        }
    }

    /// Returns the key for a profile as a reference that the caller owns.
    private static func key(for profile: CertificateProfile) throws(FixtureError) -> OpaquePointer {
        if let key = profile.existingKey?.key {
            EVP_PKEY_up_ref(key)
            return key
        }
        guard case .rsa(let bits) = profile.key else { return try newKey(profile.key) }
        let key = try rsaKeys.value(for: bits) { () throws(FixtureError) in try newKey(profile.key) }
        EVP_PKEY_up_ref(key)
        return key
    }

    /// The RSA keys of this process, one for each size: they are shared because generating a key of 2048 bits
    /// takes at least a third of a second. One of 4096 bits may take a minute; no other size waits for it.
    private static let rsaKeys = MadeOnce<Int, OpaquePointer>()

    private static func newKey(_ kind: CertificateProfile.Key) throws(FixtureError) -> OpaquePointer {
        let key: OpaquePointer? =
            switch kind {
            case .p256: fixture_EVP_EC_gen("P-256")
            case .p384: fixture_EVP_EC_gen("P-384")
            case .ed25519: fixture_EVP_ED25519_gen()
            case .rsa(let bits): fixture_EVP_RSA_gen(UInt32(clamping: bits))
            }
        guard let key else { throw openSSLError("key \(kind)") }
        return key
    }
}

/// Returns the 4 or 16 bytes of an IP address.
private func addressBytes(_ text: String) throws(FixtureError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
    if inet_pton(AF_INET6, text, &bytes) == 1 { return bytes }
    throw .notAnAddress(text)
}

/// Whether the text is an IPv4 or IPv6 address.
func isIPAddress(_ text: String) -> Bool {
    (try? addressBytes(text)) != nil
}
