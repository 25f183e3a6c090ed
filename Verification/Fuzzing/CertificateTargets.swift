import CDirectOpenSSL
import DirectCore

@testable import DirectTLS

extension FuzzTarget {
    /// What is read from certificates.
    ///
    /// - Any bytes are read as certificates, in DER or PEM, or refused with an error of one line.
    /// - A certificate that is written, in DER or PEM, is read as the same certificate.
    /// - Its dates are those that OpenSSL computes, and its description has no deceptive character.
    static let certificate = FuzzTarget(name: "certificate") { choices in
        let bytes = choices.rest()
        do throws(TLSError) {
            for certificate in try readCertificates(bytes) { check(certificate) }
        } catch {
            require("\(error)".isOneLine, "an error is one line: \("\(error)".debugDescription)")
        }
    }

    /// The check of names against certificates.
    ///
    /// - The certificate proves a name or an address exactly if a simple implementation of RFC 9525 says so.
    ///   The client's own look-up in a certificate and what it demands of OpenSSL's verification say the
    ///   same.
    /// - The names that a report lists are those in the certificate.
    static let nameCheck = FuzzTarget(name: "name-check") { choices in
        let kinds = (0..<4).map { _ in choices.number(below: 3) }
        var texts = choices.texts()
        let asked = texts.removeFirst().text
        var names: [AlternativeName] = []
        for (index, text) in texts.prefix(4).enumerated() {
            names.append(AlternativeName(kind: kinds[index], text))
        }
        guard let certificate = NamedCertificate(names) else { return }
        let reader = CertificateReader(certificate.raw)
        let listed = reader.names(atMost: 100)
        requireEqual(listed.dns, names.compactMap(\.dns).map(\.text), "the names in the certificate")
        requireEqual(reader.names(atMost: 1).all.count, min(1, listed.all.count), "the limit of names")
        certificate.check(asked, against: names)
    }
}

private func check(_ certificate: ServedCertificate) {
    let summary = certificate.summary
    require(summary.description.isOneLine, "a description of one line")
    requireEqual(try? readCertificates(summary.der).map(\.summary), [summary], "the same in DER")
    requireEqual(
        try? readCertificates(Array(certificate.pem.utf8)).map(\.summary),
        [summary],
        "the same in PEM"
    )
    guard let raw = try? CertificateList(der: summary.der), let first = raw.first else { return }
    compare(summary.notBefore) { ASN1_TIME_cmp_time_t(X509_get0_notBefore(first), $0) }
    compare(summary.notAfter) { ASN1_TIME_cmp_time_t(X509_get0_notAfter(first), $0) }
}

/// OpenSSL compares a date with seconds, but does not tell the seconds.
private func compare(_ seconds: Int?, by comparison: (Int) -> Int32) {
    guard let seconds else { return }
    requireEqual(comparison(seconds), 0, "the date that OpenSSL reads")
    ERR_clear_error()
}

/// An entry of a subjectAltName.
private struct AlternativeName {
    let bytes: [UInt8]
    let isAddress: Bool
    var dns: [UInt8]? { isAddress ? nil : bytes }

    /// Two kinds of three are names; addresses are cut to the right length.
    init(kind: Int, _ bytes: [UInt8]) {
        isAddress = kind == 2
        self.bytes = isAddress ? Array(bytes.prefix(bytes.count < 16 ? 4 : 16)) : bytes
    }
}

/// A certificate with nothing but a subjectAltName.
private final class NamedCertificate {
    let raw: OpaquePointer

    init?(_ names: [AlternativeName]) {
        guard let raw = X509_new(), let list = OPENSSL_sk_new_null() else { return nil }
        self.raw = raw
        for name in names { Self.append(name, to: list) }
        X509_add1_ext_i2d(raw, NID_subject_alt_name, UnsafeMutableRawPointer(list), 0, 0)
        GENERAL_NAMES_free(list)
    }

    deinit { X509_free(raw) }

    private static func append(_ name: AlternativeName, to list: OpaquePointer) {
        let kind = name.isAddress ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING
        let type = name.isAddress ? GEN_IPADD : GEN_DNS
        OPENSSL_sk_push(list, fixture_GENERAL_NAME_new(type, kind, name.bytes, Int32(name.bytes.count)))
    }

    func check(_ asked: String, against names: [AlternativeName]) {
        if let identity = try? ServerIdentity.name(asked) {
            let wanted = Array(identity.text.utf8)
            let isProved = names.contains { $0.dns.map { proves($0, wanted: wanted) } ?? false }
            requireEqual(identity.proof(in: raw) != nil, isProved, "names")
            requireEqual(demand(identity) == X509_V_OK, isProved, "the check in a verification")
        }
        if let identity = try? ServerIdentity.address(asked), let bytes = IPAddress(asked)?.bytes {
            let isProved = names.contains { $0.isAddress && $0.bytes == bytes }
            requireEqual(identity.proof(in: raw) != nil, isProved, "addresses")
            requireEqual(demand(identity) == X509_V_OK, isProved, "the check in a verification")
        }
        ERR_clear_error()
    }

    /// What the parameters of the client's verification say about the name, whatever the chain.
    private func demand(_ identity: ServerIdentity) -> Int32 {
        let parameters = X509_VERIFY_PARAM_new()
        defer { X509_VERIFY_PARAM_free(parameters) }
        require(identity.demand(in: parameters), "an identity can be checked")
        let flags = X509_VERIFY_PARAM_get_hostflags(parameters)
        switch identity.kind {
        case .name:
            let hosts = (0..<3).compactMap { X509_VERIFY_PARAM_get0_host(parameters, $0) }
            requireEqual(
                hosts.first.map { String(cString: $0) },
                identity.text,
                "the name that OpenSSL checks"
            )
            let isProved = hosts.contains { X509_check_host(raw, $0, 0, flags, nil) == 1 }
            return isProved ? X509_V_OK : X509_V_ERR_HOSTNAME_MISMATCH
        case .address:
            return X509_check_ip_asc(raw, identity.text, flags) == 1
                ? X509_V_OK : X509_V_ERR_IP_ADDRESS_MISMATCH
        }
    }
}

/// Whether a dNSName proves a name in lower case (RFC 9525, section 6.3): it is equal, ignoring case, or has
/// `*` as the whole first label, for one label, with at least two labels after it.
private func proves(_ name: [UInt8], wanted: [UInt8]) -> Bool {
    let name = name.lowered
    if name == wanted { return true }
    guard name.starts(with: [0x2A, 0x2E]), let dot = wanted.firstIndex(of: 0x2E) else { return false }
    let parent = name.dropFirst(2)
    return parent.contains(0x2E) && Array(parent) == Array(wanted[(dot + 1)...])
}
