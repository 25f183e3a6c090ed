/// The roots at which a server's chain may end, which have signed themselves. A certificate that another one
/// has issued ends no chain.
public enum TrustRoots: Hashable, Sendable {
    /// The roots of the operating system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR` if these are set.
    case system
    /// The system's roots and these.
    case systemAnd([CertificateSource])
    /// These roots alone.
    case only([CertificateSource])
}

/// A source of trusted certificates.
public enum CertificateSource: Hashable, Sendable, CustomStringConvertible {
    /// One or more certificates in PEM form.
    case pem([UInt8])
    /// The path of a file with one or more certificates in PEM form. It is read when a client first connects.
    case pemFile(String)
    /// One certificate in DER form.
    case der([UInt8])

    /// One or more certificates in PEM form.
    public static func pem(_ text: String) -> CertificateSource { .pem(Array(text.utf8)) }

    /// Hashes some bytes, or the path: sources are compared as a whole anyway, and a bundle has 200 KB.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .pem(let bytes), .der(let bytes): hasher.combine(sampleOf: bytes)
        case .pemFile(let path): hasher.combine(path)
        }
    }

    /// The kind of source, and the path of a file.
    public var description: String {
        switch self {
        case .pem(let bytes): "PEM (\(bytes.count) bytes)"
        case .pemFile(let path): "PEM file \(printable(path))"
        case .der(let bytes): "DER (\(bytes.count) bytes)"
        }
    }
}

extension Hasher {
    /// Hashes 256 of the bytes, spread evenly, so that some of them are of the key and the signature of a
    /// certificate.
    mutating func combine(sampleOf bytes: [UInt8]) {
        combine(bytes.count)
        for index in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 256)) {
            combine(bytes[index])
        }
    }
}

extension TrustRoots {
    /// The files and directories that the environment names as the system's roots, if they are not its usual
    /// ones.
    package static var namedPaths: [String] { SystemRoots.unusualPaths() }

    /// The judge that stands for the system's roots; `nil` if these are files, or not trusted.
    ///
    /// - Parameter given: The judge that the settings name.
    func judge(_ given: ChainJudge?) -> ChainJudge? {
        if case .only = self { nil } else { given ?? .ofSystem }
    }
}
