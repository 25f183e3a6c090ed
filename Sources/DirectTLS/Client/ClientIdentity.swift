internal import CDirectOpenSSL

/// A certificate chain and its private key, for servers that ask for the client's certificate.
public struct ClientIdentity: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The client's certificate in PEM, then the intermediates up towards a root. Empty for an identity of
    /// files, which is read when a client connects.
    public let certificateChain: [UInt8]

    /// The private key of the first certificate in PEM, not encrypted. Empty for an identity of files.
    public let privateKey: [UInt8]

    /// The files of the identity; `nil` for one in memory.
    package let files: IdentityFiles?

    /// Creates an identity of two texts in PEM without parsing it: a chain or key that cannot be used is
    /// reported when a client connects.
    public init(certificateChain: [UInt8], privateKey: [UInt8]) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        files = nil
    }

    private init(_ files: IdentityFiles) {
        (certificateChain, privateKey) = ([], [])
        self.files = files
    }

    /// Creates an identity of two texts in PEM, with a key that may be encrypted.
    ///
    /// - Throws: ``TLSError/wrongPassphrase`` if the passphrase does not open the key,
    ///   ``TLSError/badSettings(_:)`` if there is no key.
    public init(certificateChain: [UInt8], privateKey: [UInt8], passphrase: String) throws(TLSError) {
        let key = try PrivateKey(pem: privateKey, passphrase: passphrase)
        self.init(certificateChain: certificateChain, privateKey: try key.pem)
    }

    /// Creates an identity of an archive in PKCS#12 (`.p12`, `.pfx`; RFC 7292): its key, the certificate for
    /// that key, and the archive's other certificates as the intermediates.
    ///
    /// - Throws: ``TLSError/wrongPassphrase``, or ``TLSError/badSettings(_:)`` if the archive has another
    ///   form, lacks a key or a certificate, or uses algorithms that this OpenSSL does not have, such as the
    ///   RC2 of old Windows (`openssl pkcs12 -legacy` converts it).
    public init(pkcs12 archive: [UInt8], passphrase: String) throws(TLSError) {
        let opened: IdentityArchive
        do throws(IdentityArchive.Fault) {
            opened = try IdentityArchive(archive, passphrase: passphrase)
        } catch {
            throw TLSError(error)
        }
        let (certificates, key) = try opened.identity
        self.init(certificateChain: certificates, privateKey: key)
    }

    /// Returns an identity of two files in PEM. Each new handshake uses them as they are then, so that a
    /// renewed certificate needs no new client: if their bytes have changed, they are parsed anew, and
    /// sessions with the former certificate are not resumed. As long as new files cannot be used, such as a
    /// certificate whose key has not been written yet, the former ones are. Connections stay as they are.
    ///
    /// - Parameter passphrase: The passphrase of an encrypted key.
    public static func files(
        certificateChain: String,
        privateKey: String,
        passphrase: String? = nil
    ) -> ClientIdentity {
        let kind = IdentityFiles.Kind.pem(certificateChain: certificateChain, privateKey: privateKey)
        return ClientIdentity(IdentityFiles(kind: kind, passphrase: passphrase))
    }

    /// Returns an identity of a PKCS#12 file, which is read again as that of
    /// ``files(certificateChain:privateKey:passphrase:)``.
    public static func pkcs12File(_ path: String, passphrase: String) -> ClientIdentity {
        ClientIdentity(IdentityFiles(kind: .pkcs12(path), passphrase: passphrase))
    }

    /// A description without the key.
    public var description: String {
        if let files { return "ClientIdentity(\(files))" }
        return "ClientIdentity(certificateChain: \(certificateChain.count) bytes, privateKey: hidden)"
    }

    /// A description without the key.
    public var debugDescription: String { description }

    /// A mirror without the key, so that `dump` does not show it either.
    public var customMirror: Mirror { Mirror(self, children: ["certificateChain": certificateChain.count]) }
}

extension ClientIdentity {
    /// Hashes some bytes of the chain: identities are compared as a whole anyway.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(sampleOf: certificateChain)
        hasher.combine(files?.kind)
    }

    /// Makes all connections of a context show the certificate to servers that ask for one.
    func install(in context: OpaquePointer) throws(TLSError) {
        if let files { return try files.identity(of: try files.contents()).install(in: context) }
        let chain = try CertificateList(pem: certificateChain, as: "client certificate")
        let key = try PrivateKey(pem: privateKey, passphrase: nil)
        // OpenSSL compares them only within one kind of key: with another kind it would have two halves of
        // identities, and show none.
        guard let leaf = chain.first, key.isKey(of: leaf) else {
            throw .badSettings(Self.strangeKey)
        }
        try chain.show(in: context)
        // The context adds a reference of its own.
        guard SSL_CTX_use_PrivateKey(context, key.raw) == 1 else {
            throw .badSettings("client key: \(ErrorQueue.drainedReason())")
        }
    }

    /// Whether the key is that of the first certificate.
    package var hasMatchingKey: Bool {
        get throws(TLSError) {
            let chain = try CertificateList(pem: certificateChain, as: "client certificate")
            let key = try PrivateKey(pem: privateKey, passphrase: nil)
            return chain.first.map(key.isKey(of:)) ?? false
        }
    }

    private static let strangeKey = "client key: it is not that of the first certificate"
}

/// The files of a client's identity.
package struct IdentityFiles: Hashable, Sendable, CustomStringConvertible {
    /// The files by their paths.
    package enum Kind: Hashable, Sendable {
        case pem(certificateChain: String, privateKey: String)
        case pkcs12(String)
    }

    package let kind: Kind
    private let passphrase: String?

    fileprivate init(kind: Kind, passphrase: String?) {
        (self.kind, self.passphrase) = (kind, passphrase)
    }

    /// Whether a passphrase opens the key.
    package var hasPassphrase: Bool { passphrase != nil }

    /// The paths of the files.
    package var paths: [String] {
        switch kind {
        case .pem(let chain, let key): [chain, key]
        case .pkcs12(let path): [path]
        }
    }

    /// The paths.
    package var description: String {
        switch kind {
        case .pem(let chain, let key): "certificateChain: \(chain), privateKey: \(key)"
        case .pkcs12(let path): "pkcs12: \(path)"
        }
    }

    /// Returns the bytes of each file. Must not be called on an event loop.
    package func contents() throws(TLSError) -> [[UInt8]] {
        switch kind {
        case .pem(let chain, let key):
            [
                try RootFile(path: chain, kind: "client certificate").bytes(),
                try RootFile(path: key, kind: "client key").bytes(),
            ]
        case .pkcs12(let path): [try RootFile(path: path, kind: "PKCS#12").bytes()]
        }
    }

    /// Returns the identity that the bytes of the files are.
    package func identity(of contents: [[UInt8]]) throws(TLSError) -> ClientIdentity {
        switch kind {
        case .pem:
            let (chain, key) = (contents.first ?? [], contents.last ?? [])
            guard let passphrase else { return ClientIdentity(certificateChain: chain, privateKey: key) }
            return try ClientIdentity(certificateChain: chain, privateKey: key, passphrase: passphrase)
        case .pkcs12:
            return try ClientIdentity(pkcs12: contents.first ?? [], passphrase: passphrase ?? "")
        }
    }
}
