internal import DirectCore

/// A version of TLS as its two bytes, those that no current library speaks included.
package enum WireVersion: UInt16, Sendable, CaseIterable, Comparable {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304

    /// `1.0` to `1.3`.
    package var number: String { "1.\(rawValue - 0x0301)" }

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// A group for the exchange of keys, as its two bytes (RFC 8446, section 4.2.7, and the registry of IANA).
package enum WireGroup: UInt16, Sendable, CaseIterable {
    case p256 = 23
    case p384 = 24
    case p521 = 25
    case x25519 = 29
    case x448 = 30
    case ffdhe2048 = 256
    case ffdhe3072 = 257
    case ffdhe4096 = 258
    case ffdhe6144 = 259
    case ffdhe8192 = 260
    case x25519MLKEM768 = 4588

    /// The name as OpenSSL writes it.
    package var name: String {
        switch self {
        case .p256: "secp256r1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        case .x25519: "X25519"
        case .x448: "X448"
        case .x25519MLKEM768: "X25519MLKEM768"
        default: "\(self)"
        }
    }

    /// What clients offered before there were groups that withstand quantum computers.
    package static let classic: [WireGroup] = [
        .x25519, .p256, .p384, .p521, .x448, .ffdhe2048, .ffdhe3072, .ffdhe4096, .ffdhe6144, .ffdhe8192,
    ]
}

/// A ClientHello that is written here, and not by a TLS library: it may offer what the library cannot do,
/// because the answer is only looked at, and the handshake never finished (RFC 8446, section 4.1.2).
package struct WrittenHello: Sendable {
    /// What is sent as SNI; `nil` for no name.
    package var serverName: String?
    /// The versions that are offered.
    package var versions: [WireVersion] = [.tls13, .tls12]
    /// The groups that are offered. No share is sent for any of them, so that a server of TLS 1.3 names the
    /// one that it wants (section 4.2.8).
    package var groups = WireGroup.classic
    /// The bytes up to which the message is padded (RFC 7685); `nil` for no padding.
    package var size: Int?

    /// A hello to this name, or without a name.
    package init(to serverName: String?) {
        self.serverName = serverName
    }

    /// The message, without the head of a record.
    package func message() -> [UInt8] {
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max) } }
        let newest = versions.max() ?? .tls12
        // Before TLS 1.3 the highest version stands here; from then on it is always 1.2.
        let legacy = min(newest, .tls12).rawValue.bigEndianBytes
        // Middleboxes take a hello of TLS 1.3 with a session for one of 1.2 (appendix D.4).
        var body = legacy + bytes(32) + Self.vector(newest == .tls13 ? bytes(32) : [], 1)
        body += Self.vector(ciphers(upTo: newest).flatMap(\.bigEndianBytes), 2) + [1, 0]
        var extensions = extensions(newest)
        if let size {
            let missing = size - 4 - body.count - 2 - extensions.count - 4
            if missing >= 0 { extensions += Self.field(21, [UInt8](repeating: 0, count: missing)) }
        }
        body += Self.vector(extensions, 2)
        return [1] + Self.vector(body, 3)
    }

    /// The message in records of at most so many bytes each, one after the other.
    package func records(upTo most: Int = 1 << 14) -> [UInt8] {
        var (rest, bytes) = (message()[...], [UInt8]())
        while !rest.isEmpty {
            let part = rest.prefix(most)
            // The version of the record is 1.0, as of clients that also speak it (section 5.1).
            bytes += [22, 3, 1] + Self.vector(Array(part), 2)
            rest = rest.dropFirst(part.count)
        }
        return bytes
    }

    private func extensions(_ newest: WireVersion) -> [UInt8] {
        var all: [UInt8] = []
        if let serverName {
            all += Self.field(0, Self.vector([0] + Self.vector(Array(serverName.utf8), 2), 2))
        }
        all += Self.field(23, []) + Self.field(0xFF01, [0])
        all += Self.field(10, Self.vector(groups.flatMap { $0.rawValue.bigEndianBytes }, 2))
        all += Self.field(11, [1, 0])
        if newest >= .tls12 {
            all += Self.field(13, Self.vector(Self.signatures.flatMap(\.bigEndianBytes), 2))
        }
        if newest == .tls13 {
            all += Self.field(43, Self.vector(versions.flatMap { $0.rawValue.bigEndianBytes }, 1))
            all += Self.field(45, [1, 1]) + Self.field(51, [0, 0])
        }
        return all
    }

    private func ciphers(upTo newest: WireVersion) -> [UInt16] {
        let newer: [UInt16] = [0x1301, 0x1302, 0x1303, 0x1304, 0x1305]
        // With GCM, ChaCha20 and CCM, and with CBC as of TLS 1.2: a server may take nothing else.
        let middle: [UInt16] = [
            0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0x009E, 0x009F, 0xCCAA, 0x009C, 0x009D,
            0xC0AC, 0xC0AD, 0xC0AE, 0xC0AF, 0xC09E, 0xC09F, 0xC09C, 0xC09D,
            0xC023, 0xC024, 0xC027, 0xC028, 0x0067, 0x006B, 0x003C, 0x003D,
        ]
        // With SHA-1, as TLS 1.0 and 1.1 need them: ECDHE, DHE and RSA with AES, then 3DES and RC4.
        let older: [UInt16] = [
            0xC009, 0xC00A, 0xC013, 0xC014, 0x0033, 0x0039, 0x002F, 0x0035, 0xC012, 0x000A, 0x0005,
        ]
        // What old servers may be left with: Camellia, SEED, IDEA, DES, RC4 with MD5, keys for DSS, and
        // static ones for ECDH. Not in a hello of TLS 1.3, which is to be short.
        let oldest: [UInt16] = [
            0x0041, 0x0084, 0x0045, 0x0088, 0x0044, 0x0087, 0x0096, 0x009A, 0x0099, 0x0007, 0x0016, 0x0013,
            0x0032, 0x0038, 0xC008, 0xC007, 0xC011, 0xC004, 0xC005, 0xC00E, 0xC00F, 0xC003, 0xC00D, 0xC002,
            0xC00C, 0x0004, 0x0009, 0x0015, 0x0012, 0x0066,
        ]
        let isAlone = versions == [.tls13]
        return (newest == .tls13 ? newer : []) + (newest >= .tls12 && !isAlone ? middle : [])
            + (isAlone ? [] : older) + (newest < .tls13 ? oldest : [])
    }

    /// Elliptic curves, RSA-PSS (for keys of both kinds) and RSA, last with SHA-224 and SHA-1, and DSS.
    private static let signatures: [UInt16] = [
        0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0804, 0x0805, 0x0806, 0x0809, 0x080A, 0x080B,
        0x0401, 0x0501, 0x0601, 0x0303, 0x0301, 0x0203, 0x0201, 0x0302, 0x0402, 0x0502, 0x0602, 0x0202,
    ]

    private static func field(_ number: UInt16, _ value: [UInt8]) -> [UInt8] {
        number.bigEndianBytes + vector(value, 2)
    }

    /// The bytes behind their length, which takes so many bytes.
    private static func vector(_ bytes: [UInt8], _ lengthBytes: Int) -> [UInt8] {
        (0..<lengthBytes).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * (lengthBytes - 1 - $0))) }
            + bytes
    }
}
