#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A connected TCP socket: non-blocking, close-on-exec, registered once with a loop.
///
/// The owner closes it; the loop keeps it alive until then.
package final class Socket: LoopHandle, @unchecked Sendable {
    private var descriptor: Int32

    /// What one attempt to move bytes came to.
    package enum Outcome {
        case moved(Int)
        /// The peer has sent its last byte (when receiving).
        case endOfStream
        case wouldBlock
        case failed(Int32)
    }

    private init(descriptor: Int32, loop: EventLoop) {
        self.descriptor = descriptor
        super.init(loop: loop)
    }

    deinit {
        // Only on a path that never reached the loop.
        guard descriptor >= 0 else { return }
        _ = closeDescriptor(descriptor)
        DescriptorQueue.shared.noteClosed()
    }

    /// Why no connection could even be started.
    package enum StartFailure: Error {
        /// The address names a zone that this machine does not have.
        case address(AddressError)
        case system(SystemError)
    }

    /// Starts connecting; the socket is connected, or has failed, when it has room for output.
    ///
    /// The last descriptors of the process are not taken where `sparesReserve` says so: it fails as if there were none.
    package static func connecting(
        to address: IPAddress,
        port: UInt16,
        on loop: EventLoop,
        sparesReserve: Bool = false
    ) throws(StartFailure) -> Socket {
        let socket: Socket
        do throws(SystemError) {
            let descriptor = try open(address.family == .v4 ? AF_INET : AF_INET6, sparesReserve)
            socket = Socket(descriptor: descriptor, loop: loop)
        } catch {
            throw .system(error)
        }
        let code: Int32
        do throws(AddressError) {
            code = try address.withSocketAddress(port: port) { pointer, length in
                retryingInterrupts { connect(socket.descriptor, pointer, length) }.code
            }
        } catch {
            throw .address(error)
        }
        do throws(SystemError) {
            guard code == 0 || code == EINPROGRESS else { throw SystemError("connect", code: code) }
            // After connect: a fresh socket in the queue would report a hang-up at once.
            try loop.add(socket, descriptor: socket.descriptor)
        } catch {
            throw .system(error)
        }
        return socket
    }

    /// What became of connecting, once there was room for output.
    package func finishConnecting() throws(SystemError) {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = try checked("getsockopt") { getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) }
        guard code == 0 else { throw SystemError("connect", code: code) }
    }

    /// Whether there is a peer, also where nobody has waited until there was.
    package var isConnected: Bool {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        } == 0
    }

    /// Receives what is there, without waiting.
    ///
    /// Fewer bytes than asked for prove the socket empty; then the next call costs no system call until
    /// the loop has seen more.
    package func receive(into buffer: UnsafeMutableRawPointer, count: Int) -> Outcome {
        guard input.isReady || isHungUp else { return .wouldBlock }
        input.clear()
        let (received, code) = retryingInterrupts { recv(descriptor, buffer, count, 0) }
        if received == count { input.signal() }
        if received > 0 { return .moved(received) }
        if received == 0 { return .endOfStream }
        return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
    }

    /// Looks whether something has arrived, or the peer has gone, that the loop has not seen yet.
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

    /// Sends as much as fits, without waiting, and without SIGPIPE when the peer is gone.
    package func send(_ buffer: UnsafeRawPointer, count: Int) -> Outcome {
        guard output.isReady else { return .wouldBlock }
        output.clear()
        let (sent, code) = retryingInterrupts { sendBytes(descriptor, buffer, count, Self.sendFlags) }
        if sent == count { output.signal() }
        if sent >= 0 { return .moved(sent) }
        if code == EAGAIN || code == EWOULDBLOCK { return .wouldBlock }
        // It will fail again at once: nobody is to wait for room.
        output.signal()
        return .failed(code)
    }

    /// Says that nothing more will be sent; receiving goes on.
    package func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Lets the system ask an idle peer whether it is still there (RFC 9293, section 3.8.4).
    package func enableKeepAlive() {
        Self.set(descriptor, SOL_SOCKET, SO_KEEPALIVE)
    }

    /// Closes the descriptor. Nothing may use the socket after this.
    package func close() {
        guard descriptor >= 0 else { return }
        loop.remove(self, descriptor: descriptor)
        // Never retried: Linux has freed the descriptor even when close is interrupted.
        _ = closeDescriptor(descriptor)
        descriptor = -1
        DescriptorQueue.shared.noteClosed()
    }

    private static func open(_ family: Int32, _ sparesReserve: Bool) throws(SystemError) -> Int32 {
        #if canImport(Darwin)
        let descriptor = try checked("socket") { socket(family, SOCK_STREAM, 0) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        set(descriptor, SOL_SOCKET, SO_NOSIGPIPE)
        #else
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = try checked("socket") { socket(family, kind, 0) }
        #endif
        guard !sparesReserve || !Descriptors.isInReserve(descriptor) else {
            _ = closeDescriptor(descriptor)
            throw SystemError("socket", code: EMFILE)
        }
        // A request is written in one piece: waiting for more would only delay it.
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
        return descriptor
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) {
        var on: Int32 = 1
        _ = setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
    #else
    private static let sendFlags = Int32(truncatingIfNeeded: MSG_NOSIGNAL)
    #endif
}

// The C functions under names that the methods above do not hide.
private func closeDescriptor(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}

private func sendBytes(
    _ descriptor: Int32,
    _ buffer: UnsafeRawPointer,
    _ count: Int,
    _ flags: Int32
) -> Int {
    send(descriptor, buffer, count, flags)
}
