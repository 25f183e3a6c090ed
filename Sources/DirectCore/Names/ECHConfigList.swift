/// The configurations of Encrypted Client Hello that a server has published (RFC 9849, section 4), such as in
/// the `ech` parameter of its HTTPS record.
///
/// Its first usable configuration is offered: one of the version of RFC 9849, without a mandatory extension,
/// for a key and ciphers that are known, and with a host name as its public name.
public struct ECHConfigList: Hashable, Sendable {
    /// The bytes, beginning with their length.
    public let bytes: [UInt8]
    /// The name that the path to the server sees, in place of the request's.
    public let publicName: ECHPublicName
    /// A list of the one configuration that is offered, so that whoever reads it finds no other.
    package let offered: [UInt8]

    /// Checks the bytes of a list.
    ///
    /// - Throws: The ``ECHConfigError`` of bytes that are no list, or hold no usable configuration.
    public init(_ bytes: [UInt8]) throws(ECHConfigError) {
        var reader = ByteReader(bytes[...])
        guard let list = reader.vector(lengthBytes: 2), reader.isAtEnd, list.count >= 4 else {
            throw .malformed
        }
        let configs = try Self.configs(in: list)
        let known = configs.compactMap(\.contents)
        guard !known.isEmpty else { throw .unknownVersions(configs.map(\.version)) }
        guard let config = configs.first(where: { $0.contents?.isUsable ?? false }),
            let name = config.contents?.publicName
        else { throw .unusable }
        self.bytes = bytes
        publicName = name
        offered = UInt16(config.bytes.count).bigEndianBytes + config.bytes
    }

    /// Checks the Base64 text of a list, as tools show the parameter `ech` of a record.
    ///
    /// - Throws: The ``ECHConfigError`` of a text that is no list, or holds no usable configuration.
    public init(base64 text: String) throws(ECHConfigError) {
        guard let bytes = Base64.decode(text) else { throw .malformed }
        try self.init(bytes)
    }

    private static func configs(in list: ArraySlice<UInt8>) throws(ECHConfigError) -> [ECHConfig] {
        var reader = ByteReader(list)
        guard let pairs = reader.pairs() else { throw .malformed }
        return try pairs.map { version, body throws(ECHConfigError) in
            let isKnown = version == ECHConfig.version
            let contents = isKnown ? ECHConfigContents(body) : nil
            guard !isKnown || contents != nil else { throw .malformed }
            let bytes = list[(body.startIndex - 4)..<body.endIndex]
            return ECHConfig(version: UInt16(version), bytes: bytes, contents: contents)
        }
    }
}

extension ECHConfigList: CustomStringConvertible {
    /// The public name, and the number of bytes.
    public var description: String { "ECHConfigList(publicName: \(publicName), \(bytes.count) bytes)" }
}

/// The name that a client hello shows to the path when its real one is encrypted (RFC 9849, section 4).
///
/// It says nothing about who answers a request: no identity, host or server name of one is made from it. A
/// server proves it only to have its fresh configurations believed, after it has refused those that it was
/// offered.
public struct ECHPublicName: Hashable, Sendable, CustomStringConvertible {
    private let name: DomainName

    /// A dot-separated sequence of LDH labels (RFC 5890, section 2.3.1) that is no address; `nil` for any
    /// other text.
    init?(utf8 text: Span<UInt8>) {
        guard let name = try? DomainName(utf8: text) else { return nil }
        let labels = name.bytes.split(separator: UInt8(ascii: "."))
        let hyphen = UInt8(ascii: "-")
        guard !name.bytes.contains(UInt8(ascii: "_")),
            labels.allSatisfy({ $0.first != hyphen && $0.last != hyphen })
        else { return nil }
        self.name = name
    }

    /// The name, in lower case.
    public var description: String { name.text }
}

/// The reason why bytes are not taken as an ``ECHConfigList``.
@nonexhaustive
public enum ECHConfigError: Error, Hashable, Sendable, CustomStringConvertible {
    /// They are no ECHConfigList.
    case malformed
    /// All configurations are of these versions, which are not known.
    case unknownVersions([UInt16])
    /// Each configuration of a known version has a mandatory extension, a key or ciphers that are not known,
    /// or a public name that is no host name.
    case unusable

    /// The error in words.
    public var description: String {
        switch self {
        case .malformed: "the bytes are no ECHConfigList"
        case .unknownVersions(let versions):
            "the ECHConfigList has only unknown versions: "
                + versions.prefix(8).map { Hex.encode($0.bigEndianBytes) }.joined(separator: ", ")
        case .unusable: "no configuration of the ECHConfigList can be used"
        }
    }
}

/// One configuration of a list.
private struct ECHConfig {
    /// The version of RFC 9849.
    static let version = 0xFE0D

    let version: UInt16
    /// All of its bytes, with version and length.
    let bytes: ArraySlice<UInt8>
    /// `nil` if the version is not known.
    let contents: ECHConfigContents?
}

/// The contents of a configuration of the known version.
private struct ECHConfigContents {
    /// Whether this client can use it.
    let isUsable: Bool
    /// `nil` if it is no host name.
    let publicName: ECHPublicName?

    /// The lengths of public keys by the number of their KEM (RFC 9180, section 7.1).
    private static let keyLengths = [0x10: 65, 0x11: 97, 0x12: 133, 0x20: 32, 0x21: 56]
    /// The numbers of the KDFs and of the AEADs that are known (RFC 9180, sections 7.2 and 7.3).
    private static let known = 1...3
    /// OpenSSL reads no longer configuration (OSSL_ECH_MAX_ECHCONFIG_LEN in openssl/ech.h).
    private static let longest = 1500

    /// `nil` if the bytes are not the contents of a configuration.
    init?(_ bytes: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes)
        guard reader.number(bytes: 1) != nil, let kem = reader.number(bytes: 2),
            let key = reader.vector(lengthBytes: 2), !key.isEmpty,
            let suites = reader.vector(lengthBytes: 2), !suites.isEmpty, suites.count % 4 == 0,
            reader.number(bytes: 1) != nil,
            let name = reader.vector(lengthBytes: 1), !name.isEmpty,
            let extensions = reader.vector(lengthBytes: 2), reader.isAtEnd,
            let types = Self.types(of: extensions)
        else { return nil }
        publicName = ECHPublicName(utf8: name.span)
        isUsable =
            publicName != nil && bytes.count + 4 <= Self.longest && Self.keyLengths[kem] == key.count
            && Self.hasKnownSuite(suites)
            // The high bit marks those that must be understood (RFC 9849, section 4.2), and none is yet.
            && types.allSatisfy { $0 & 0x8000 == 0 }
    }

    private static func hasKnownSuite(_ suites: ArraySlice<UInt8>) -> Bool {
        var reader = ByteReader(suites)
        while let kdf = reader.number(bytes: 2), let aead = reader.number(bytes: 2) {
            if known.contains(kdf), known.contains(aead) { return true }
        }
        return false
    }

    /// `nil` if the extensions are malformed, or one occurs twice.
    private static func types(of extensions: ArraySlice<UInt8>) -> Set<Int>? {
        var reader = ByteReader(extensions)
        guard let pairs = reader.pairs() else { return nil }
        let types = Set(pairs.map(\.number))
        return types.count == pairs.count ? types : nil
    }
}
