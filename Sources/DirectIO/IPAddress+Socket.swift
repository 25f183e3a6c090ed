#if canImport(Darwin)
package import Darwin
#elseif canImport(Musl)
package import Musl
#else
package import Glibc
#endif

extension IPAddress {
    /// Lends the address and port as the `sockaddr` that `connect` and `bind` take.
    ///
    /// The pointer is good inside `body` only. A zone becomes the index of its interface; a zone that no
    /// interface carries is an error, never scope 0, which would leave the choice to the kernel.
    package func withSocketAddress<Result>(
        port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(AddressError) -> Result {
        switch family {
        case .v4:
            var address = sockaddr_in()
            #if canImport(Darwin)
            address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
            #endif
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(truncatingIfNeeded: low).bigEndian
            return lend(&address, body)
        case .v6:
            var address = sockaddr_in6()
            #if canImport(Darwin)
            address.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
            #endif
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = try scopeID()
            withUnsafeMutableBytes(of: &address.sin6_addr) {
                $0.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
                $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return lend(&address, body)
        }
    }

    /// Reads the address out of a `sockaddr` of either family; any other family gives `nil`.
    ///
    /// The caller vouches that the memory behind the pointer is as long as its family says, which is so
    /// for what `getaddrinfo`, `accept`, `getpeername` and `getsockname` return.
    package init?(socketAddress pointer: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(pointer)
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            self.init(family: .v4, high: 0, low: UInt64(UInt32(bigEndian: address.sin_addr.s_addr)))
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = withUnsafeBytes(of: address.sin6_addr) {
                (
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            self.init(family: .v6, high: high, low: low, zoneName: Self.zone(ofScope: address.sin6_scope_id))
        default:
            return nil
        }
    }

    /// As glibc does it: a name first, since an interface may be called `2`; then a number.
    private func scopeID() throws(AddressError) -> UInt32 {
        guard let zone else { return 0 }
        let index = if_nametoindex(zone)
        guard index == 0 else { return index }
        guard let number = UInt32(zone), number > 0 else { throw .unknownZone(zone) }
        return number
    }

    private static func zone(ofScope scope: UInt32) -> ZoneName {
        guard scope != 0 else { return ZoneName() }
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            guard let base = buffer.baseAddress, if_indextoname(scope, base) != nil else {
                return nil as ZoneName?
            }
            let bytes = UnsafeRawBufferPointer(start: base, count: strlen(base))
            return bytes.withMemoryRebound(to: UInt8.self) { ZoneName(Span(_unsafeElements: $0)) }
        }
        // An interface that is gone, or has a name we would not read back, is told by its number.
        return name
            ?? Array(String(scope).utf8).withUnsafeBufferPointer {
                ZoneName(Span(_unsafeElements: $0)) ?? ZoneName()
            }
    }
}

private func lend<Address, Result>(
    _ address: inout Address,
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<Address>.size))
        }
    }
}
