internal import DirectCore
internal import DirectIO

/// IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), together with multicast and the IPv6
/// ranges that are not allocated.
enum SpecialAddresses {
    /// Returns the purpose of an address that is not globally reachable; `nil` if the address is globally
    /// reachable.
    static func nonGlobalPurpose(of address: IPAddress) -> String? {
        let rows = address.family == .v4 ? v4 : v6
        if let row = rows.first(where: { $0.range.contains(address) }) {
            return row.isReachable ? nil : row.purpose
        }
        return address.family == .v4 || globalUnicast.contains(address) ? nil : "not global unicast"
    }

    /// A row of a registry.
    struct Row: Sendable {
        package var range: AddressRange
        /// The purpose, as error messages name it, with the RFC that assigned it.
        var purpose: String
        /// Whether the registry lists the range as globally reachable.
        var isReachable = false

        /// Creates an IPv4 row: the four bytes of the prefix, and its length in bits.
        init(
            v4 first: UInt8,
            _ second: UInt8,
            _ third: UInt8,
            _ fourth: UInt8,
            length: Int,
            _ purpose: String
        ) {
            let bytes = [first, second, third, fourth]
            range = AddressRange(.v4, bytes.reduce(0) { $0 << 8 | UInt128($1) }, length)
            self.purpose = purpose
        }

        /// Creates an IPv6 row. `groups` are the first 16-bit groups of the prefix, `last` is its last group,
        /// the groups between them are zero, and `length` is in bits.
        init(v6 groups: [UInt16], last: UInt16 = 0, length: Int, _ purpose: String) {
            var number = groups.reduce(UInt128(0)) { $0 << 16 | UInt128($1) }
            number <<= UInt128(16 * (8 - groups.count))
            range = AddressRange(.v6, number | UInt128(last), length)
            self.purpose = purpose
        }

        /// The same row, marked as globally reachable.
        var reachable: Row {
            var row = self
            row.isReachable = true
            return row
        }
    }

    /// The range for global unicast (RFC 4291, section 2.4). No other IPv6 range is allocated for use between
    /// networks.
    private static let globalUnicast = AddressRange(.v6, 0x2000 << 112, 3)

    /// The IPv4 registry. The first row that contains an address decides, so an exception precedes the range
    /// around it.
    static let v4: [Row] = [
        Row(v4: 0, 0, 0, 0, length: 8, "this network (RFC 791)"),
        Row(v4: 10, 0, 0, 0, length: 8, "private (RFC 1918)"),
        Row(v4: 100, 64, 0, 0, length: 10, "shared address space of carrier-grade NAT (RFC 6598)"),
        Row(v4: 127, 0, 0, 0, length: 8, "loopback (RFC 1122)"),
        Row(v4: 169, 254, 0, 0, length: 16, "link-local (RFC 3927)"),
        Row(v4: 172, 16, 0, 0, length: 12, "private (RFC 1918)"),
        Row(v4: 192, 0, 0, 9, length: 32, "Port Control Protocol anycast (RFC 7723)").reachable,
        Row(v4: 192, 0, 0, 10, length: 32, "TURN anycast (RFC 8155)").reachable,
        Row(v4: 192, 0, 0, 0, length: 24, "protocol assignments (RFC 6890)"),
        Row(v4: 192, 0, 2, 0, length: 24, "documentation (RFC 5737)"),
        // 192.31.196.0/24, 192.52.193.0/24 and 192.175.48.0/24 are in the registry and reachable.
        Row(v4: 192, 88, 99, 0, length: 24, "6to4 relays, deprecated (RFC 7526)"),
        Row(v4: 192, 168, 0, 0, length: 16, "private (RFC 1918)"),
        Row(v4: 198, 18, 0, 0, length: 15, "benchmarking (RFC 2544)"),
        Row(v4: 198, 51, 100, 0, length: 24, "documentation (RFC 5737)"),
        Row(v4: 203, 0, 113, 0, length: 24, "documentation (RFC 5737)"),
        Row(v4: 224, 0, 0, 0, length: 4, "multicast (RFC 5771)"),
        Row(v4: 255, 255, 255, 255, length: 32, "broadcast (RFC 919)"),
        Row(v4: 240, 0, 0, 0, length: 4, "reserved (RFC 1112)"),
    ]

    /// The IPv6 registry, in the same order.
    static let v6: [Row] = [
        Row(v6: [], length: 128, "unspecified (RFC 4291)"),
        Row(v6: [], last: 1, length: 128, "loopback (RFC 4291)"),
        Row(v6: [], length: 96, "IPv4-compatible, deprecated (RFC 4291)"),
        Row(v6: [0, 0, 0, 0, 0, 0xFFFF], length: 96, "IPv4-mapped (RFC 4291)"),
        Row(v6: [0x64, 0xFF9B], length: 96, "IPv4 behind NAT64 (RFC 6052)").reachable,
        Row(v6: [0x64, 0xFF9B, 1], length: 48, "local-use NAT64 (RFC 8215)"),
        Row(v6: [0x100], length: 64, "discard-only (RFC 6666)"),
        Row(v6: [0x100, 0, 0, 1], length: 64, "dummy prefix (RFC 9780)"),
        Row(v6: [0x2001, 1], last: 1, length: 128, "Port Control Protocol anycast (RFC 7723)").reachable,
        Row(v6: [0x2001, 1], last: 2, length: 128, "TURN anycast (RFC 8155)").reachable,
        Row(v6: [0x2001, 1], last: 3, length: 128, "service registration (RFC 9665)").reachable,
        Row(v6: [0x2001], length: 32, "Teredo (RFC 4380)"),
        Row(v6: [0x2001, 2], length: 48, "benchmarking (RFC 5180)"),
        Row(v6: [0x2001, 3], length: 32, "AMT (RFC 7450)").reachable,
        Row(v6: [0x2001, 4, 0x112], length: 48, "AS112 (RFC 7535)").reachable,
        Row(v6: [0x2001, 0x10], length: 28, "ORCHID, deprecated (RFC 4843)"),
        Row(v6: [0x2001, 0x20], length: 28, "ORCHIDv2 (RFC 7343)").reachable,
        Row(v6: [0x2001, 0x30], length: 28, "remote identification of drones (RFC 9374)").reachable,
        Row(v6: [0x2001], length: 23, "protocol assignments (RFC 2928)"),
        Row(v6: [0x2001, 0xDB8], length: 32, "documentation (RFC 3849)"),
        Row(v6: [0x2002], length: 16, "6to4 (RFC 3056)"),
        // 2620:4f:8000::/48 is in the registry and reachable.
        Row(v6: [0x3FFF], length: 20, "documentation (RFC 9637)"),
        Row(v6: [0x5F00], length: 16, "segment routing SIDs (RFC 9602)"),
        Row(v6: [0xFC00], length: 7, "unique-local (RFC 4193)"),
        Row(v6: [0xFE80], length: 10, "link-local (RFC 4291)"),
        Row(v6: [0xFEC0], length: 10, "site-local, deprecated (RFC 3879)"),
        Row(v6: [0xFF00], length: 8, "multicast (RFC 4291)"),
    ]
}
