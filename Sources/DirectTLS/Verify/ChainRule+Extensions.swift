internal import CDirectOpenSSL

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
