#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore
internal import Synchronization

/// A TCP socket, or a Unix domain socket: non-blocking, close-on-exec, registered once with an event loop.
///
/// Its owner must close it. The loop holds a reference until then.
package final class Socket: LoopHandle, @unchecked Sendable {
    private var descriptor: Int32
    /// Whether sending has found the connection reset.
    private let wasReset = Atomic<Bool>(false)

    /// The result of one attempt to send or receive.
    package enum Outcome {
        /// This many bytes were transferred.
        case moved(Int)
        /// The peer has finished sending (only when receiving).
        case endOfStream
        /// The operation would block.
        case wouldBlock
        /// The system call failed with this `errno`.
        case failed(Int32)
    }

    private init(descriptor: Int32, family: Int32, loop: EventLoop) {
        self.descriptor = descriptor
        // On a Unix domain socket a read ends at a message with descriptors (unix(7)), of which no event
        // tells.
        super.init(loop: loop, mayStopShort: family == AF_UNIX)
    }

    deinit {
        // Has an effect only if the socket was never added to the loop.
        release()
    }

    /// An error that occurred before the connection attempt started.
    package enum StartFailure: Error {
        /// The address has a zone that this machine does not have.
        case address(AddressError)
        /// A system call failed.
        case system(SystemError)
    }

    /// Starts a connection attempt. The socket is connected, or has failed, once it has room for output; then
    /// call ``finishConnecting()``.
    ///
    /// - Parameters:
    ///   - options: The options to set before.
    ///   - sparesReserve: Whether to leave the last descriptors of the process free. If so, the attempt
    ///     fails with `EMFILE` when only those are left.
    package static func connecting(
        to address: IPAddress,
        port: UInt16,
        options: SocketOptions = SocketOptions(),
        on loop: EventLoop,
        sparesReserve: Bool = false
    ) throws(StartFailure) -> Socket {
        let family = address.family == .v4 ? AF_INET : AF_INET6
        let socket = try unconnected(family, on: loop, sparesReserve: sparesReserve)
        // A socket that is dropped here closes its descriptor.
        try options.apply(to: socket.descriptor, family: address.family)
        let code: Int32
        do throws(AddressError) {
            code = try address.withSocketAddress(port: port) { pointer, length in
                retryingInterrupts { connect(socket.descriptor, pointer, length) }.code
            }
        } catch {
            throw .address(error)
        }
        try socket.watch(after: code, path: nil)
        return socket
    }

    /// Starts a connection attempt at a Unix domain socket, which continues as one at an address does.
    package static func connecting(
        to path: UnixSocketPath,
        on loop: EventLoop,
        sparesReserve: Bool = false
    ) throws(StartFailure) -> Socket {
        let socket = try unconnected(AF_UNIX, on: loop, sparesReserve: sparesReserve)
        let code = path.withSocketAddress { pointer, length in
            retryingInterrupts { connect(socket.descriptor, pointer, length) }.code
        }
        try socket.watch(after: code, path: path.path)
        return socket
    }

    private static func unconnected(
        _ family: Int32,
        on loop: EventLoop,
        sparesReserve: Bool
    ) throws(StartFailure) -> Socket {
        do throws(SystemError) {
            let descriptor = try open(family, sparesReserve: sparesReserve)
            return Socket(descriptor: descriptor, family: family, loop: loop)
        } catch {
            throw .system(error)
        }
    }

    /// Makes the loop watch the socket after `connect` has returned this `errno`.
    private func watch(after code: Int32, path: String?) throws(StartFailure) {
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

    /// Throws the error of the connection attempt, if it failed. Call this once there is room for output.
    package func finishConnecting() throws(SystemError) {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = try checked("getsockopt") { getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) }
        guard code == 0 else { throw SystemError("connect", code: code) }
    }

    /// Whether the socket is connected, even if no task has waited for the connection attempt to end.
    package var isConnected: Bool {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        } == 0
    }

    /// The address and port of this side; `nil` if the socket is not connected.
    package var localEndpoint: Endpoint? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return nil }
                // Both kinds of addresses have the port at the same place.
                let port = UnsafeRawPointer(address).loadUnaligned(fromByteOffset: 2, as: UInt16.self)
                return IPAddress(socketAddress: address).map { Endpoint($0, port: UInt16(bigEndian: port)) }
            }
        }
    }

    /// Receives the available bytes without waiting.
    ///
    /// If fewer bytes arrive than were asked for, the socket is empty (epoll(7)), and further calls make no
    /// system call until the loop reports more. Where a read may stop short of what is there
    /// (``mayStopShort``), only a call that would block shows that.
    package func receive(into buffer: UnsafeMutableRawPointer, count: Int) -> Outcome {
        guard input.isReady || isHungUp else { return .wouldBlock }
        input.clear()
        let (received, code) = retryingInterrupts { recv(descriptor, buffer, count, 0) }
        if received == count || received > 0 && mayStopShort { input.signal() }
        if received > 0 { return .moved(received) }
        if received == 0 {
            // The system reports a reset to one call only, and to later ones the end of the stream. After a
            // FIN it would have been EPIPE (Linux, tcp_reset), so this is no end that the peer has announced.
            return wasReset.load(ordering: .relaxed) ? .failed(ECONNRESET) : .endOfStream
        }
        return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
    }

    /// Tests with a system call whether data or a hang-up has arrived that the loop has not yet reported.
    package func noticeUnseenInput() {
        var byte: UInt8 = 0
        let (count, code) = retryingInterrupts {
            recv(
                descriptor,
                &byte,
                1,
                Int32(truncatingIfNeeded: MSG_PEEK) | Int32(truncatingIfNeeded: MSG_DONTWAIT)
            )
        }
        if count >= 0 || (code != EAGAIN && code != EWOULDBLOCK) { input.signal() }
    }

    /// Sends as many bytes as there is room for, without waiting. If the peer is gone, SIGPIPE is not raised.
    package func send(_ buffer: UnsafeRawPointer, count: Int) -> Outcome {
        guard output.isReady else { return .wouldBlock }
        output.clear()
        let (sent, code) = retryingInterrupts {
            sendBytes(descriptor, buffer: buffer, count: count, flags: Self.sendFlags)
        }
        if sent == count { output.signal() }
        if sent >= 0 { return .moved(sent) }
        if code == EAGAIN || code == EWOULDBLOCK { return .wouldBlock }
        if code == ECONNRESET { wasReset.store(true, ordering: .relaxed) }
        // Another attempt fails immediately, so no task must wait for room.
        output.signal()
        return .failed(code)
    }

    /// Shuts down the sending side. Receiving is still possible.
    package func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The number of bytes that must have arrived before the loop reports input (SO_RCVLOWAT). Belongs to the
    /// reading task. The end of the stream and errors are reported in any case.
    ///
    /// Lowering it reports the bytes that are there. Only Linux is known to do all of this with its readiness
    /// queue, so elsewhere it has no effect.
    package var receiveMark: Int {
        get { unsafe mark }
        set {
            unsafe mark = newValue
            #if os(Linux)
            SocketOptions.set(
                descriptor,
                level: SOL_SOCKET,
                option: SO_RCVLOWAT,
                to: Int32(clamping: newValue)
            )
            #endif
        }
    }

    /// One task reads at a time, so no two accesses overlap and Swift need not check for it.
    @exclusivity(unchecked) private var mark = 1

    /// Enables TCP keep-alive probes (RFC 9293, section 3.8.4).
    package func enableKeepAlive() {
        SocketOptions.set(descriptor, level: SOL_SOCKET, option: SO_KEEPALIVE)
    }

    /// Closes the descriptor. The socket must not be used afterwards.
    package func close() {
        guard descriptor >= 0 else { return }
        loop.remove(self, descriptor: descriptor)
        release()
    }

    /// Closes the descriptor of a socket that the loop does not watch, or no longer.
    private func release() {
        guard descriptor >= 0 else { return }
        // Not retried: Linux has freed the descriptor even if close was interrupted.
        _ = closeDescriptor(descriptor)
        descriptor = -1
        DescriptorQueue.shared.noteClosed()
    }

    private static func open(_ family: Int32, sparesReserve: Bool) throws(SystemError) -> Int32 {
        #if canImport(Darwin)
        let descriptor = try checked("socket") { socket(family, SOCK_STREAM, 0) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        SocketOptions.set(descriptor, level: SOL_SOCKET, option: SO_NOSIGPIPE)
        #else
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = try checked("socket") { socket(family, kind, 0) }
        #endif
        guard !sparesReserve || !Descriptors.isInReserve(descriptor) else {
            _ = closeDescriptor(descriptor)
            throw SystemError("socket", code: EMFILE)
        }
        // Disables Nagle's algorithm. A request is written in one piece, so waiting for more would only delay
        // it.
        if family != AF_UNIX { SocketOptions.set(descriptor, level: Int32(IPPROTO_TCP), option: TCP_NODELAY) }
        return descriptor
    }

    #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
    #else
    private static let sendFlags = Int32(truncatingIfNeeded: MSG_NOSIGNAL)
    #endif
}

// The C functions, under names that the methods above do not hide.
private func closeDescriptor(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}

private func sendBytes(
    _ descriptor: Int32,
    buffer: UnsafeRawPointer,
    count: Int,
    flags: Int32
) -> Int {
    send(descriptor, buffer, count, flags)
}
