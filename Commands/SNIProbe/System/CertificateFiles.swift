internal import CommandKit
internal import DirectHTTP

/// The content of a file that is to be deployed.
struct DeployedFile {
    let certificates: [ServedCertificate]
    /// Whether the key in an archive is that of the first certificate; `nil` without one.
    var hasMatchingKey: Bool?
    /// The text with a key that is in PEM with the certificates; `nil` without one.
    var key: [UInt8]?
    /// Whether the end of an item and the beginning of the next are on one line.
    var isRunTogether = false
}

/// Reads the certificate files of the command line: the roots of `--ca` and the certificate of `--expect`.
enum CertificateFiles {
    /// Adds the roots of a value of `--ca`, `FILE`, `DIR` or `system`, to those with the same label, which
    /// stands before it with an equals sign. Files without a label make one store.
    static func addStore(
        _ value: String,
        to stores: inout [(label: String, roots: TrustRoots)]
    ) throws(UsageError) {
        let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
        let isLabelled =
            parts.count == 2 && !parts[0].contains("/") && !Files.isFolder(value)
            && (try? Files.contents(of: value, upTo: 0)) == nil
        let path = isLabelled ? parts[1] : value
        let label = isLabelled ? parts[0] : path == "system" ? path : "files"
        let roots = path == "system" ? TrustRoots.system : .only(try self.roots(at: path))
        guard let index = stores.firstIndex(where: { $0.label == label }) else {
            return stores.append((label, roots))
        }
        guard case (.only(let before), .only(let more)) = (stores[index].roots, roots) else {
            throw UsageError("--ca has the system's roots and others for one label: \(label)")
        }
        stores[index].roots = .only(before + more)
    }

    /// Returns the roots in a file, or in all files of a directory that contain certificates.
    static func roots(at path: String) throws(UsageError) -> [CertificateSource] {
        guard Files.isFolder(path) else { return [try source(at: path)] }
        var sources: [CertificateSource] = []
        for name in try UserFiles.names(in: path) where isCertificateName(name) {
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

    /// Returns the certificates of a file in PEM, DER or PKCS#12, and what is with them.
    static func deployed(at path: String, passphrase: String?) throws(UsageError) -> DeployedFile {
        let given = try contents(of: path)
        let bytes = isPEM(given) ? separated(given) : given
        guard isPKCS12(bytes) else {
            var file = DeployedFile(certificates: try certificates(in: bytes, from: path))
            file.isRunTogether = bytes.count > given.count
            if isPEM(bytes), bytes.contain("PRIVATE KEY-----") {
                file.key = try IdentityFiles.privateKey(bytes, of: path, passphrase: passphrase)
            }
            return file
        }
        let why: String
        do {
            let archive = try IdentityArchive(bytes, passphrase: passphrase)
            let certificates = archive.certificates
            guard certificates.isEmpty else {
                return DeployedFile(certificates: certificates, hasMatchingKey: archive.hasMatchingKey)
            }
            why = "there is no certificate in it"
        } catch {
            why =
                switch error {
                case .malformed: "it is PKCS#12, and damaged"
                case .wrongPassphrase: passphrase == nil ? "it has a passphrase" : "the passphrase is wrong"
                case .unreadable(let reason): "it is PKCS#12, which OpenSSL cannot read: \(reason)"
                }
        }
        let hint = "--passphrase file:PATH or env:NAME; old files: openssl pkcs12 -legacy -in FILE -nokeys"
        throw UsageError("\(quoted(path)): \(why)", hint: hint, code: ExitCode.noInput)
    }

    /// Returns PEM with a line break between the dashes of an end and those of the beginning after it, which
    /// files lack that were put together without one.
    private static func separated(_ bytes: [UInt8]) -> [UInt8] {
        var separated: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            separated.append(byte)
            guard byte == UInt8(ascii: "-"), bytes[(index + 1)...].starts(with: "-----BEGIN ".utf8),
                bytes[...index].suffix(5).elementsEqual("-----".utf8)
            else { continue }
            separated.append(UInt8(ascii: "\n"))
        }
        return separated
    }

    private static func certificates(
        in bytes: [UInt8],
        from path: String
    ) throws(UsageError) -> [ServedCertificate] {
        do throws(TLSError) {
            return try readCertificates(bytes)
        } catch {
            if isPEM(bytes) ? !holdsCertificate(bytes) : container(of: bytes) != nil {
                throw noCertificate(in: bytes, from: path)
            }
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
        guard holdsCertificate(bytes) else { throw noCertificate(in: bytes, from: path) }
        return source(of: bytes)
    }

    /// Whether PEM text has a block with a certificate, by any of its names.
    private static func holdsCertificate(_ bytes: [UInt8]) -> Bool {
        ["CERTIFICATE-----", "TRUSTED CERTIFICATE-----", "X509 CERTIFICATE-----"].contains {
            bytes.contain("-----BEGIN " + $0)
        }
    }

    /// Whether DER is a sequence that begins with the number 3, the version of PKCS#12 (RFC 7292, section 4).
    private static func isPKCS12(_ bytes: [UInt8]) -> Bool { isSequence(bytes, of: [2, 1, 3]) }

    private static func isSequence(_ bytes: [UInt8], of first: [UInt8]) -> Bool {
        guard bytes.count > 8, bytes[0] == 0x30 else { return false }
        let start = 2 + (bytes[1] >= 0x80 ? Int(bytes[1] - 0x80) : 0)
        return bytes.dropFirst(start).starts(with: first)
    }

    /// A form that holds certificates and is not read here, with the command that makes PEM of it.
    private static func container(of bytes: [UInt8]) -> String? {
        if isPKCS12(bytes) { return "PKCS#12, of which openssl pkcs12 -nokeys makes PEM" }
        // The object identifier of signed data (RFC 2315, section 14).
        let isSignedData = isSequence(bytes, of: [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2])
        guard isSignedData || bytes.contain("-----BEGIN PKCS7-----") else { return nil }
        return "PKCS#7, of which openssl pkcs7 -print_certs makes PEM"
    }

    /// The error for a file without a certificate, which says what else is there.
    private static func noCertificate(in bytes: [UInt8], from path: String) -> UsageError {
        let others = [
            ("PRIVATE KEY-----", "a private key"), ("CERTIFICATE REQUEST-----", "a certificate request"),
            ("PUBLIC KEY-----", "a public key"), ("X509 CRL-----", "a revocation list"),
        ]
        let other = container(of: bytes) ?? others.first { bytes.contain($0.0) }?.1
        let words = other.map { ", but \($0)" } ?? ""
        return UsageError("there is no certificate in \(quoted(path))\(words)", code: ExitCode.noInput)
    }

    private static func source(of bytes: [UInt8]) -> CertificateSource {
        isPEM(bytes) ? .pem(bytes) : .der(bytes)
    }

    private static func contents(of path: String) throws(UsageError) -> [UInt8] {
        try UserFiles.contents(of: path, upTo: 64 << 20)
    }

    private static func isCertificateName(_ name: String) -> Bool {
        let ending = name.split(separator: ".").last.map(String.init) ?? ""
        return ["pem", "crt", "cer", "der"].contains(ending.lowercased()) || ending.allSatisfy(\.isNumber)
    }
}
