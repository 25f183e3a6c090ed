/// Parses the certificates in PEM text, or one certificate in DER.
package func readCertificates(_ bytes: [UInt8]) throws(TLSError) -> [ServedCertificate] {
    let list = isPEM(bytes) ? try CertificateList(pem: bytes) : try CertificateList(der: bytes)
    return list.all.map { ServedCertificate($0) }
}

/// Whether the bytes are PEM text. DER begins with the tag of a sequence.
package func isPEM(_ bytes: [UInt8]) -> Bool {
    bytes.first != 0x30
}
