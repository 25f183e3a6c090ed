public import DirectCore

extension PlainDNS {
    /// The network that an answer is to be for, instead of that of the resolver (EDNS client subnet, RFC
    /// 7871).
    ///
    /// Servers that choose addresses by the location of the client use it. Everyone on the path to them can
    /// see it.
    public struct ClientSubnet: Hashable, Sendable {
        /// The address, of which only the first ``prefixLength`` bits are sent.
        public let address: IPAddress
        /// The number of bits that are sent.
        public let prefixLength: Int

        /// Creates a network; `nil` if the length does not fit the address.
        public init?(_ address: IPAddress, prefixLength: Int) {
            guard (0...(address.family == .v4 ? 32 : 128)).contains(prefixLength), address.zone == nil else {
                return nil
            }
            self.address = address
            self.prefixLength = prefixLength
        }

        /// The data of the EDNS option (RFC 7871, section 6): no bits beyond the prefix are sent.
        var optionData: [UInt8] {
            let family: UInt8 = address.family == .v4 ? 1 : 2
            var bytes = Array(address.bytes.prefix((prefixLength + 7) / 8))
            let rest = prefixLength % 8
            if rest > 0, let last = bytes.indices.last { bytes[last] &= 0xFF << UInt8(8 - rest) }
            return [0, family, UInt8(prefixLength), 0] + bytes
        }
    }
}
