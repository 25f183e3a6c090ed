internal import DirectHTTP

/// Certificates that the command line names: roots, and the one that is expected.
enum CertificateFiles {
    /// The roots in a file, or in the files of a directory that hold any.
    static func roots(at path: String) throws(UsageError) -> [CertificateSource] {
        guard Files.isDirectory(path) else { return [try source(at: path)] }
        var sources: [CertificateSource] = []
        for name in try Files.names(in: path) where isCertificateName(name) {
            let file = "\(path)/\(name)"
            if let certificates = try? certificates(at: file), !certificates.isEmpty {
                sources.append(try source(at: file))
            }
        }
        guard !sources.isEmpty else {
            throw UsageError(
                "there is no certificate in the directory \(quoted(path))",
                code: ExitCode.noInput
            )
        }
        return sources
    }

    /// The certificates of a file, in PEM or DER.
    static func certificates(at path: String) throws(UsageError) -> [ServedCertificate] {
        let bytes = try Files.contents(of: path, upTo: 64 << 20)
        do throws(TLSError) {
            return try readCertificates(bytes)
        } catch {
            throw UsageError("there is no certificate in \(quoted(path)): \(error)", code: ExitCode.noInput)
        }
    }

    private static func source(at path: String) throws(UsageError) -> CertificateSource {
        let bytes = try Files.contents(of: path, upTo: 64 << 20)
        // An error that comes later does not know the file any more.
        guard isPEM(bytes) else {
            _ = try certificates(at: path)
            return .der(bytes)
        }
        let mark = Array("-----BEGIN ".utf8)
        guard bytes.indices.contains(where: { bytes[$0...].starts(with: mark) }) else {
            throw UsageError("there is no certificate in \(quoted(path))", code: ExitCode.noInput)
        }
        return .pem(bytes)
    }

    private static func isCertificateName(_ name: String) -> Bool {
        let ending = name.split(separator: ".").last.map(String.init) ?? ""
        return ["pem", "crt", "cer", "der"].contains(ending.lowercased()) || ending.allSatisfy(\.isNumber)
    }
}
