internal import DirectCore
internal import DirectIO

/// IANA's IPv4 and IPv6 Special-Purpose Address Registries, together with multicast and the ranges that were never
/// allocated.
enum SpecialAddresses {
    /// Returns the kind of the address if it is not globally reachable; `nil` if it is.
    static func objection(to address: IPAddress) -> String? {
        let rows = address.family == .v4 ? v4 : v6
        if let row = rows.first(where: { $0.range.contains(address) }) {
            return row.isReachable ? nil : row.purpose
        }
        return address.family == .v4 || globalUnicast.contains(address) ? nil : "not global unicast"
    }

    /// A range of a registry. `purpose` is shown in refusals.
    struct Row: Sendable {
        package var range: AddressRange
        var purpose: String
        var isReachable = false

        package init(
            v4 first: UInt8,
            _ second: UInt8,
            _ third: UInt8,
            _ fourth: UInt8,
            _ length: Int,
            _ what: String
        ) {
            let bytes = [first, second, third, fourth]
            range = AddressRange(.v4, bytes.reduce(0) { $0 << 8 | UInt128($1) }, length)
            purpose = what
        }

        /// Creates an IPv6 row. `groups` are the first 16-bit groups, `last` is the last one, and those between are
        /// zero.
        package init(v6 groups: [UInt16], last: UInt16 = 0, _ length: Int, _ what: String) {
            var number = groups.reduce(UInt128(0)) { $0 << 16 | UInt128($1) }
            number <<= UInt128(16 * (8 - groups.count))
            range = AddressRange(.v6, number | UInt128(last), length)
            purpose = what
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

    /// The first row that contains an address decides: an exception comes before the range that it belongs to.
    static let v4: [Row] = [
        Row(v4: 0, 0, 0, 0, 8, "this network (RFC 791)"),
        Row(v4: 10, 0, 0, 0, 8, "private (RFC 1918)"),
        Row(v4: 100, 64, 0, 0, 10, "shared by a carrier's customers (RFC 6598)"),
        Row(v4: 127, 0, 0, 0, 8, "loopback (RFC 1122)"),
        Row(v4: 169, 254, 0, 0, 16, "link-local (RFC 3927)"),
        Row(v4: 172, 16, 0, 0, 12, "private (RFC 1918)"),
        Row(v4: 192, 0, 0, 9, 32, "port control (RFC 7723)").reachable,
        Row(v4: 192, 0, 0, 10, 32, "relays (RFC 8155)").reachable,
        Row(v4: 192, 0, 0, 0, 24, "protocol assignments (RFC 6890)"),
        Row(v4: 192, 0, 2, 0, 24, "documentation (RFC 5737)"),
        // 192.31.196.0/24, 192.52.193.0/24 and 192.175.48.0/24 are in the registry and reachable.
        Row(v4: 192, 88, 99, 0, 24, "6to4 relays, deprecated (RFC 7526)"),
        Row(v4: 192, 168, 0, 0, 16, "private (RFC 1918)"),
        Row(v4: 198, 18, 0, 0, 15, "benchmarks (RFC 2544)"),
        Row(v4: 198, 51, 100, 0, 24, "documentation (RFC 5737)"),
        Row(v4: 203, 0, 113, 0, 24, "documentation (RFC 5737)"),
        Row(v4: 224, 0, 0, 0, 4, "multicast (RFC 5771)"),
        Row(v4: 255, 255, 255, 255, 32, "broadcast (RFC 919)"),
        Row(v4: 240, 0, 0, 0, 4, "reserved (RFC 1112)"),
    ]

    static let v6: [Row] = [
        Row(v6: [], 128, "unspecified (RFC 4291)"),
        Row(v6: [], last: 1, 128, "loopback (RFC 4291)"),
        Row(v6: [], 96, "IPv4-compatible, deprecated (RFC 4291)"),
        Row(v6: [0, 0, 0, 0, 0, 0xFFFF], 96, "IPv4-mapped (RFC 4291)"),
        Row(v6: [0x64, 0xFF9B], 96, "IPv4 behind NAT64 (RFC 6052)").reachable,
        Row(v6: [0x64, 0xFF9B, 1], 48, "NAT64 of a site (RFC 8215)"),
        Row(v6: [0x100], 64, "discarded (RFC 6666)"),
        Row(v6: [0x100, 0, 0, 1], 64, "dummy (RFC 9780)"),
        Row(v6: [0x2001, 1], last: 1, 128, "port control (RFC 7723)").reachable,
        Row(v6: [0x2001, 1], last: 2, 128, "relays (RFC 8155)").reachable,
        Row(v6: [0x2001, 1], last: 3, 128, "service registration (RFC 9665)").reachable,
        Row(v6: [0x2001], 32, "Teredo (RFC 4380)"),
        Row(v6: [0x2001, 2], 48, "benchmarks (RFC 5180)"),
        Row(v6: [0x2001, 3], 32, "multicast tunnels (RFC 7450)").reachable,
        Row(v6: [0x2001, 4, 0x112], 48, "AS112 (RFC 7535)").reachable,
        Row(v6: [0x2001, 0x10], 28, "ORCHID, deprecated (RFC 4843)"),
        Row(v6: [0x2001, 0x20], 28, "ORCHIDv2 (RFC 7343)").reachable,
        Row(v6: [0x2001, 0x30], 28, "remote identification of drones (RFC 9374)").reachable,
        Row(v6: [0x2001], 23, "protocol assignments (RFC 2928)"),
        Row(v6: [0x2001, 0xDB8], 32, "documentation (RFC 3849)"),
        Row(v6: [0x2002], 16, "6to4 (RFC 3056)"),
        // 2620:4f:8000::/48 is in the registry and reachable.
        Row(v6: [0x3FFF], 20, "documentation (RFC 9637)"),
        Row(v6: [0x5F00], 16, "segment routing (RFC 9602)"),
        Row(v6: [0xFC00], 7, "unique-local (RFC 4193)"),
        Row(v6: [0xFE80], 10, "link-local (RFC 4291)"),
        Row(v6: [0xFEC0], 10, "site-local, deprecated (RFC 3879)"),
        Row(v6: [0xFF00], 8, "multicast (RFC 4291)"),
    ]
}
