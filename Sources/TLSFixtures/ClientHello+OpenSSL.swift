internal import CDirectOpenSSL

extension ClientHello {
    /// Reads the message that OpenSSL is processing. Call it only inside OpenSSL's ClientHello callback.
    init(reading ssl: OpaquePointer) {
        extensions = Self.extensionTypes(ssl)
        serverName = Self.content(of: 0, ssl).flatMap(Self.hostName)
        applicationProtocols = Self.content(of: 16, ssl).map(Self.protocolNames) ?? []
        var bytes: UnsafePointer<UInt8>?
        let count = SSL_client_hello_get0_ciphers(ssl, &bytes)
        cipherSuites = Self.numbers(UnsafeBufferPointer(start: bytes, count: count))
        versions =
            Self.content(of: 43, ssl).map { Self.numbers($0.dropFirst()) }
            ?? [UInt16(truncatingIfNeeded: SSL_client_hello_get0_legacy_version(ssl))]
        offersResumption = Self.offersResumption(ssl, extensions: extensions)
    }

    /// Whether the client offers a pre-shared key, a non-empty ticket or, before TLS 1.3, a session id.
    private static func offersResumption(_ ssl: OpaquePointer, extensions: [UInt16]) -> Bool {
        if extensions.contains(41) { return true }
        if let ticket = content(of: 35, ssl), !ticket.isEmpty { return true }
        // In TLS 1.3 the session id exists only for compatibility with middleboxes.
        guard !extensions.contains(43) else { return false }
        var id: UnsafePointer<UInt8>?
        return SSL_client_hello_get0_session_id(ssl, &id) > 0
    }

    private static func extensionTypes(_ ssl: OpaquePointer) -> [UInt16] {
        var types: UnsafeMutablePointer<Int32>?
        var count = 0
        guard SSL_client_hello_get1_extensions_present(ssl, &types, &count) == 1 else { return [] }
        defer { fixture_OPENSSL_free(types) }
        return UnsafeBufferPointer(start: types, count: count).map { UInt16(truncatingIfNeeded: $0) }
    }

    private static func content(of type: UInt32, _ ssl: OpaquePointer) -> UnsafeBufferPointer<UInt8>? {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard SSL_client_hello_get0_ext(ssl, type, &bytes, &count) == 1 else { return nil }
        return UnsafeBufferPointer(start: bytes, count: count)
    }

    /// Reads server_name (RFC 6066, section 3): list length, type 0, name length, name.
    private static func hostName(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard bytes.count >= 5, bytes[2] == 0 else { return nil }
        let length = Int(bytes[3]) << 8 | Int(bytes[4])
        return String(decoding: bytes.dropFirst(5).prefix(length), as: UTF8.self)
    }

    /// Reads the ALPN extension (RFC 7301, section 3.1): list length, then names with a length byte each.
    private static func protocolNames(_ bytes: UnsafeBufferPointer<UInt8>) -> [String] {
        var names: [String] = []
        var rest = bytes.dropFirst(2)
        while let length = rest.first {
            rest = rest.dropFirst()
            names.append(String(decoding: rest.prefix(Int(length)), as: UTF8.self))
            rest = rest.dropFirst(Int(length))
        }
        return names
    }

    /// Splits the bytes into big-endian 16-bit numbers.
    private static func numbers(_ bytes: some Collection<UInt8>) -> [UInt16] {
        var numbers: [UInt16] = []
        var high: UInt8?
        for byte in bytes {
            if let first = high {
                numbers.append(UInt16(first) << 8 | UInt16(byte))
                high = nil
            } else {
                high = byte
            }
        }
        return numbers
    }
}
