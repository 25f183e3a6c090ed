internal import CDirectOpenSSL

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
