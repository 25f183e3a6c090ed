package import DirectCore
internal import DirectIO
internal import DirectTestCommands
internal import Synchronization
internal import Testing

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A listening socket on the loopback network, by plain calls of the C library.
package final class Listener: Sendable {
    package let address: IPAddress
    package let port: UInt16
    private let descriptor: Int32

    /// Without `listening`, the port is taken and connecting to it is refused.
    package init(_ address: String = "127.0.0.1", listening: Bool = true) throws {
        let ipAddress = try #require(IPAddress(address))
        self.address = ipAddress
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = try checked("socket") {
            socket(address.contains(":") ? AF_INET6 : AF_INET, kind, 0)
        }
        self.descriptor = descriptor
        _ = try checked("bind") {
            (try? ipAddress.withSocketAddress(port: 0) { bind(descriptor, $0, $1) }) ?? -1
        }
        if listening { _ = try checked("listen") { listen(descriptor, 64) } }
        port = try #require(localEndpoint(of: descriptor)?.port)
    }

    /// A listener at a loopback address that nothing else uses, where the system has several.
    ///
    /// Port numbers come back: a test that dials the port of a server that has ended may reach any listener
    /// at 127.0.0.1.
    package static func atOwnAddress() throws -> Listener {
        #if canImport(Darwin)
        try Listener()
        #else
        try Listener("127.77.0.\(ownAddresses.wrappingAdd(1, ordering: .relaxed).newValue)")
        #endif
    }

    private static let ownAddresses = Atomic<UInt8>(0)

    deinit { close(descriptor) }

    /// Ends the listening: whatever waits for a connection fails.
    package func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The connection that has been made; the kernel made it before it was accepted.
    package func accept() throws -> Peer {
        Peer(descriptor: try checked("accept") { cAccept(descriptor) })
    }
}

/// The other side of a connection: calls that block, but never for ever.
package final class Peer: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        // Bytes that are sent in two calls are to arrive at once, and as two.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    /// The client's address and port.
    package var client: Endpoint? { remoteEndpoint(of: descriptor) }

    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            sent += try bytes.withUnsafeBytes { all in
                try checked("send") {
                    cSend(descriptor, UnsafeRawBufferPointer(rebasing: all[sent...]))
                }
            }
        }
    }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// At most so many bytes, as soon as there are any; none at the end of the stream.
    package func receive(_ most: Int = 65536) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = try checked("recv") { recv(descriptor, &bytes, most, 0) }
        return Array(bytes[..<count])
    }

    package func receive(exactly count: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let more = try receive(min(count - all.count, 65536))
            guard !more.isEmpty else { return all }
            all += more
        }
        return all
    }

    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    #if os(Linux)
    /// Waits until the other side's system has taken everything that was sent (SIOCOUTQ, tcp(7)).
    package func waitUntilDelivered() {
        var count: Int32 = 1
        while ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0, count > 0 { sched_yield() }
    }
    #endif

    #if os(Linux)
    /// From here on the system drops all that comes for it, without an answer (BPF, socket(7)).
    package func vanish() {
        // BPF_RET | BPF_K, of no bytes.
        var drop: UInt64 = 6
        withUnsafeMutablePointer(to: &drop) { instruction in
            var program = (length: UInt16(1), instruction)
            let size = socklen_t(MemoryLayout.size(ofValue: program))
            setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size)
        }
    }
    #endif

    /// Makes a connection to a server.
    package static func connected(to endpoint: Endpoint) throws -> Peer {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let peer = Peer(descriptor: try checked("socket") { socket(AF_INET, kind, 0) })
        _ = try checked("connect") {
            (try? endpoint.withSocketAddress(defaultPort: 0) { connect(peer.descriptor, $0, $1) }) ?? -1
        }
        return peer
    }

    /// Ends the connection with a RST now, although another thread may wait in a call (Linux, tcp_disconnect).
    package func reset() {
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Ends the connection with a RST once the last reference goes.
    package func resetOnClose() {
        var options = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &options, socklen_t(MemoryLayout<linger>.size))
    }
}

/// The descriptors of this process that are connected to the listener; others may have its port elsewhere.
package func descriptors(connectedTo listener: Listener) throws -> [Int32] {
    try descriptors(connectedTo: Endpoint(listener.address, port: listener.port))
}

/// The descriptors of this process that are connected to that end of a connection.
package func descriptors(connectedTo endpoint: Endpoint) throws -> [Int32] {
    try openDescriptors().filter { remoteEndpoint(of: $0) == endpoint }
}

/// Lets sockets of this process that are connected there hold as few bytes to send as the system allows.
package func limitSending(to endpoint: Endpoint) throws {
    for descriptor in try descriptors(connectedTo: endpoint) { setBuffer(of: descriptor, SO_SNDBUF) }
}

/// Lets connections to a listener of this process, if they are made from now on, hold as few received bytes.
package func limitReceiving(at endpoint: Endpoint) throws {
    for descriptor in try openDescriptors() where localEndpoint(of: descriptor) == endpoint {
        setBuffer(of: descriptor, SO_RCVBUF)
    }
}

private func setBuffer(of descriptor: Int32, _ which: Int32) {
    var size: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, which, &size, socklen_t(MemoryLayout<Int32>.size))
}

/// Another descriptor for the same connection, whose number is at least that; `nil` where none may be so
/// high.
package func duplicate(_ descriptor: Int32, atLeast number: Int32) -> Int32? {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, number)
    return copy < 0 ? nil : copy
}

package func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

/// Whether the call left a SIGPIPE behind for this thread, which keeps it from being delivered meanwhile.
package func raisesBrokenPipe(_ call: () -> Void) -> Bool {
    var (pipe, before, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    call()
    sigpending(&pending)
    guard sigismember(&pending, SIGPIPE) == 1 else { return false }
    var taken: Int32 = 0
    sigwait(&pipe, &taken)
    return true
}

package func localEndpoint(of descriptor: Int32) -> Endpoint? {
    endpoint { getsockname(descriptor, $0, $1) }
}

private func remoteEndpoint(of descriptor: Int32) -> Endpoint? {
    endpoint { getpeername(descriptor, $0, $1) }
}

private func endpoint(
    _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
) -> Endpoint? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            ask(address, &length) == 0 ? Endpoint(socketAddress: address) : nil
        }
    }
}

// The C functions under names that the methods above do not hide.
private func cAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }

private func cSend(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
    send(descriptor, bytes.baseAddress, bytes.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
    #endif
}
