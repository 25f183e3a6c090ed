#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore

/// A socket of the system: non-blocking, close-on-exec, registered once with an event loop.
///
/// It owns the descriptor, and its owner must close it. The loop holds a reference until then.
package class SystemSocket: LoopHandle, @unchecked Sendable {
    /// The number of the socket; negative once it is closed.
    private(set) final var descriptor: Int32

    /// Opens a socket. Nothing is sent.
    ///
    /// - Parameters:
    ///   - kind: ``stream`` or ``datagrams``.
    ///   - sparesReserve: Whether to leave the last descriptors of the process free. If so, this fails with
    ///     `EMFILE` when only those are left.
    init(
        _ family: Int32,
        _ kind: Int32,
        on loop: EventLoop,
        sparesReserve: Bool,
        mayStopShort: Bool = false
    ) throws(Socket.StartFailure) {
        do throws(SystemError) {
            descriptor = try Self.open(family, kind, sparesReserve: sparesReserve)
        } catch {
            throw .system(error)
        }
        super.init(loop: loop, mayStopShort: mayStopShort)
    }

    /// Takes over a connected socket of the system, which is non-blocking and closed in new programs.
    init(descriptor: Int32, on loop: EventLoop) {
        self.descriptor = descriptor
        super.init(loop: loop)
    }

    deinit {
        // Has an effect only if the socket was never added to the loop.
        release()
    }

    private static func open(_ family: Int32, _ kind: Int32, sparesReserve: Bool) throws(SystemError) -> Int32
    {
        #if canImport(Darwin)
        let descriptor = try checked("socket") { socket(family, kind, 0) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        SocketOptions.set(descriptor, level: SOL_SOCKET, option: SO_NOSIGPIPE)
        #else
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = try checked("socket") { socket(family, kind | flags, 0) }
        #endif
        guard !sparesReserve || !Descriptors.isInReserve(descriptor) else {
            // Not noted as closed: the attempt that waits for a descriptor could use this one as little.
            _ = closeDescriptor(descriptor)
            throw SystemError("socket", code: EMFILE)
        }
        return descriptor
    }

    /// Starts to connect, and makes the loop watch the socket.
    final func startConnecting(to address: IPAddress, port: UInt16) throws(Socket.StartFailure) {
        let code: Int32
        do throws(AddressError) {
            code = try address.withSocketAddress(port: port) { pointer, length in
                retryingInterrupts { connect(descriptor, pointer, length) }.code
            }
        } catch {
            throw .address(error)
        }
        try watch(after: code, path: nil)
    }

    /// Makes the loop watch the socket after `connect` has returned this `errno`.
    final func watch(after code: Int32, path: String?) throws(Socket.StartFailure) {
        do throws(SystemError) {
            guard code == 0 || code == EINPROGRESS else {
                throw SystemError("connect", code: code, path: path)
            }
            // Added after connect: epoll would immediately report a hang-up for a new socket.
            try loop.add(self, descriptor: descriptor)
        } catch {
            // The loop releases a handle that it could not watch only when it next has an event.
            release()
            throw .system(error)
        }
    }

    /// The address and port of this side; `nil` if the socket is not connected, or has no address of IP.
    package final var localEndpoint: Endpoint? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length) == 0 ? Endpoint(socketAddress: address) : nil
            }
        }
    }

    /// Sends as many bytes as there is room for. If the peer is gone, SIGPIPE is not raised.
    @inline(__always)
    final func sendNow(_ buffer: UnsafeRawPointer?, count: Int) -> (result: Int, code: Int32) {
        retryingInterrupts { send(descriptor, buffer, count, Self.sendFlags) }
    }

    /// Closes the descriptor. The socket must not be used afterwards.
    package func close() {
        guard descriptor >= 0 else { return }
        loop.remove(self, descriptor: descriptor)
        release()
    }

    /// Closes the descriptor of a socket that the loop does not watch, or no longer.
    private final func release() {
        guard descriptor >= 0 else { return }
        // Not retried: Linux has freed the descriptor even if close was interrupted.
        _ = closeDescriptor(descriptor)
        descriptor = -1
        DescriptorQueue.shared.noteClosed()
    }

    #if canImport(Darwin)
    static let stream = SOCK_STREAM
    static let datagrams = SOCK_DGRAM
    private static let sendFlags: Int32 = 0
    #else
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let datagrams = Int32(SOCK_DGRAM.rawValue)
    private static let sendFlags = Int32(truncatingIfNeeded: MSG_NOSIGNAL)
    #endif
}

extension IPAddress {
    /// The family of sockets that reach it.
    var socketFamily: Int32 { family == .v4 ? AF_INET : AF_INET6 }
}

/// The C function, under a name that no method hides.
func closeDescriptor(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}
