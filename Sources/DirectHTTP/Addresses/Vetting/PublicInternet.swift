internal import DirectIO

/// Which addresses belong to the public internet.
///
/// IANA's registries of special-purpose addresses decide (RFC 6890): what they do not call globally reachable
/// is refused, and so is all of IPv6 that is not allocated for global unicast. An address that carries another
/// one is refused as well if that one is.
struct PublicInternet: Sendable {
    var allowed: [AddressRange] = []
    var denied: [AddressRange] = []
    var translators: [AddressRange] = []

    /// What speaks against the address.
    func objection(to address: IPAddress) -> String? {
        let carried = carriedAddress(of: address)
        for candidate in [address, carried].compactMap({ $0 }) {
            if let range = denied.first(where: { $0.contains(candidate) }) { return "denied, in \(range)" }
        }
        if allowed.contains(where: { $0.contains(address) }) { return nil }
        if let carried {
            if let objection = objection(to: carried) { return "it leads to \(carried): \(objection)" }
            if Self.isMerelyAnEnvelope(address) { return nil }
        }
        return SpecialAddresses.objection(to: address)
    }

    /// An IPv4 address that something on the way unpacks and sends the bytes to.
    private func carriedAddress(of address: IPAddress) -> IPAddress? {
        guard address.family == .v6 else { return nil }
        if Self.isMerelyAnEnvelope(address) || Self.isISATAP(address) { return IPAddress(v4: address.number) }
        guard let translator = translators.first(where: { $0.contains(address) }) else { return nil }
        return Self.unpack(address.number, behind: translator.prefixLength)
    }

    /// Whether only the address inside counts: the system's sockets unpack mapped addresses themselves, and
    /// NAT64's well-known prefix (RFC 6052) is how hosts without IPv4 reach its public part.
    private static func isMerelyAnEnvelope(_ address: IPAddress) -> Bool {
        address.isIPv4Mapped || address.family == .v6 && address.number >> 32 == 0x64_FF9B << 64
    }

    /// RFC 5214, section 6.1: the interface identifier says so, under any prefix.
    private static func isISATAP(_ address: IPAddress) -> Bool {
        (address.number >> 32) & 0xFDFF_FFFF == 0x0000_5EFE
    }

    /// RFC 6052, section 2.2: the address lies right behind the prefix, and skips bits 64 to 71.
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
    /// The number's lowest 32 bits.
    fileprivate init(v4 number: UInt128) {
        self.init(.v4, number & 0xFFFF_FFFF)
    }
}
