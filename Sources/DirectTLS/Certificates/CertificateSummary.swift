internal import CDirectOpenSSL
internal import DirectCore

/// The contents of a certificate as plain values.
public struct CertificateSummary: Hashable, Sendable {
    /// The subject in RFC 2253 text.
    public let subject: String
    /// The issuer in RFC 2253 text.
    public let issuer: String
    /// The dNSName entries of the subjectAltName, unchanged: they may contain any character.
    public let dnsNames: [String]
    /// The iPAddress entries of the subjectAltName.
    public let ipAddresses: [String]
    /// The uniformResourceIdentifier entries of the subjectAltName, unchanged: a SPIFFE ID is one.
    public let uris: [String]
    /// The number of entries left out: at most 10,000 names and addresses and as many URIs are listed.
    public let omittedNames: Int
    /// The start of the validity period in seconds since 1970; `nil` if the date cannot be read.
    public let notBefore: Int?
    /// The end of the validity period in seconds since 1970; `nil` if the date cannot be read.
    public let notAfter: Int?
    /// The serial number in hexadecimal.
    public let serial: String
    /// The SHA-256 hash of the certificate.
    public let sha256: [UInt8]
    /// The SHA-256 hash of the public key with its algorithm, the value that RFC 7469 pins; see ``KeyPin``.
    public let spkiSHA256: [UInt8]
    /// The certificate itself, in DER.
    public let der: [UInt8]

    /// Reads all of the certificate. Borrows the pointer.
    init(_ certificate: OpaquePointer) {
        let reader = CertificateReader(certificate)
        let names = reader.names(atMost: 10_000)
        subject = reader.subject
        issuer = reader.issuer
        dnsNames = names.dns
        ipAddresses = names.addresses
        uris = names.uris
        omittedNames = names.omitted
        notBefore = reader.notBefore
        notAfter = reader.notAfter
        serial = reader.serial
        der = reader.der
        sha256 = DirectTLS.sha256(der)
        spkiSHA256 = DirectTLS.sha256(reader.publicKeyInfo)
    }
}

extension CertificateSummary: CustomStringConvertible {
    /// One line for a log: subject, issuer, names and fingerprint. Characters that could break the line are
    /// escaped.
    public var description: String {
        let all = dnsNames + ipAddresses + uris
        let names = all.prefix(20).map(printable).joined(separator: ", ")
        let hidden = all.count + omittedNames - 20
        let more = hidden > 0 ? " and \(hidden) more" : ""
        return "\(printable(subject)), issued by \(printable(issuer)), for \(names)\(more), "
            + "sha256 \(Hex.encode(sha256))"
    }
}
