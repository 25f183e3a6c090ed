package import DirectCore

#if canImport(Darwin)
package import Darwin
#elseif canImport(Musl)
package import Musl
#else
package import Glibc
#endif

extension IPAddress {
    /// Calls `body` with the address and port as the `sockaddr` that `connect` and `bind` take.
    ///
    /// The pointer is valid only inside `body`. A zone is converted to the index of its interface. A zone
    /// without an interface is an error and never becomes scope 0, which would leave the choice of interface
    /// to the kernel.
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
            return lend(&address, body: body)
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
            return lend(&address, body: body)
        }
    }

    /// Reads the address from a `sockaddr`. Returns `nil` if its family is neither IPv4 nor IPv6.
    ///
    /// The memory at the pointer must be as long as the family requires. This holds for the results of
    /// `getaddrinfo`, `accept`, `getpeername` and `getsockname`.
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

    /// Tries the zone as a name first, since an interface may be called `2`, then as a number. glibc does the
    /// same.
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
        // If the interface no longer exists or its name is not a valid zone, the zone is its number.
        return name
            ?? Array(String(scope).utf8).withUnsafeBufferPointer {
                ZoneName(Span(_unsafeElements: $0)) ?? ZoneName()
            }
    }
}

private func lend<Address, Result>(
    _ address: inout Address,
    body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<Address>.size))
        }
    }
}

extension Endpoint {
    /// Calls `body` with the endpoint as a `sockaddr`.
    ///
    /// - Parameter defaultPort: The port to use if the endpoint has none.
    /// - Throws: The error of an invalid literal, or ``AddressError/unknownZone(_:)``.
    package func withSocketAddress<Result>(
        defaultPort: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(AddressError) -> Result {
        if let fault { throw fault }
        return try address.withSocketAddress(port: port ?? defaultPort, body)
    }

    /// Reads the address and port from a `sockaddr` (see ``IPAddress/init(socketAddress:)``).
    package init?(socketAddress pointer: UnsafePointer<sockaddr>) {
        guard let address = IPAddress(socketAddress: pointer) else { return nil }
        // The port is at the same offset in both families.
        let port = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in.self).sin_port
        self.init(address, port: UInt16(bigEndian: port))
    }
}
