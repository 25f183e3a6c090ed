package import DirectCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The addresses of this machine's interfaces.
package enum LocalAddresses {
    /// Whether the address is one of them now. The system says so: a socket can be bound to it.
    package static func contain(_ address: IPAddress) -> Bool {
        let descriptor = socket(address.socketFamily, SystemSocket.datagrams, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return (try? address.withSocketAddress(port: 0) { bind(descriptor, $0, $1) == 0 }) ?? false
    }
}
