internal import CDirectOpenSSL

/// A key pair for Encrypted Client Hello (RFC 9849), and the configuration that a server publishes for it.
public struct FixtureECHKey: Sendable {
    /// Whether the OpenSSL that the package was compiled with can do it: from 4.0 on.
    public static var isSupported: Bool { fixture_has_ech() == 1 }

    /// The ECHConfigList with the configuration.
    public let configList: [UInt8]
    /// The private key and the list, as OpenSSL reads them.
    package let pem: [UInt8]

    /// Makes a key pair for servers behind this public name.
    public init(publicName: String) throws(FixtureError) {
        pem = Array(withMemoryBIO { fixture_ECH_write_new_key($0, publicName) }.utf8)
        var list: [UInt8] = []
        withMemoryBIO(reading: pem) { list = Self.list(in: $0) }
        guard !list.isEmpty else { throw openSSLError("key for Encrypted Client Hello") }
        configList = list
    }

    /// Returns the content of the item `ECHCONFIG`; empty if there is none.
    private static func list(in bio: OpaquePointer) -> [UInt8] {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        while PEM_read_bio(bio, &name, &header, &bytes, &count) == 1 {
            defer {
                fixture_OPENSSL_free(name)
                fixture_OPENSSL_free(header)
                fixture_OPENSSL_free(bytes)
            }
            guard name.map({ String(cString: $0) }) == "ECHCONFIG" else { continue }
            return Array(UnsafeBufferPointer(start: bytes, count: count))
        }
        return []
    }
}

/// A server's treatment of encrypted client hellos.
public struct FixtureECH: Sendable {
    /// The keys that decrypt them.
    public var keys: [FixtureECHKey]
    /// Whether a client whose hello was not decrypted is told the configurations of the keys.
    public var namesKeys = true

    /// Makes settings with these keys.
    public init(_ keys: FixtureECHKey...) {
        self.keys = keys
    }

    /// Lets all connections of a context use the keys.
    package func install(in context: OpaquePointer) throws(FixtureError) {
        let store = fixture_ECHSTORE_new()
        defer { fixture_ECHSTORE_free(store) }
        for key in keys {
            var isAdded = false
            withMemoryBIO(reading: key.pem) {
                isAdded = fixture_ECHSTORE_add(store, $0, namesKeys ? 1 : 0) == 1
            }
            guard isAdded else { throw openSSLError("key for Encrypted Client Hello") }
        }
        guard fixture_SSL_CTX_set1_echstore(context, store) == 1 else {
            throw openSSLError("Encrypted Client Hello")
        }
    }
}
