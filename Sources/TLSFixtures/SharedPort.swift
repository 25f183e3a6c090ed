#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A port that is free on several addresses, reserved for servers that will listen on it.
///
/// It holds a bound socket for each address, so that no other process can take the port. Servers bind in
/// addition to these sockets, which is possible because both set SO_REUSEADDR and the reserving sockets do
/// not listen.
public final class SharedPort: Sendable {
    /// The port number.
    public let number: UInt16
    private let holders: [Int32]

    /// Reserves a port that is free on all these addresses.
    ///
    /// - Throws: ``FixtureError`` if no such port was found in 50 attempts, or an address is not a loopback
    ///   address.
    public init(on addresses: [String]) throws(FixtureError) {
        guard let first = addresses.first else { throw .badSettings("a shared port needs an address") }
        var lastError = FixtureError.badSettings("no port is free on all of \(addresses)")
        for _ in 0..<50 {
            let probe = try Sockets.bound(to: first, port: 0)
            let number = Sockets.port(of: probe)
            close(probe)
            do throws(FixtureError) {
                holders = try Self.hold(number, on: addresses)
                self.number = number
                return
            } catch .systemCallFailed(let call, EADDRINUSE) {
                lastError = .systemCallFailed(call, EADDRINUSE)
            } catch {
                throw error
            }
        }
        throw lastError
    }

    deinit {
        holders.forEach { _ = close($0) }
    }

    /// Binds a socket to the port on each address.
    private static func hold(_ number: UInt16, on addresses: [String]) throws(FixtureError) -> [Int32] {
        var holders: [Int32] = []
        do throws(FixtureError) {
            for address in addresses { holders.append(try Sockets.bound(to: address, port: number)) }
            return holders
        } catch {
            holders.forEach { _ = close($0) }
            throw error
        }
    }
}
