internal import DirectCore
internal import DirectIO

/// The IPv6 prefix behind which a network's translator makes all of IPv4 reachable (RFC 6052).
struct NAT64Prefix: Hashable, Sendable {
    /// The first bytes of every address behind it.
    let bytes: [UInt8]

    /// The lengths that RFC 6052 allows, in bytes.
    static let lengths = [12, 8, 7, 6, 5, 4]

    /// Extracts the prefix from an address that stands for one of the two that `ipv4only.arpa` always has (RFC
    /// 7050, section 2.2). Returns `nil` if the address stands for neither.
    init?(seenIn answer: IPAddress) {
        guard answer.family == .v6, !answer.isIPv4Mapped else { return nil }
        let bytes = answer.bytes
        for length in Self.lengths {
            let embedded = Self.places(behind: length).map { bytes[$0] }
            guard Self.wellKnown.contains(embedded), length == 12 || bytes[8] == 0 else { continue }
            self.bytes = Array(bytes[..<length])
            return
        }
        return nil
    }

    /// Returns the address behind which the translator has this IPv4 address; `nil` if it is not an address of the
    /// public internet, which cannot be reached from outside of its network (RFC 6052, section 3.1).
    func address(for address: IPAddress) -> IPAddress? {
        let address = address.unmapped
        guard address.family == .v4, SpecialAddresses.objection(to: address) == nil else { return nil }
        var result = bytes + [UInt8](repeating: 0, count: 16 - bytes.count)
        for (place, byte) in zip(Self.places(behind: bytes.count), address.bytes) { result[place] = byte }
        return IPAddress(bytes: result)
    }

    /// Returns the indices of the four embedded bytes: behind the prefix, but never the ninth byte, which is always
    /// 0 (RFC 6052, section 2.2).
    private static func places(behind length: Int) -> [Int] {
        (length..<length + 4).map { length < 12 && $0 >= 8 ? $0 + 1 : $0 }
    }

    private static let wellKnown: [[UInt8]] = [[192, 0, 0, 170], [192, 0, 0, 171]]
}
