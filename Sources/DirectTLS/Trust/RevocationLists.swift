internal import CDirectOpenSSL

/// Returns why a list says less than OpenSSL would take it to say; `nil` if it does not.
///
/// OpenSSL takes a delta list for a whole one, and a newer one (RFC 5280, section 5.2.4), and a certificate
/// that a whole list removes for a good one (section 5.3.1). Of a list of some reasons, or one for
/// certificates of other issuers, it says that there is no list, also where it revokes the certificate. An
/// entry that names another issuer is to it one of that issuer, and so are those behind it, although that is
/// for lists of several issuers alone (section 5.3.3).
func partialList(_ list: OpaquePointer) -> String? {
    if X509_CRL_get_ext_by_NID(list, NID_delta_crl, -1) >= 0 {
        return "it has only the changes to another list (deltaCRLIndicator)"
    }
    if let point = X509_CRL_get_ext_d2i(list, NID_issuing_distribution_point, nil, nil) {
        let point = point.assumingMemoryBound(to: ISSUING_DIST_POINT.self)
        defer { ISSUING_DIST_POINT_free(point) }
        if point.pointee.onlysomereasons != nil { return "it is for some reasons only (onlySomeReasons)" }
        if point.pointee.indirectCRL > 0 { return "it is one of several issuers (indirectCRL)" }
        let kinds = [point.pointee.onlyuser, point.pointee.onlyCA, point.pointee.onlyattr]
        if kinds.count(where: { $0 > 0 }) > 1 { return "it is for no kind of certificates" }
    } else if X509_CRL_get_ext_by_NID(list, NID_issuing_distribution_point, -1) >= 0 {
        return "its scope cannot be read (issuingDistributionPoint)"
    }
    let entries = X509_CRL_get_REVOKED(list)
    for index in 0..<max(0, OPENSSL_sk_num(entries)) {
        guard let entry = OPENSSL_sk_value(entries, index).map({ OpaquePointer($0) }) else { continue }
        if X509_REVOKED_get_ext_by_NID(entry, NID_certificate_issuer, -1) >= 0 {
            return "it has entries of another issuer (certificateIssuer)"
        }
        if removes(entry) { return "it removes a certificate from another list (removeFromCRL)" }
    }
    return nil
}

/// Whether an entry takes a certificate out of a list.
private func removes(_ entry: OpaquePointer) -> Bool {
    guard let reason = X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, nil, nil) else { return false }
    let number = reason.assumingMemoryBound(to: ASN1_ENUMERATED.self)
    defer { ASN1_ENUMERATED_free(number) }
    return ASN1_ENUMERATED_get(number) == Int(CRL_REASON_REMOVE_FROM_CRL)
}

/// Lists of revoked certificates (RFC 5280, section 5) that a server's chain is checked against.
///
/// A list must be valid now and signed by the issuer of the certificate. A certificate whose issuer has no
/// list here is rejected, because nothing says that it has not been revoked.
public struct RevocationLists: Hashable, Sendable {
    /// The certificates that are checked.
    public enum Scope: Hashable, Sendable {
        /// The server's own certificate.
        case serverCertificate
        /// All certificates of the chain.
        case wholeChain
    }

    /// The lists, in PEM or DER, none of them a delta list or one of some reasons. One PEM source may have
    /// several. Files are read when a client first connects, and not watched.
    public var sources: [CertificateSource]
    /// The certificates that are checked.
    public var scope: Scope

    /// Makes the lists of these sources.
    public init(_ sources: [CertificateSource], scope: Scope = .wholeChain) {
        self.sources = sources
        self.scope = scope
    }

    /// The flags with which OpenSSL checks against the lists.
    var flags: UInt {
        switch scope {
        case .serverCertificate: UInt(X509_V_FLAG_CRL_CHECK)
        case .wholeChain: UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL)
        }
    }

    /// Returns when the first of the lists in a store ends, in seconds since 1970; `nil` if none says when.
    ///
    /// From then on a full handshake may fail where a resumed one asks no list.
    static func expiry(in store: OpaquePointer) -> Int? {
        X509_STORE_lock(store)
        defer { X509_STORE_unlock(store) }
        let objects = X509_STORE_get0_objects(store)
        return (0..<max(0, OPENSSL_sk_num(objects))).compactMap { index in
            OPENSSL_sk_value(objects, index).flatMap { X509_OBJECT_get0_X509_CRL(OpaquePointer($0)) }
                .flatMap { ASN1Value(X509_CRL_get0_nextUpdate($0))?.secondsSince1970 }
        }.min()
    }

    /// Adds the lists to a store, which adds references of its own.
    func add(to store: OpaquePointer) throws(TLSError) {
        guard !sources.isEmpty else { throw .badSettings("the list of revocation lists is empty") }
        for source in sources {
            switch source {
            case .pem(let bytes): try Self.add(pem: bytes, as: "revocation lists", to: store)
            case .pemFile(let path):
                let file = RootFile(path: path, kind: "revocation lists")
                try Self.add(pem: try file.bytes(), as: "revocation lists from \(path)", to: store)
            case .der(let bytes): try Self.add(der: bytes, to: store)
            }
        }
    }

    private static func add(pem bytes: [UInt8], as role: String, to store: OpaquePointer)
        throws(TLSError)
    {
        let lists = try PEMItem.revocationList.all(in: bytes, as: role)
        defer { lists.forEach { X509_CRL_free($0) } }
        for list in lists { try add(list, to: store) }
    }

    private static func add(der bytes: [UInt8], to store: OpaquePointer) throws(TLSError) {
        ErrorQueue.clear()
        let list = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509_CRL(nil, &cursor, buffer.count)
        }
        guard let list else {
            throw .badSettings("revocation list in DER form: \(ErrorQueue.drainedReason())")
        }
        defer { X509_CRL_free(list) }
        try add(list, to: store)
    }

    private static func add(_ list: OpaquePointer, to store: OpaquePointer) throws(TLSError) {
        if let fault = partialList(list) { throw .badSettings("revocation list: \(fault)") }
        guard X509_STORE_add_crl(store, list) == 1 else {
            throw .badSettings("revocation list: \(ErrorQueue.drainedReason())")
        }
    }
}
