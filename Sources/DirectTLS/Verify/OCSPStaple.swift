internal import CDirectOpenSSL

/// An OCSP response that a server sent in its handshake.
struct OCSPStaple {
    let status: StapledStatus
    /// When the statement ends, in seconds since 1970; `nil` if it names no end.
    var expiry: Int?

    /// The clocks of client and responder may differ by this many seconds.
    private static let leeway = 300

    /// Reads and checks the staple of a handshake.
    ///
    /// - Parameters:
    ///   - chain: The verified chain. Borrowed.
    ///   - store: The trusted roots, for a responder with a certificate of its own. Borrowed.
    init(of ssl: OpaquePointer, chain: OpaquePointer?, store: OpaquePointer?) {
        // Borrowed: the bytes belong to OpenSSL.
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = SSL_ctrl(ssl, SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP, 0, &bytes)
        guard count > 0, let bytes else {
            self.init(status: .notStapled)
            return
        }
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        var cursor = UnsafePointer<UInt8>?(bytes)
        guard let response = d2i_OCSP_RESPONSE(nil, &cursor, count) else {
            self.init(status: .invalid("it cannot be parsed"))
            return
        }
        defer { OCSP_RESPONSE_free(response) }
        guard OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
            let basic = OCSP_response_get1_basic(response)
        else {
            self.init(status: .invalid("the responder reports an error"))
            return
        }
        defer { OCSP_BASICRESP_free(basic) }
        guard let chain, OCSP_basic_verify(basic, chain, store, 0) > 0 else {
            self.init(status: .invalid("it is not signed for the issuer"))
            return
        }
        self.init(basic, about: chain)
    }

    private init(status: StapledStatus) {
        self.status = status
    }

    /// Reads the statement about the first certificate of the chain from a response whose signature is valid.
    private init(_ response: OpaquePointer, about chain: OpaquePointer) {
        let count = OPENSSL_sk_num(chain)
        guard let leaf = OPENSSL_sk_value(chain, 0), let issuer = OPENSSL_sk_value(chain, min(1, count - 1)),
            let statement = Self.statement(
                in: response,
                about: OpaquePointer(leaf),
                of: OpaquePointer(issuer)
            )
        else {
            self.init(status: .invalid("it is about another certificate"))
            return
        }
        var end: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var start: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let code = OCSP_single_get0_status(statement, nil, nil, &start, &end)
        guard OCSP_check_validity(start, end, Self.leeway, -1) == 1 else {
            self.init(status: .invalid("it is not of this time"))
            return
        }
        switch code {
        case V_OCSP_CERTSTATUS_GOOD: self.init(status: .good)
        case V_OCSP_CERTSTATUS_REVOKED: self.init(status: .revoked)
        default: self.init(status: .unknown)
        }
        expiry = end.flatMap { secondsSince1970($0) }
    }

    /// Returns the statement about a certificate. Borrowed from the response.
    private static func statement(
        in response: OpaquePointer,
        about certificate: OpaquePointer,
        of issuer: OpaquePointer
    ) -> OpaquePointer? {
        for index in 0..<max(0, min(OCSP_resp_count(response), 64)) {
            guard let single = OCSP_resp_get0(response, index),
                let named = OCSP_SINGLERESP_get0_id(single)
            else { continue }
            // The responder chooses the hash by which it names the certificate.
            var algorithm: OpaquePointer?
            guard OCSP_id_get0_info(nil, &algorithm, nil, nil, named) == 1,
                let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm))),
                let own = OCSP_cert_to_id(digest, certificate, issuer)
            else { continue }
            defer { OCSP_CERTID_free(own) }
            if OCSP_id_cmp(own, named) == 0 { return single }
        }
        return nil
    }
}
