internal import DirectHTTP

/// Reads the certificate files of the command line: the roots of `--ca` and the certificate of `--expect`.
enum CertificateFiles {
    /// Returns the roots in a file, or in all files of a directory that contain certificates.
    static func roots(at path: String) throws(UsageError) -> [CertificateSource] {
        guard Files.isDirectory(path) else { return [try source(at: path)] }
        var sources: [CertificateSource] = []
        for name in try Files.names(in: path) where isCertificateName(name) {
            guard let bytes = try? contents(of: "\(path)/\(name)"),
                let certificates = try? readCertificates(bytes), !certificates.isEmpty
            else { continue }
            sources.append(source(of: bytes))
        }
        guard !sources.isEmpty else {
            throw UsageError(
                "there is no certificate in the directory \(quoted(path))",
                code: ExitCode.noInput
            )
        }
        return sources
    }

    /// Returns the certificates of a file in PEM or DER.
    static func certificates(at path: String) throws(UsageError) -> [ServedCertificate] {
        try certificates(in: contents(of: path), from: path)
    }

    private static func certificates(
        in bytes: [UInt8],
        from path: String
    ) throws(UsageError) -> [ServedCertificate] {
        do throws(TLSError) {
            return try readCertificates(bytes)
        } catch {
            throw UsageError("there is no certificate in \(quoted(path)): \(error)", code: ExitCode.noInput)
        }
    }

    private static func source(at path: String) throws(UsageError) -> CertificateSource {
        let bytes = try contents(of: path)
        // The file is checked now, because a later error could not name it.
        guard isPEM(bytes) else {
            _ = try certificates(in: bytes, from: path)
            return source(of: bytes)
        }
        let mark = Array("-----BEGIN ".utf8)
        guard bytes.indices.contains(where: { bytes[$0...].starts(with: mark) }) else {
            throw UsageError("there is no certificate in \(quoted(path))", code: ExitCode.noInput)
        }
        return source(of: bytes)
    }

    private static func source(of bytes: [UInt8]) -> CertificateSource {
        isPEM(bytes) ? .pem(bytes) : .der(bytes)
    }

    private static func contents(of path: String) throws(UsageError) -> [UInt8] {
        try Files.contents(of: path, upTo: 64 << 20)
    }

    private static func isCertificateName(_ name: String) -> Bool {
        let ending = name.split(separator: ".").last.map(String.init) ?? ""
        return ["pem", "crt", "cer", "der"].contains(ending.lowercased()) || ending.allSatisfy(\.isNumber)
    }
}
