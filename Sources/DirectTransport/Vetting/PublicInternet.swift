internal import DirectCore
internal import DirectIO

/// Decides which addresses belong to the public internet.
///
/// IANA's registries of special-purpose addresses decide (RFC 6890): addresses that they do not call globally
/// reachable are refused, and so are all IPv6 addresses that are not allocated for global unicast. An address
/// that embeds another one is refused as well if the embedded one is.
///
/// `denied` takes precedence over `allowed`, and both over the registries.
struct PublicInternet: Sendable {
    var allowed: [AddressRange] = []
    var denied: [AddressRange] = []
    var translators: [AddressRange] = []

    /// Returns the reason to refuse the address; `nil` if it is allowed.
    func refusalReason(for address: IPAddress) -> String? {
        let carried = carriedAddresses(of: address)
        for candidate in [address] + carried.compactMap(\.address) {
            if let range = denied.first(where: { $0.contains(candidate) }) { return "denied, in \(range)" }
        }
        if allowed.contains(where: { $0.contains(address) }) { return nil }
        for case let (carried, translator) in carried {
            guard let carried else {
                return "it leads to an unknown address, in \(translator.map { "\($0)" } ?? "-")"
            }
            if let reason = refusalReason(for: carried) { return "it leads to \(carried): \(reason)" }
        }
        // Behind a translator only the IPv4 address counts, also if the network's own prefix is not public.
        let isTranslated = carried.contains { $0.translator != nil }
        if isTranslated || Self.isMerelyAnEnvelope(address) { return nil }
        return SpecialAddresses.nonGlobalPurpose(of: address)
    }

    /// Returns the IPv4 addresses that the address embeds: a host or router on the way extracts one and sends
    /// the bytes there. The bits of a translated address may also look like those of ISATAP. The address is
    /// `nil` behind a translator whose prefix has a length that RFC 6052 does not define.
    private func carriedAddresses(
        of address: IPAddress
    ) -> [(address: IPAddress?, translator: AddressRange?)] {
        guard address.family == .v6 else { return [] }
        var all: [(address: IPAddress?, translator: AddressRange?)] = translators.lazy
            .filter { $0.contains(address) }
            .map { (Self.unpack(address.number, behind: $0.prefixLength), $0) }
        if Self.isMerelyAnEnvelope(address) || Self.isISATAP(address) {
            all.append((IPAddress(v4: address.number), nil))
        }
        return all
    }

    /// Whether only the embedded address counts. The system's sockets extract IPv4-mapped addresses
    /// themselves, and NAT64's well-known prefix (RFC 6052) is how hosts without IPv4 reach the public part
    /// of IPv4.
    private static func isMerelyAnEnvelope(_ address: IPAddress) -> Bool {
        address.isIPv4Mapped || address.family == .v6 && address.number >> 32 == 0x64_FF9B << 64
    }

    /// Whether the interface identifier marks an ISATAP address, under any prefix (RFC 5214, section 6.1).
    private static func isISATAP(_ address: IPAddress) -> Bool {
        (address.number >> 32) & 0xFDFF_FFFF == 0x0000_5EFE
    }

    /// Extracts the IPv4 address that follows a prefix of this length and skips bits 64 to 71 (RFC 6052,
    /// section 2.2).
    private static func unpack(_ number: UInt128, behind prefix: Int) -> IPAddress? {
        switch prefix {
        case 96: return IPAddress(v4: number)
        case 64: return IPAddress(v4: number >> 24)
        case 32, 40, 48, 56:
            let upper = UInt64(truncatingIfNeeded: number >> 64)
            let bitsBefore = 64 - prefix
            guard bitsBefore < 32 else { return IPAddress(v4: UInt128(upper)) }
            let bitsAfter = UInt64(32 - bitsBefore)
            let lower = (UInt64(truncatingIfNeeded: number) << 8) >> (64 - bitsAfter)
            return IPAddress(v4: UInt128(upper << bitsAfter | lower))
        default: return nil
        }
    }
}

extension IPAddress {
    /// Creates an IPv4 address from the lowest 32 bits of the number.
    fileprivate init(v4 number: UInt128) {
        self.init(.v4, number & 0xFFFF_FFFF)
    }
}
