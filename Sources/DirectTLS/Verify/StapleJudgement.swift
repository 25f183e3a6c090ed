internal import CDirectOpenSSL

/// The result of checking an OCSP response that a server stapled to its handshake (RFC 6066, section 8).
///
/// Nothing is fetched: the response was sent by the server, and is signed by the issuer of the certificate or
/// by a responder that the issuer has authorised.
package struct StapleJudgement: Equatable, Sendable {
    /// The response's verdict on the server's certificate.
    package enum Status: Hashable, Sendable {
        /// The certificate is not revoked.
        case good
        /// The certificate is revoked, since this time in seconds since 1970, for this reason of RFC 5280.
        case revoked(since: Int?, reason: String?)
        /// The responder does not know the certificate.
        case unknown
        /// The response proves nothing. The text says why.
        case unusable(String)
    }

    /// The status of the certificate.
    package let status: Status
    /// The time in seconds since 1970 at which a newer response is available; `nil` if the response has none.
    package let nextUpdate: Int?
    /// The time in seconds since 1970 from which the response is valid.
    package let thisUpdate: Int?
    /// The time in seconds since 1970 at which the statement ends; `nil` if it has no valid date.
    var expiry: Int? { nextUpdate ?? thisUpdate.map { $0 + Self.longestAge } }
    /// Whether the response is valid now, with a tolerance for the clocks of client and responder.
    package let isCurrent: Bool

    init(_ status: Status, thisUpdate: Int? = nil, nextUpdate: Int? = nil, isCurrent: Bool = false) {
        (self.status, self.thisUpdate, self.nextUpdate) = (status, thisUpdate, nextUpdate)
        self.isCurrent = isCurrent
    }

    /// Checks a response. Borrows the pointers.
    ///
    /// - Parameters:
    ///   - response: The response in DER. It may be hostile.
    ///   - leaf: The server's certificate.
    ///   - chain: The certificates from the leaf to its root, as far as they are known.
    ///   - store: The trusted roots.
    init(_ response: [UInt8], leaf: OpaquePointer, chain: OpaquePointer, store: OpaquePointer) {
        guard let size = Self.certificateBytes(in: response) else {
            self.init(.unusable(StapledStatus.unreadable))
            return
        }
        guard size <= Self.mostCertificateBytes else {
            self.init(.unusable("it has too many certificates"))
            return
        }
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let parsed = response.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var cursor = bytes.baseAddress
            return d2i_OCSP_RESPONSE(nil, &cursor, bytes.count)
        }
        guard let parsed else {
            self.init(.unusable(StapledStatus.unreadable))
            return
        }
        defer { OCSP_RESPONSE_free(parsed) }
        let code = OCSP_response_status(parsed)
        guard code == OCSP_RESPONSE_STATUS_SUCCESSFUL, let basic = OCSP_response_get1_basic(parsed) else {
            let name = OCSP_response_status_str(Int(code)).map { String(cString: $0) } ?? "\(code)"
            self.init(.unusable("the responder answered \(name)"))
            return
        }
        defer { OCSP_BASICRESP_free(basic) }
        guard OCSP_basic_verify(basic, chain, store, 0) == 1 else {
            self.init(.unusable("its signature is not by the certificate's issuer"))
            return
        }
        self.init(basic, leaf: leaf, chain: chain)
    }

    /// Returns what the certificates within a response count as, like those of a handshake: OpenSSL reads
    /// each of them before it verifies anything. `nil` for a response that is no DER (RFC 6960, section 4.2):
    /// OpenSSL reads BER, too, in which the same content has other forms.
    private static func certificateBytes(in response: [UInt8]) -> Int? {
        guard let parts = DERElement.all(in: response[...])?.first?.elements(of: 0x30) else { return nil }
        // Without responseBytes the responder says why there are none.
        guard parts.count > 1 else { return 0 }
        // Of ResponseBytes the second element is an octet string.
        guard let bytes = parts[1].elements(of: 0xA0)?.first?.elements(of: 0x30)?.last, bytes.tag == 0x04,
            let basic = DERElement.all(in: bytes.content)?.first?.elements(of: 0x30)
        else { return nil }
        var sum = 0
        for list in basic where list.tag == 0xA0 {
            guard let certificates = list.elements?.first?.elements(of: 0x30) else { return nil }
            sum = certificates.reduce(sum) { $0 + max($1.content.count, smallestCertificate) }
        }
        return sum
    }

    /// Enough for a responder's certificate and those above it.
    private static let mostCertificateBytes = 16 * 1024

    /// Reads a response whose signature is valid.
    private init(_ basic: OpaquePointer, leaf: OpaquePointer, chain: OpaquePointer) {
        guard let single = Self.entry(of: leaf, chain: chain, in: basic) else {
            self.init(.unusable("it is about another certificate"))
            return
        }
        var reason: Int32 = -1
        var revokedAt: UnsafeRawPointer?
        var thisUpdate: UnsafeRawPointer?
        var nextUpdate: UnsafeRawPointer?
        let code = direct_OCSP_single_get0_status(single, &reason, &revokedAt, &thisUpdate, &nextUpdate)
        let status: Status =
            switch code {
            case V_OCSP_CERTSTATUS_GOOD: .good
            case V_OCSP_CERTSTATUS_REVOKED:
                .revoked(
                    since: ASN1Value(revokedAt)?.secondsSince1970,
                    reason: reason < 0 ? nil : OCSP_crl_reason_str(Int(reason)).map { String(cString: $0) }
                )
            default: .unknown
            }
        self.init(
            status,
            thisUpdate: ASN1Value(thisUpdate)?.secondsSince1970,
            nextUpdate: ASN1Value(nextUpdate)?.secondsSince1970,
            isCurrent: direct_OCSP_check_validity(
                thisUpdate,
                nextUpdate,
                Self.tolerance,
                nextUpdate == nil ? Self.longestAge : -1
            ) == 1
        )
    }

    /// Returns the entry of the response for this certificate. Borrowed from the response.
    ///
    /// The responder may have hashed the issuer's name and key with any digest, so each entry is compared by
    /// its own.
    private static func entry(of leaf: OpaquePointer, chain: OpaquePointer, in basic: OpaquePointer)
        -> OpaquePointer?
    {
        for index in 0..<min(OCSP_resp_count(basic), mostEntries) {
            guard let single = OCSP_resp_get0(basic, index), let id = OCSP_SINGLERESP_get0_id(single) else {
                continue
            }
            var algorithm: OpaquePointer?
            guard OCSP_id_get0_info(nil, &algorithm, nil, nil, id) == 1,
                let algorithm, let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm)))
            else { continue }
            for position in 0..<OPENSSL_sk_num(chain) {
                guard let issuer = OPENSSL_sk_value(chain, position).map({ OpaquePointer($0) }),
                    X509_check_issued(issuer, leaf) == X509_V_OK,
                    let expected = OCSP_cert_to_id(digest, leaf, issuer)
                else { continue }
                defer { OCSP_CERTID_free(expected) }
                if OCSP_id_cmp(expected, id) == 0 { return single }
            }
        }
        return nil
    }

    /// The clocks of client and responder may differ by this many seconds.
    private static let tolerance = 300
    /// The number of seconds for which a response without nextUpdate is valid. It says that newer ones are
    /// always available (RFC 6960, section 2.4), so that an old one is a replay. Firefox allows a day as
    /// well.
    private static let longestAge = 24 * 3600
    /// More entries than a response about one certificate has. A hostile one may have a million.
    private static let mostEntries: Int32 = 64
}
