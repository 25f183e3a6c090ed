public import DirectCore
internal import DirectIO

/// All addresses that begin with the same bits: `10.0.0.0/8`, `2001:db8::/32`, or a single address,
/// `192.0.2.7`.
///
/// The bits after the prefix have to be zero: `10.1.2.3/8` is ambiguous, so it is refused. Zones are ignored.
/// An IPv6 range never contains an IPv4 address, and vice versa.
public struct AddressRange: Hashable, Sendable {
    package let family: IPAddress.Family
    /// The lowest address as a number.
    package let number: UInt128
    /// The number of low bits that may have any value.
    let freeBits: Int

    /// Parses a range in prefix notation, or a single address.
    ///
    /// - Throws: ``AddressError/notAnAddress(_:)`` if the part before the slash is not an address without a
    ///   zone, ``AddressError/invalidRange(_:)`` if the prefix length is invalid or a bit after the prefix is
    ///   set.
    public init(_ text: String) throws(AddressError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.isEmpty else { throw .empty }
        guard let address = IPAddress(String(first)), address.zone == nil else {
            throw .notAnAddress(String(first))
        }
        let width = address.family == .v4 ? 32 : 128
        var length = width
        if parts.count == 2 {
            guard let given = Self.length(parts[1]), given <= width else { throw .invalidRange(text) }
            length = given
        }
        self.init(address.family, address.number, length)
        guard number == address.number else { throw .invalidRange(text) }
    }

    init(_ family: IPAddress.Family, _ number: UInt128, _ length: Int) {
        self.family = family
        freeBits = (family == .v4 ? 32 : 128) - length
        self.number = (number >> UInt128(freeBits)) << UInt128(freeBits)
    }

    /// Whether the range contains the address.
    public func contains(_ address: IPAddress) -> Bool {
        address.family == family && (address.number ^ number) >> UInt128(freeBits) == 0
    }

    /// The number of leading bits that all addresses have in common.
    var prefixLength: Int { (family == .v4 ? 32 : 128) - freeBits }

    private static func length(_ text: Substring) -> Int? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isDigit }),
            text.utf8.count == 1 || text.utf8.first != UInt8(ascii: "0")
        else { return nil }
        return Int(text)
    }
}

extension AddressRange: CustomStringConvertible {
    /// The range in prefix notation: the lowest address and the length of the prefix.
    public var description: String { "\(IPAddress(family, number))/\(prefixLength)" }
}

extension IPAddress {
    /// The address as one number; an IPv4 address fills the lowest 32 bits.
    package var number: UInt128 { UInt128(words.high) << 64 | UInt128(words.low) }

    /// Creates an address from one number; an IPv4 address is its lowest 32 bits.
    init(_ family: Family, _ number: UInt128) {
        let words = (UInt64(truncatingIfNeeded: number >> 64), UInt64(truncatingIfNeeded: number))
        self.init(family, high: words.0, low: words.1)
    }
}
