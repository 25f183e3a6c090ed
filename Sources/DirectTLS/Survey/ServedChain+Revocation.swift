internal import CDirectOpenSSL
internal import DirectCore

/// What is needed to ask the issuer whether the server's certificate is revoked, and to check the answers.
extension ServedChain {
    /// The URLs in the certificate, the first four of each kind: of responders for OCSP (RFC 5280, section
    /// 4.2.2.1), and of lists of revoked certificates (section 4.2.1.13). Those of one kind are places of the
    /// same, in the order in which the issuer prefers them.
    package var revocationURLs: (responders: [String], lists: [String]) {
        guard let leaf else { return ([], []) }
        let responders = CertificateReader(leaf).accessURLs(NID_ad_OCSP, atMost: Self.mostURLs)
        return (responders, Array(Self.listURLs(of: leaf).prefix(Self.mostURLs)))
    }

    private static let mostURLs = 4

    private static func listURLs(of leaf: OpaquePointer) -> [String] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let points = X509_get_ext_d2i(leaf, NID_crl_distribution_points, nil, nil) else { return [] }
        let stack = OpaquePointer(points)
        defer { CRL_DIST_POINTS_free(stack) }
        var urls: [String] = []
        for index in 0..<max(0, OPENSSL_sk_num(stack)) {
            guard let entry = OPENSSL_sk_value(stack, index),
                let place = entry.assumingMemoryBound(to: DIST_POINT.self).pointee.distpoint,
                place.pointee.type == 0,
                let names = place.pointee.name.fullname
            else { continue }
            for position in 0..<max(0, OPENSSL_sk_num(names)) {
                guard let name = OPENSSL_sk_value(names, position) else { continue }
                var kind: Int32 = 0
                let value = GENERAL_NAME_get0_value(name.assumingMemoryBound(to: GENERAL_NAME.self), &kind)
                if kind == GEN_URI, let value = ASN1Value(value) { urls.append(value.utf8) }
            }
        }
        return urls
    }

    /// The question to a responder in DER (RFC 6960, section 4.1); `nil` if the issuer is not known.
    ///
    /// It has no nonce: most responders sign their answers beforehand (RFC 5019).
    package var revocationQuestion: [UInt8]? {
        guard let leaf else { return nil }
        return withTrust { roots, others -> [UInt8]? in
            guard let chain = completedChain(leaf, roots: roots, others: others) else { return nil }
            defer { freeCertificates(chain) }
            let issuer = (0..<OPENSSL_sk_num(chain)).lazy.compactMap { OPENSSL_sk_value(chain, $0) }
                .map { OpaquePointer($0) }.first { X509_check_issued($0, leaf) == X509_V_OK }
            guard let issuer, let id = OCSP_cert_to_id(EVP_sha1(), leaf, issuer) else { return nil }
            guard let request = OCSP_REQUEST_new() else {
                OCSP_CERTID_free(id)
                return nil
            }
            defer { OCSP_REQUEST_free(request) }
            // The request owns the identifier afterwards.
            guard OCSP_request_add0_id(request, id) != nil else { return nil }
            return CertificateReader.encoded { i2d_OCSP_REQUEST(request, $0) }
        }
    }

    /// Checks a list in DER as the answer to the question whether the server's own certificate is revoked.
    ///
    /// OpenSSL checks that it is signed by the issuer, of this time, and about this certificate: it may be
    /// one of several parts (RFC 5280, section 5.2.5).
    package func judge(list bytes: [UInt8]) -> StapleJudgement? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let list = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509_CRL(nil, &cursor, buffer.count)
        }
        guard let leaf else { return nil }
        guard let list else { return StapleJudgement(.unusable("it is no list of revoked certificates")) }
        defer { X509_CRL_free(list) }
        if let fault = partialList(list) { return StapleJudgement(.unusable(fault)) }
        let (start, end) = (
            ASN1Value(X509_CRL_get0_lastUpdate(list)), ASN1Value(X509_CRL_get0_nextUpdate(list))
        )
        return StapleJudgement(
            withTrust { roots, others in Self.status(of: leaf, in: list, roots: roots, others: others) },
            thisUpdate: start?.secondsSince1970,
            nextUpdate: end?.secondsSince1970,
            isCurrent: true
        )
    }

    private static func status(
        of leaf: OpaquePointer,
        in list: OpaquePointer,
        roots: OpaquePointer,
        others: OpaquePointer
    ) -> StapleJudgement.Status {
        guard let check = X509_STORE_CTX_new(), let lists = OPENSSL_sk_new_null() else {
            return .unusable("out of memory")
        }
        defer {
            X509_STORE_CTX_free(check)
            OPENSSL_sk_free(lists)
        }
        guard X509_STORE_CTX_init(check, roots, leaf, others) == 1,
            OPENSSL_sk_push(lists, UnsafeRawPointer(list)) > 0
        else { return .unusable(ErrorQueue.drainedReason()) }
        X509_STORE_CTX_set0_crls(check, lists)
        // Whether its key is strong enough is another question.
        X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(check), 0)
        X509_STORE_CTX_set_flags(check, UInt(X509_V_FLAG_CRL_CHECK))
        if X509_verify_cert(check) == 1 { return .good }
        let code = X509_STORE_CTX_get_error(check)
        guard code == X509_V_ERR_CERT_REVOKED else {
            return .unusable(String(cString: X509_verify_cert_error_string(Int(code))))
        }
        var entry: OpaquePointer?
        X509_CRL_get0_by_cert(list, &entry, leaf)
        let date = entry.flatMap { ASN1Value(X509_REVOKED_get0_revocationDate($0))?.secondsSince1970 }
        return .revoked(since: date, reason: nil)
    }
}
