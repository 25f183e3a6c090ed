package import DirectCore

#if canImport(Darwin)
package import Darwin
#elseif canImport(Musl)
package import Musl
#else
package import Glibc
#endif

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
