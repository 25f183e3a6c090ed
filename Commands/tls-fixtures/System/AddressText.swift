#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension String {
    /// An IPv6 address in the canonical text form (RFC 5952). Any other text is returned unchanged.
    var canonicalAddress: String {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard contains(":"), inet_pton(AF_INET6, self, &bytes) == 1 else { return self }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return self }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The texts by which clients write this host: as it is, in the canonical form, and, if it is an IPv6
    /// address that contains one of IPv4, without dots.
    var addressSpellings: [String] {
        var spellings = [self]
        if canonicalAddress != self { spellings.append(canonicalAddress) }
        var bytes = [UInt8](repeating: 0, count: 16)
        if canonicalAddress.contains("."), inet_pton(AF_INET6, self, &bytes) == 1 {
            let groups = [12, 14].map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
            if let colon = canonicalAddress.lastIndex(of: ":") {
                spellings.append(canonicalAddress[...colon] + groups.joined(separator: ":"))
            }
        }
        return spellings
    }
}
