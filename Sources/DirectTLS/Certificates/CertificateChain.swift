internal import CDirectOpenSSL

/// The certificates of a handshake in DER, kept so that they can be read later. They are not read before,
/// because most never are.
///
/// OpenSSL's objects take up to ten times the memory, and all that a server sends, so none of them is kept.
package struct CertificateChain: Sendable {
    /// The certificates, the server's own first. Never empty.
    let certificates: [[UInt8]]

    /// Copies the certificates of a borrowed stack; `nil` if there are none.
    init?(_ stack: OpaquePointer?) {
        let certificates = Self.certificates(of: stack).map { CertificateReader($0).der }
        guard !certificates.isEmpty else { return nil }
        self.certificates = certificates
    }

    /// The certificates, the server's own first. Read and copied at each call.
    package var summaries: [CertificateSummary] { certificates.compactMap(Self.summary) }

    /// The server's own certificate. Read and copied at each call.
    var first: CertificateSummary? { certificates.first.flatMap(Self.summary) }

    /// The length of all certificates together.
    package var byteCount: Int { certificates.reduce(0) { $0 + $1.count } }

    /// The bytes that a chain takes at most, as a rule. Whatever keeps chains has a limit of its own for what
    /// is beyond, so that servers with large certificates cannot make it large.
    package static let ordinaryByteCount = 8 * 1024

    /// Returns when the first certificate of a borrowed stack ends, in seconds since 1970; `nil` if none of
    /// their dates can be read.
    static func expiry(of stack: OpaquePointer?) -> Int? {
        certificates(of: stack).compactMap { CertificateReader($0).notAfter }.min()
    }

    private static func certificates(of stack: OpaquePointer?) -> [OpaquePointer] {
        (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
            OPENSSL_sk_value(stack, index).map { OpaquePointer($0) }
        }
    }

    private static func summary(of der: [UInt8]) -> CertificateSummary? {
        guard let list = try? CertificateList(der: der) else { return nil }
        return withExtendedLifetime(list) { list.first.map(CertificateSummary.init) }
    }
}

extension CertificateChain: Hashable {
    /// Hashes few bytes: values that differ only in the certificates are few, and `==` tells them
    /// apart.
    package func hash(into hasher: inout Hasher) { hasher.combine(byteCount) }
}
