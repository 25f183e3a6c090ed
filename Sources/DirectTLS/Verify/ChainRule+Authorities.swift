internal import CDirectOpenSSL

extension ChainRule {
    /// RFC 5280, section 4.2.1.9: authorities are marked as such by basicConstraints. OpenSSL accepts a root
    /// or an old certificate without it.
    static let caHasBasicConstraints = ChainRule(
        "an authority without basicConstraints (RFC 5280, 4.2.1.9)"
    ) { certificate in
        !certificate.isServers && !certificate.isAuthority
    }

    /// Baseline Requirements, section 7.1.2.7.8: a subscriber's certificate is not an authority's.
    static let leafIsNotCA = ChainRule(
        "an authority's certificate used by a server (Baseline Requirements, 7.1.2.7.8)"
    ) { certificate in
        certificate.isServers && certificate.isAuthority
    }

    /// Baseline Requirements, section 7.1.2.1.3: a root's authorityKeyIdentifier, if there is one, contains
    /// the root's own key identifier, and neither issuer nor serial number.
    static let rootsPointToThemselves = ChainRule(
        "a root's authorityKeyIdentifier is not just its own key identifier (Baseline Requirements, 7.1.2.1.3)"
    ) { certificate in
        guard certificate.isRoot, certificate.has(NID_authority_key_identifier) else { return false }
        guard X509_get0_authority_issuer(certificate.raw) == nil,
            X509_get0_authority_serial(certificate.raw) == nil,
            let named = X509_get0_authority_key_id(certificate.raw),
            let own = X509_get0_subject_key_id(certificate.raw)
        else { return true }
        return ASN1_OCTET_STRING_cmp(named, own) != 0
    }

    /// Baseline Requirements, section 7.1.2.1.2: a root's certificate does not limit what the root may sign
    /// for.
    static let rootHasNoEKU = ChainRule(
        "a root with extKeyUsage (Baseline Requirements, 7.1.2.1.2)"
    ) { certificate in
        certificate.isRoot && !certificate.isServers && certificate.has(NID_ext_key_usage)
    }

    /// RFC 5280, section 4.1.2.2: positive, and at most 20 bytes long. Many good roots have the number 0, and
    /// roots are not revoked by their numbers.
    static let positiveSerialNumbers = ChainRule(
        "a serial number that is not positive or is too long (RFC 5280, 4.1.2.2)"
    ) { certificate in
        guard !certificate.isRoot else { return false }
        guard let number = ASN1Value(X509_get0_serialNumber(certificate.raw)), !number.isNegative else {
            return true
        }
        let digits = number.bytes
        // The highest bit is the sign bit: a 20-byte number that has it set takes 21 bytes.
        let length = digits.count + (digits.first.map { $0 >= 0x80 } == true ? 1 : 0)
        return length > 20 || digits.allSatisfy { $0 == 0 }
    }
}
