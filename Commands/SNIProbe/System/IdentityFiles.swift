internal import DirectHTTP

/// Reads the client's certificate and its key.
enum IdentityFiles {
    /// Returns the identity; `nil` if no certificate is given.
    ///
    /// - Throws: ``UsageError`` if a file cannot be read, has not what it should have, or the key is
    ///   encrypted.
    static func identity(certificate: String?, key: String?) throws(UsageError) -> ClientIdentity? {
        guard let certificate else {
            guard key == nil else {
                throw UsageError("--key needs --cert", hint: "--cert FILE is the certificate")
            }
            return nil
        }
        let chain = try contents(of: certificate)
        guard chain.contain("-----BEGIN CERTIFICATE-----") else {
            throw UsageError(
                "there is no certificate in PEM in \(quoted(certificate))",
                code: ExitCode.noInput
            )
        }
        let secret = try privateKey(
            at: key ?? certificate,
            hint: key == nil ? "give it with --key FILE" : nil
        )
        return ClientIdentity(certificateChain: chain, privateKey: secret)
    }

    /// Returns the contents of a file with a key in PEM, which may be encrypted if there is a passphrase.
    static func privateKey(
        at keyPath: String,
        hint: String? = nil,
        passphrase: String? = nil
    ) throws(UsageError) -> [UInt8] {
        let secret = try contents(of: keyPath)
        guard secret.contain("PRIVATE KEY-----") else {
            throw UsageError(
                "there is no private key in \(quoted(keyPath))",
                hint: secret.first == 0x30 ? "if it is DER: openssl pkey -in FILE makes PEM of it" : hint,
                code: ExitCode.noInput
            )
        }
        return try privateKey(secret, of: keyPath, passphrase: passphrase)
    }

    /// Returns the text of a file, unless the key in it is encrypted and there is no passphrase.
    static func privateKey(
        _ secret: [UInt8],
        of keyPath: String,
        passphrase: String?
    ) throws(UsageError) -> [UInt8] {
        let isEncrypted =
            secret.contain("-----BEGIN ENCRYPTED PRIVATE KEY") || secret.contain("Proc-Type: 4,ENCRYPTED")
        guard isEncrypted, passphrase == nil else { return secret }
        throw UsageError(
            "the private key in \(quoted(keyPath)) is encrypted, and sni-probe asks for no password",
            hint: "openssl pkey -in FILE writes it without; check takes --passphrase file:PATH or env:NAME",
            code: ExitCode.noInput
        )
    }

    private static func contents(of path: String) throws(UsageError) -> [UInt8] {
        try UserFiles.contents(of: path, upTo: 4 << 20)
    }
}
