internal import CDirectOpenSSL

/// Keys.
extension ChainRule {
    /// Baseline Requirements, section 6.1.5, and RFC 8446, section 4.2.3: RSA and elliptic curves. TLS 1.3,
    /// browsers, Go and rustls have dropped DSA; OpenSSL still accepts it in authorities.
    static let onlyCurrentKeyKinds = ChainRule(
        "a key that is neither RSA nor elliptic curve (Baseline Requirements, 6.1.5)"
    ) { certificate in
        guard let key = X509_get0_pubkey(certificate.raw) else { return true }
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS, EVP_PKEY_EC, EVP_PKEY_ED25519, EVP_PKEY_ED448: return false
        default: return true
        }
    }

    /// Baseline Requirements, section 6.1.5: the length of an RSA modulus is a multiple of 8 bits.
    static let wholeByteKeys = ChainRule(
        "an RSA key whose length is not a multiple of 8 bits (Baseline Requirements, 6.1.5)"
    ) { certificate in
        guard let key = X509_get0_pubkey(certificate.raw) else { return true }
        let kind = EVP_PKEY_get_base_id(key)
        return (kind == EVP_PKEY_RSA || kind == EVP_PKEY_RSA_PSS) && EVP_PKEY_get_bits(key) % 8 != 0
    }

    /// Baseline Requirements, section 6.1.5: only the three NIST curves that browsers support.
    static let onlyCurvesOfTheWeb = ChainRule(
        "a key on a curve other than P-256, P-384 and P-521 (Baseline Requirements, 6.1.5)"
    ) { certificate in
        guard let key = X509_get0_pubkey(certificate.raw) else { return true }
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_EC: return !curvesOfTheWeb.contains(curve(of: key))
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: return true
        default: return false
        }
    }
}

private let curvesOfTheWeb = [NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1]

private func curve(of key: OpaquePointer) -> Int32 {
    var name = [CChar](repeating: 0, count: 64)
    var count = 0
    guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return NID_undef }
    return OBJ_txt2nid(name)
}

/// Extensions.
extension ChainRule {
    /// RFC 5280, section 4.2: readers disagree about which one counts. Go rejects such a certificate, too.
    static let noExtensionTwice = ChainRule(
        "a duplicate extension (RFC 5280, 4.2)"
    ) { certificate in
        var seen: Set<[UInt8]> = []
        return (0..<max(0, X509_get_ext_count(certificate.raw))).contains { index in
            let kind = X509_EXTENSION_get_object(X509_get_ext(certificate.raw, index))
            let bytes = UnsafeBufferPointer(start: OBJ_get0_data(kind), count: OBJ_length(kind))
            return !seen.insert(Array(bytes)).inserted
        }
    }

    /// RFC 5280, sections 4.2.1.8, 11, 14 and 15. OpenSSL's strict checks cover the key identifiers, and any
    /// critical extension that OpenSSL does not know is an error already.
    static let rightCriticality = ChainRule(
        "an extension that is critical and must not be, or is not and must be (RFC 5280, 4.2.1)"
    ) { certificate in
        let critical = [NID_policy_constraints, NID_inhibit_any_policy]
        let harmless = [NID_subject_directory_attributes, NID_freshest_crl]
        return critical.contains { certificate.has($0) && !certificate.marksCritical($0) }
            || harmless.contains(where: certificate.marksCritical)
    }

    /// RFC 5280, section 4.2.2.1: one access description or more. Go rejects such a certificate, too.
    static let decodableInformationAccess = ChainRule(
        "authorityInfoAccess that cannot be read (RFC 5280, 4.2.2.1)"
    ) { certificate in
        certificate.has(NID_info_access)
            && certificate.withExtension(NID_info_access, free: { AUTHORITY_INFO_ACCESS_free($0) }) { list in
                OPENSSL_sk_num(list) <= 0
            }
    }
}

/// Purpose and names.
extension ChainRule {
    /// RFC 5280, section 4.2.1.12, for the whole chain: an extKeyUsage, if there is one, contains serverAuth.
    ///
    /// OpenSSL accepts the two purposes of "server gated crypto" instead. Their only use was to unlock strong
    /// ciphers in browsers of the 1990s. Browsers, Go and rustls no longer know them, and an authority that
    /// is limited to them has not been approved to certify servers.
    static let purposeIsServers = ChainRule(
        "an extKeyUsage without serverAuth (RFC 5280, 4.2.1.12)",
        code: X509_V_ERR_INVALID_PURPOSE
    ) { certificate in
        // Without the extension, all bits are set.
        X509_get_extended_key_usage(certificate.raw) & UInt32(XKU_SSL_SERVER) == 0
    }

    /// Baseline Requirements, section 7.1.2.7.10: extKeyUsage is present, not critical, and does not contain
    /// "any".
    static let serversHaveServerPurpose = ChainRule(
        "a server's extKeyUsage is missing, critical, or for any purpose (Baseline Requirements, 7.1.2.7.10)"
    ) { certificate in
        guard certificate.isServers else { return false }
        guard certificate.has(NID_ext_key_usage), !certificate.marksCritical(NID_ext_key_usage) else {
            return true
        }
        return X509_get_extended_key_usage(certificate.raw) & UInt32(XKU_ANYEKU) != 0
    }

    /// RFC 5280, section 4.2.1.6, and Baseline Requirements, section 7.1.2.7.12: letters, digits and hyphens
    /// (RFC 1034, section 3.5), optionally with a wildcard as the whole first label.
    static let onlyHostNames = ChainRule(
        "a dNSName that is not a host name (RFC 5280, 4.2.1.6)"
    ) { certificate in
        certificate.isServers && !certificate.names.dns.allSatisfy(isHostNameOrWildcard)
    }

    /// Baseline Requirements, section 7.1.4.3: a common name repeats a name of the subjectAltName, character
    /// by character.
    static let commonNameIsAlternativeName = ChainRule(
        "a common name that is not in the subjectAltName (Baseline Requirements, 7.1.4.3)"
    ) { certificate in
        guard certificate.isServers else { return false }
        let commonNames = certificate.commonNames
        guard !commonNames.isEmpty else { return false }
        let names = Set(certificate.names.all)
        return !commonNames.allSatisfy(names.contains)
    }

    /// Baseline Requirements, section 7.1.2.7.12: critical if the subject is empty, and only then.
    static let alternativeNamesCriticality = ChainRule(
        "a critical subjectAltName with a subject, or a non-critical one without (Baseline Requirements, 7.1.2.7.12)"
    ) { certificate in
        guard certificate.isServers, certificate.has(NID_subject_alt_name) else { return false }
        let isEmpty = X509_NAME_entry_count(X509_get_subject_name(certificate.raw)) == 0
        return isEmpty != certificate.marksCritical(NID_subject_alt_name)
    }
}

extension CheckedCertificate {
    fileprivate var commonNames: [String] {
        let subject = X509_get_subject_name(raw)
        var names: [String] = []
        var index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
        while index >= 0 {
            let data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index))
            names.append(ASN1Value(data)?.text ?? "")
            index = X509_NAME_get_index_by_NID(subject, NID_commonName, index)
        }
        return names
    }
}

/// Whether the name is a host name, optionally with a wildcard as its first label.
private func isHostNameOrWildcard(_ name: String) -> Bool {
    let host = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
    let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let hyphen = UInt8(ascii: "-")
    return labels.allSatisfy { label in
        (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { byte in
                switch byte {
                case hyphen, UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                }
            }
    }
}
