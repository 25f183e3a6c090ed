/// An IPv4 or IPv6 address, with the zone that a link-local IPv6 address needs (`fe80::1%eth0`).
///
/// Text is accepted in the strict form of `inet_pton`: four decimal numbers without leading zeros, or the
/// groups of RFC 4291. `1.2.3`, `01.2.3.4`, `0x7f.1` and ` ::1` are not addresses. A zone (RFC 4007, section
/// 11) is a name or number of up to 15 letters, digits, `-`, `.`, `_` and `~`. It is kept as written and is
/// part of equality, so `fe80::1%2` and `fe80::1%eth0` differ.
///
/// The value has a fixed size and allocates no memory.
public struct IPAddress: Hashable, Sendable {
    /// The address families.
    public enum Family: Hashable, Sendable {
        /// IPv4.
        case v4
        /// IPv6.
        case v6
    }

    /// The family of the address.
    public let family: Family

    /// The address as a big-endian number in two words. An IPv4 address is in the lowest 32 bits.
    package let high: UInt64
    package let low: UInt64

    package let zoneName: ZoneName

    package init(family: Family, high: UInt64, low: UInt64, zoneName: ZoneName = ZoneName()) {
        self.family = family
        self.high = high
        self.low = low
        self.zoneName = zoneName
    }

    /// Parses an address in strict form. Returns `nil` for any other text.
    public init?(_ description: String) {
        guard let address = withUTF8Result(of: description, { bytes in IPAddress(utf8: bytes) }) else {
            return nil
        }
        self = address
    }

    /// Creates an address from its 4 (IPv4) or 16 (IPv6) bytes in network order. Returns `nil` for any other
    /// count.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: family = .v4
        case 16: family = .v6
        default: return nil
        }
        let number = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        high = UInt64(truncatingIfNeeded: number >> 64)
        low = UInt64(truncatingIfNeeded: number)
        zoneName = ZoneName()
    }

    /// The 4 or 16 bytes in network order.
    public var bytes: [UInt8] {
        let number = UInt128(high) << 64 | UInt128(low)
        let count = family == .v4 ? 4 : 16
        return (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt128(8 * (count - 1 - $0))) }
    }

    /// Creates an address from the two words of ``words``.
    package init(_ family: Family, high: UInt64, low: UInt64) {
        self.init(family: family, high: high, low: low)
    }

    /// The address as a big-endian number in two words. An IPv4 address is in the lowest 32 bits.
    package var words: (high: UInt64, low: UInt64) { (high, low) }

    /// The zone as written, without the percent sign, or `nil` if there is none.
    public var zone: String? {
        zoneName.isEmpty ? nil : zoneName.description
    }

    /// The same address without its zone.
    package var withoutZone: IPAddress {
        IPAddress(family: family, high: high, low: low)
    }

    /// Whether this is an IPv4-mapped IPv6 address (`::ffff:203.0.113.7`).
    package var isIPv4Mapped: Bool {
        family == .v6 && high == 0 && low >> 32 == 0xFFFF
    }

    /// The IPv4 address of an IPv4-mapped IPv6 address. Any other address is returned unchanged.
    public var unmapped: IPAddress {
        isIPv4Mapped ? IPAddress(family: .v4, high: 0, low: low & 0xFFFF_FFFF) : self
    }
}

extension IPAddress: Comparable {
    /// Orders IPv4 before IPv6, then by number, then by the zone's bytes.
    public static func < (left: IPAddress, right: IPAddress) -> Bool {
        guard left.family == right.family else { return left.family == .v4 }
        guard left.high == right.high else { return left.high < right.high }
        guard left.low == right.low else { return left.low < right.low }
        return left.zoneName < right.zoneName
    }
}

/// The name of a zone: up to 15 ASCII bytes, stored inline. Every interface name fits (IFNAMSIZ is 16 with
/// its terminating zero).
package struct ZoneName: Hashable, Sendable, Comparable, CustomStringConvertible {
    static let maximumLength = 15

    /// The bytes from the highest down, padded with zeros, so that numeric order is byte order.
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    /// Creates an empty name, which means no zone.
    package init() {}

    /// Creates a name. Returns `nil` if it is empty, too long, or contains anything but RFC 3986 unreserved
    /// characters, the only ones that need no escaping in a URL (RFC 6874).
    package init?(_ name: Span<UInt8>) {
        guard !name.isEmpty, name.count <= Self.maximumLength else { return nil }
        for index in name.indices {
            let byte = name[index]
            guard Self.allows(byte) else { return nil }
            if index < 8 {
                high |= UInt64(byte) << (56 - 8 * UInt64(index))
            } else {
                low |= UInt64(byte) << (120 - 8 * UInt64(index))
            }
        }
    }

    package var isEmpty: Bool { high == 0 }

    package var description: String {
        String(decoding: bytes, as: UTF8.self)
    }

    package var bytes: [UInt8] {
        let number = UInt128(high) << 64 | UInt128(low)
        return (0..<Self.maximumLength)
            .map { UInt8(truncatingIfNeeded: number >> UInt128(120 - 8 * $0)) }
            .filter { $0 != 0 }
    }

    package static func < (left: ZoneName, right: ZoneName) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    private static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }
}
