import CDirectOpenSSL
import TLSFixtures
import Testing

@testable import DirectTLS

/// Ways in which a revocation list says less than OpenSSL takes it to say.
enum PartialList: CaseIterable {
    case delta, someReasons, severalIssuers, noKind, unreadableScope, removal, otherIssuer

    /// What the error says of it.
    var name: String {
        switch self {
        case .delta: "deltaCRLIndicator"
        case .someReasons: "onlySomeReasons"
        case .severalIssuers: "indirectCRL"
        case .noKind: "no kind of certificates"
        case .unreadableScope: "issuingDistributionPoint"
        case .removal: "removeFromCRL"
        case .otherIssuer: "certificateIssuer"
        }
    }

    /// Returns the list, which is in PEM, with this flaw, in DER.
    func made(of pem: String) throws -> [UInt8] {
        let lists = try PEMItem.revocationList.all(in: Array(pem.utf8), as: "test")
        defer { lists.forEach { X509_CRL_free($0) } }
        switch self {
        case .delta: add(number(1), NID_delta_crl, to: lists[0])
        case .someReasons: addScope([0x83, 0x02, 0x06, 0x40], to: lists[0])
        case .severalIssuers: addScope([0x84, 0x01, 0xFF], to: lists[0])
        case .noKind: addScope([0x81, 0x01, 0xFF, 0x82, 0x01, 0xFF], to: lists[0])
        case .unreadableScope: addScope([0x02, 0x01, 0x05], to: lists[0])
        case .removal:
            let reason = ASN1_ENUMERATED_new()
            defer { ASN1_ENUMERATED_free(reason) }
            ASN1_ENUMERATED_set(reason, Int(CRL_REASON_REMOVE_FROM_CRL))
            let entry = try #require(OPENSSL_sk_value(X509_CRL_get_REVOKED(lists[0]), 0))
            let value = UnsafeMutableRawPointer(reason)
            #expect(X509_REVOKED_add1_ext_i2d(OpaquePointer(entry), NID_crl_reason, value, 0, 0) == 1)
        case .otherIssuer:
            let entry = try #require(OPENSSL_sk_value(X509_CRL_get_REVOKED(lists[0]), 0))
            let made = newExtension([0x30, 3, 0x82, 1, 0x78], NID_certificate_issuer)
            defer { X509_EXTENSION_free(made) }
            #expect(X509_REVOKED_add_ext(OpaquePointer(entry), made, -1) == 1)
        }
        // What it was read from no longer counts.
        X509_CRL_sort(lists[0])
        return CertificateReader.encoded { i2d_X509_CRL(lists[0], $0) }
    }

    private func number(_ value: UInt8) -> [UInt8] { [0x02, 0x01, value] }

    private func addScope(_ content: [UInt8], to list: OpaquePointer) {
        add([0x30, UInt8(content.count)] + content, NID_issuing_distribution_point, to: list)
    }

    private func add(_ der: [UInt8], _ kind: Int32, to list: OpaquePointer) {
        let made = newExtension(der, kind)
        defer { X509_EXTENSION_free(made) }
        #expect(X509_CRL_add_ext(list, made, -1) == 1)
    }

    private func newExtension(_ der: [UInt8], _ kind: Int32) -> OpaquePointer? {
        let value = ASN1_OCTET_STRING_new()
        defer { ASN1_OCTET_STRING_free(value) }
        ASN1_OCTET_STRING_set(value, der, Int32(der.count))
        return X509_EXTENSION_create_by_NID(nil, kind, 1, value)
    }
}

@Suite("Revocation lists that are no whole lists")
struct PartialListTests {
    @Test(
        "They are refused when they are read: OpenSSL would find no list, or nothing in it",
        arguments: PartialList.allCases
    )
    func refused(_ kind: PartialList) throws {
        let root = TestAuthority("Root")
        let leaf = root.certificate(for: "a.test")
        let pem = try root.revocationListPEM([leaf])
        let partial = try kind.made(of: pem)
        for sources in [[.der(partial)], [.pem(Array(pem.utf8)), .der(partial)]] as [[CertificateSource]] {
            let error = #expect(throws: TLSError.self) {
                try TLSContext.testing {
                    $0.roots = .only([.der(root.rootDER)])
                    $0.revocationLists = RevocationLists(sources)
                }
            }
            #expect(error?.description.contains(kind.name) == true)
        }
        let context = try SurveyContext(roots: .only([.der(root.rootDER)]))
        let chain = try #require(ServedChain(der: [leaf.der], context: context))
        guard case .unusable? = chain.judge(list: partial)?.status else { throw Unexpected("judged") }
    }
}
