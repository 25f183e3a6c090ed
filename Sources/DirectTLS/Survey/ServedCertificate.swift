internal import CDirectOpenSSL
internal import DirectCore

/// A certificate that a server sent, with the details that a report about it needs.
package struct ServedCertificate: Sendable {
    /// The certificate's contents.
    package let summary: CertificateSummary
    /// The subject.
    package let subject: NameText
    /// The issuer.
    package let issuer: NameText
    /// The public key.
    package let key: KeyText
    /// The signature's algorithm, such as `ecdsa-with-SHA256`.
    package let signature: String
    /// The URLs of the issuer's certificate (RFC 5280, section 4.2.2.1).
    package let issuerURLs: [String]
    /// Whether subject and issuer are the same name.
    package let isSelfIssued: Bool
    /// The number of embedded timestamps from Certificate Transparency logs.
    package let timestamps: Int
    /// Whether the certificate requires a stapled OCSP response (RFC 7633).
    package let requiresStaple: Bool

    /// Reads the certificate. Borrows the pointer.
    init(_ certificate: OpaquePointer) {
        let reader = CertificateReader(certificate)
        summary = CertificateSummary(certificate)
        subject = NameText(subjectOf: certificate)
        issuer = NameText(issuerOf: certificate)
        key = KeyText(of: certificate)
        signature = reader.signatureAlgorithm
        issuerURLs = reader.accessURLs(NID_ad_ca_issuers, atMost: 4)
        isSelfIssued =
            X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0
        timestamps = reader.timestampCount
        requiresStaple = reader.requiresStaple
    }

    /// The certificate in PEM (RFC 7468).
    package var pem: String {
        let text = Base64.encode(summary.der)
        var lines = ["-----BEGIN CERTIFICATE-----"]
        var rest = Substring(text)
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }
}

/// A distinguished name as text: the whole name, and a short form for people.
package struct NameText: Equatable, Sendable {
    /// The name in RFC 2253 form.
    package let full: String
    /// The last common name, else the last organisational unit or organisation, else the whole name.
    package let short: String

    init(subjectOf certificate: OpaquePointer) {
        self.init(X509_get_subject_name(certificate), CertificateReader(certificate).subject)
    }

    init(issuerOf certificate: OpaquePointer) {
        self.init(X509_get_issuer_name(certificate), CertificateReader(certificate).issuer)
    }

    private init(_ name: OpaquePointer?, _ full: String) {
        self.full = full
        short =
            [NID_commonName, NID_organizationalUnitName, NID_organizationName].lazy
            .compactMap { Self.last($0, in: name) }.first ?? full
    }

    private static func last(_ kind: Int32, in name: OpaquePointer?) -> String? {
        guard let name else { return nil }
        var last: Int32 = -1
        var next = X509_NAME_get_index_by_NID(name, kind, -1)
        while next >= 0 {
            last = next
            next = X509_NAME_get_index_by_NID(name, kind, last)
        }
        guard last >= 0, let entry = X509_NAME_get_entry(name, last) else { return nil }
        let text = ASN1Value(X509_NAME_ENTRY_get_data(entry))?.text
        return text == "" ? nil : text
    }
}

/// The kind of a certificate's key.
package struct KeyText: Equatable, Sendable {
    /// `EC`, `RSA`, `ED25519`, or any other name of OpenSSL's.
    package let type: String
    /// The size of the key in bits.
    package let bits: Int
    /// The name of the curve, such as `P-256`; `nil` for other kinds of keys.
    package let curve: String?

    init(of certificate: OpaquePointer) {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let key = X509_get0_pubkey(certificate) else {
            (type, bits, curve) = ("unknown", 0, nil)
            return
        }
        type = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown"
        bits = Int(EVP_PKEY_get_bits(key))
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else {
            curve = nil
            return
        }
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else {
            curve = nil
            return
        }
        curve =
            EC_curve_nid2nist(OBJ_txt2nid(name)).map { String(cString: $0) }
            ?? String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension CertificateReader {
    fileprivate var signatureAlgorithm: String {
        let number = X509_get_signature_nid(raw)
        guard number != NID_undef, let name = OBJ_nid2ln(number) else { return "unknown" }
        return String(cString: name)
    }

    /// The URLs at which the issuer offers this, such as its certificate (RFC 5280, section 4.2.2.1).
    func accessURLs(_ method: Int32, atMost limit: Int) -> [String] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let list = X509_get_ext_d2i(raw, NID_info_access, nil, nil) else { return [] }
        let stack = OpaquePointer(list)
        defer { AUTHORITY_INFO_ACCESS_free(stack) }
        var urls: [String] = []
        for index in 0..<max(0, OPENSSL_sk_num(stack)) where urls.count < limit {
            guard let entry = OPENSSL_sk_value(stack, index) else { continue }
            let access = entry.assumingMemoryBound(to: ACCESS_DESCRIPTION.self).pointee
            guard OBJ_obj2nid(access.method) == method else { continue }
            var kind: Int32 = 0
            let value = ASN1Value(GENERAL_NAME_get0_value(access.location, &kind))
            guard let value, kind == GEN_URI else { continue }
            urls.append(value.utf8)
        }
        return urls
    }

    /// Whether the TLS features that the certificate requires contain status_request (RFC 7633, section
    /// 4.2.1).
    fileprivate var requiresStaple: Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let list = X509_get_ext_d2i(raw, NID_tlsfeature, nil, nil) else { return false }
        let stack = OpaquePointer(list)
        defer { TLS_FEATURE_free(stack) }
        return (0..<max(0, OPENSSL_sk_num(stack))).contains { index in
            ASN1Value(OPENSSL_sk_value(stack, index))?.integer == Int(TLSEXT_TYPE_status_request)
        }
    }

    fileprivate var timestampCount: Int {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let list = X509_get_ext_d2i(raw, NID_ct_precert_scts, nil, nil) else { return 0 }
        let stack = OpaquePointer(list)
        defer { SCT_LIST_free(stack) }
        return Int(max(0, OPENSSL_sk_num(stack)))
    }
}

extension IdentityArchive {
    /// The certificates, that of the key first.
    package var certificates: [ServedCertificate] { all.map { ServedCertificate($0) } }
}
