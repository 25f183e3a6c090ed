#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore

/// A UDP socket that exchanges datagrams with one peer.
///
/// The system chooses a random port for it, and drops datagrams from other addresses and ports than the
/// peer's.
package final class DatagramSocket: SystemSocket, @unchecked Sendable {
    /// Creates a socket for this peer. Nothing is sent.
    package static func connected(
        to address: IPAddress,
        port: UInt16,
        on loop: EventLoop
    ) throws(Socket.StartFailure) -> DatagramSocket {
        let socket = try DatagramSocket(address.socketFamily, datagrams, on: loop, sparesReserve: true)
        try socket.startConnecting(to: address, port: port)
        return socket
    }

    /// Sends one datagram. If the system has no room for it, it is lost, as datagrams may be.
    package func send(_ bytes: [UInt8]) throws(SystemError) {
        let (_, code) = bytes.withUnsafeBytes { sendNow($0.baseAddress, count: $0.count) }
        guard code == 0 || meansWouldBlock(code) || code == ENOBUFS else {
            throw SystemError("send", code: code)
        }
    }

    /// Returns a datagram that has arrived, or `nil` if there is none. What is longer than `limit` is cut
    /// off.
    ///
    /// - Throws: A ``SystemError``, for example if the peer's machine has reported that nothing listens at
    ///   the port.
    package func receive(upTo limit: Int) throws(SystemError) -> [UInt8]? {
        input.clear()
        var count = 0
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, used in
            (count, code) = retryingInterrupts { recv(descriptor, buffer.baseAddress, limit, 0) }
            used = max(0, count)
        }
        if count >= 0 {
            // There may be another one, of which the loop does not report anything any more.
            input.signal()
            return bytes
        }
        guard meansWouldBlock(code) else { throw SystemError("recv", code: code) }
        return nil
    }
}
