internal import DirectCore
internal import DirectIO

/// The IPv6 prefix under which a network's NAT64 translator makes IPv4 addresses reachable (RFC 6052).
struct NAT64Prefix: Equatable, Sendable {
    /// The prefix itself: the first bytes of every IPv6 address that the translator serves.
    let bytes: [UInt8]

    /// The lengths that RFC 6052 allows, in bytes.
    static let lengths = [12, 8, 7, 6, 5, 4]

    /// Extracts the prefix from an AAAA record of `ipv4only.arpa`. The name has only two IPv4 addresses, so a
    /// resolver that answers with an IPv6 address has embedded one of them (RFC 7050, section 2.2). Fails if
    /// the address embeds neither.
    init?(discoveredIn answer: IPAddress) {
        guard answer.family == .v6, !answer.isIPv4Mapped else { return nil }
        let bytes = answer.bytes
        for length in Self.lengths {
            let embedded = Self.embeddedIndices(prefixLength: length).map { bytes[$0] }
            guard Self.wellKnownIPv4.contains(embedded), length == 12 || bytes[8] == 0 else { continue }
            self.bytes = Array(bytes[..<length])
            return
        }
        return nil
    }

    /// Returns the IPv6 address that embeds this IPv4 address; `nil` if the IPv4 address is not globally
    /// reachable: it cannot be reached from outside of its own network (RFC 6052, section 3.1).
    func synthesizedAddress(for address: IPAddress) -> IPAddress? {
        let address = address.unmapped
        guard address.family == .v4, SpecialAddresses.nonGlobalPurpose(of: address) == nil else { return nil }
        var result = bytes + [UInt8](repeating: 0, count: 16 - bytes.count)
        for (index, byte) in zip(Self.embeddedIndices(prefixLength: bytes.count), address.bytes) {
            result[index] = byte
        }
        return IPAddress(bytes: result)
    }

    /// Returns the indices of the four embedded bytes. They follow the prefix and skip the ninth byte, which
    /// is always 0 (RFC 6052, section 2.2).
    private static func embeddedIndices(prefixLength length: Int) -> [Int] {
        (length..<length + 4).map { length < 12 && $0 >= 8 ? $0 + 1 : $0 }
    }

    /// The addresses of `ipv4only.arpa` (RFC 7050, section 2.2).
    private static let wellKnownIPv4: [[UInt8]] = [[192, 0, 0, 170], [192, 0, 0, 171]]
}
