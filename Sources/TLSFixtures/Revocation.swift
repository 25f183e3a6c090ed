internal import CDirectOpenSSL

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension TestAuthority {
    /// The status of a certificate in an OCSP response.
    public enum RevocationStatus: Sendable {
        /// Not revoked.
        case good
        /// Revoked, at the beginning of the response's validity.
        case revoked
        /// Not known to the authority.
        case unknown
    }

    /// Returns a DER OCSP response about a certificate of this authority, signed by the authority itself.
    public func ocspResponse(
        for certificate: FixtureCertificate,
        _ status: RevocationStatus = .good,
        validity: CertificateProfile.Validity = .decades
    ) throws(FixtureError) -> [UInt8] {
        try ocspResponse(for: certificate, status, from: validity.notBefore, to: validity.notAfter)
    }

    /// Returns such a response with these times in seconds since 1970. It need not say when its validity
    /// ends, and another certificate may sign it, which it has with it then.
    package func ocspResponse(
        for certificate: FixtureCertificate,
        _ status: RevocationStatus = .good,
        from begin: Int64,
        to end: Int64?,
        by responder: FixtureCertificate? = nil
    ) throws(FixtureError) -> [UInt8] {
        let issuer = self.certificate
        let (thisUpdate, nextUpdate) = (
            ASN1_TIME_set(nil, time_t(begin)), end.flatMap { ASN1_TIME_set(nil, time_t($0)) }
        )
        let basic = OCSP_BASICRESP_new()
        defer {
            ASN1_TIME_free(thisUpdate)
            ASN1_TIME_free(nextUpdate)
            OCSP_BASICRESP_free(basic)
        }
        guard let id = OCSP_cert_to_id(EVP_sha1(), certificate.x509, issuer.x509) else {
            throw openSSLError("OCSP_cert_to_id")
        }
        defer { OCSP_CERTID_free(id) }
        let code =
            switch status {
            case .good: V_OCSP_CERTSTATUS_GOOD
            case .revoked: V_OCSP_CERTSTATUS_REVOKED
            case .unknown: V_OCSP_CERTSTATUS_UNKNOWN
            }
        let revokedAt = status == .revoked ? thisUpdate : nil
        guard
            OCSP_basic_add1_status(
                basic,
                id,
                code,
                OCSP_REVOKED_STATUS_NOSTATUS,
                revokedAt,
                thisUpdate,
                nextUpdate
            ) != nil
        else { throw openSSLError("OCSP_basic_add1_status") }
        let (signer, flags) = (responder ?? issuer, responder == nil ? UInt(OCSP_NOCERTS) : 0)
        let digest = CertificateMaker.digestFunction(.sha256, for: signer.key)
        guard OCSP_basic_sign(basic, signer.x509, signer.key, digest, nil, flags) == 1,
            let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        else { throw openSSLError("OCSP_basic_sign") }
        defer { OCSP_RESPONSE_free(response) }
        return derBytes { i2d_OCSP_RESPONSE(response, $0) }
    }

    /// Returns a revocation list in PEM that contains these certificates.
    package func revocationListPEM(
        _ revoked: [FixtureCertificate],
        validity: CertificateProfile.Validity = .decades
    ) throws(FixtureError) -> String {
        let lastUpdate = ASN1_TIME_set(nil, time_t(validity.notBefore))
        let nextUpdate = ASN1_TIME_set(nil, time_t(validity.notAfter))
        let list = X509_CRL_new()
        defer {
            ASN1_TIME_free(lastUpdate)
            ASN1_TIME_free(nextUpdate)
            X509_CRL_free(list)
        }
        X509_CRL_set_version(list, 1)
        X509_CRL_set_issuer_name(list, X509_get_subject_name(certificate.x509))
        X509_CRL_set1_lastUpdate(list, lastUpdate)
        X509_CRL_set1_nextUpdate(list, nextUpdate)
        for certificate in revoked {
            let entry = X509_REVOKED_new()
            X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate.x509))
            X509_REVOKED_set_revocationDate(entry, lastUpdate)
            // The list takes ownership of the entry.
            X509_CRL_add0_revoked(list, entry)
        }
        let digest = CertificateMaker.digestFunction(.sha256, for: certificate.key)
        guard X509_CRL_sign(list, certificate.key, digest) > 0 else { throw openSSLError("X509_CRL_sign") }
        return withMemoryBIO { PEM_write_bio_X509_CRL($0, list) }
    }
}

extension FixtureTLSSettings {
    /// Whether OpenSSL sends any ``ocspStaple``. From 3.6 on it sends none that it cannot read, or that is
    /// about another certificate.
    package static var sendsAnyStaple: Bool { OpenSSL_version_num() < 0x3060_0000 }
}
