internal import CDirectOpenSSL

/// A certificate chain and its private key, both in PEM form.
public struct ClientIdentity: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The client's certificate first, then the intermediates up towards a root.
    public let certificateChain: [UInt8]

    /// The private key of the first certificate, not encrypted.
    public let privateKey: [UInt8]

    /// Creates an identity without parsing it: a chain or key that cannot be used is reported when a client
    /// connects.
    public init(certificateChain: [UInt8], privateKey: [UInt8]) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }

    /// A description without the key.
    public var description: String {
        "ClientIdentity(certificateChain: \(certificateChain.count) bytes, privateKey: hidden)"
    }

    /// A description without the key.
    public var debugDescription: String { description }

    /// A mirror without the key, so that `dump` does not show it either.
    public var customMirror: Mirror { Mirror(self, children: ["certificateChain": certificateChain.count]) }
}

extension ClientIdentity {
    /// Hashes some bytes of the chain: identities are compared as a whole anyway.
    public func hash(into hasher: inout Hasher) { hasher.combine(sampleOf: certificateChain) }

    /// Makes all connections of a context show the certificate to servers that ask for one.
    func install(in context: OpaquePointer) throws(TLSError) {
        try CertificateList(pem: certificateChain, as: "client certificate").show(in: context)
        let key = try parsedKey()
        defer { EVP_PKEY_free(key) }
        // The context adds a reference of its own, and checks whether the key matches the certificate.
        guard SSL_CTX_use_PrivateKey(context, key) == 1 else {
            throw .badSettings("client key: \(ErrorQueue.drainedReason())")
        }
    }

    /// Parses the private key. The caller owns the result.
    func parsedKey() throws(TLSError) -> OpaquePointer {
        var key: OpaquePointer?
        PEMItem.privateKey.forEach(in: privateKey) { item in
            key = item
            return false
        }
        guard let key else { throw .badSettings("client key: \(ErrorQueue.drainedReason())") }
        return key
    }
}
