#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore

/// A UDP socket that exchanges datagrams with one peer: non-blocking, close-on-exec, registered once with an
/// event loop.
///
/// The system chooses a random port for it, and drops datagrams from other addresses and ports than the
/// peer's. Its owner must close it.
package final class DatagramSocket: LoopHandle, @unchecked Sendable {
    private var descriptor: Int32

    private init(descriptor: Int32, loop: EventLoop) {
        self.descriptor = descriptor
        super.init(loop: loop)
    }

    deinit {
        // Has an effect only if the socket was never added to the loop.
        release()
    }

    /// Creates a socket for this peer. Nothing is sent.
    package static func connected(
        to address: IPAddress,
        port: UInt16,
        on loop: EventLoop
    ) throws(Socket.StartFailure) -> DatagramSocket {
        let socket: DatagramSocket
        do throws(SystemError) {
            let descriptor = try open(address.family == .v4 ? AF_INET : AF_INET6)
            socket = DatagramSocket(descriptor: descriptor, loop: loop)
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
            guard code == 0 else { throw SystemError("connect", code: code) }
            try loop.add(socket, descriptor: socket.descriptor)
        } catch {
            socket.release()
            throw .system(error)
        }
        return socket
    }

    /// Sends one datagram. If the system has no room for it, it is lost, as datagrams may be.
    package func send(_ bytes: [UInt8]) throws(SystemError) {
        let (_, code) = bytes.withUnsafeBytes { all in
            retryingInterrupts {
                sendDatagram(descriptor, buffer: all.baseAddress, count: all.count, flags: Self.sendFlags)
            }
        }
        guard code == 0 || code == EAGAIN || code == EWOULDBLOCK || code == ENOBUFS else {
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
        guard code == EAGAIN || code == EWOULDBLOCK else { throw SystemError("recv", code: code) }
        return nil
    }

    /// Closes the descriptor. The socket must not be used afterwards.
    package func close() {
        guard descriptor >= 0 else { return }
        loop.remove(self, descriptor: descriptor)
        release()
    }

    private func release() {
        guard descriptor >= 0 else { return }
        _ = closeDatagramDescriptor(descriptor)
        descriptor = -1
        DescriptorQueue.shared.noteClosed()
    }

    private static func open(_ family: Int32) throws(SystemError) -> Int32 {
        #if canImport(Darwin)
        let descriptor = try checked("socket") { socket(family, SOCK_DGRAM, 0) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        #else
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = try checked("socket") { socket(family, kind, 0) }
        #endif
        guard !Descriptors.isInReserve(descriptor) else {
            _ = closeDatagramDescriptor(descriptor)
            throw SystemError("socket", code: EMFILE)
        }
        return descriptor
    }

    #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
    #else
    private static let sendFlags = Int32(truncatingIfNeeded: MSG_NOSIGNAL)
    #endif
}

// The C functions, under names that the methods above do not hide.
private func closeDatagramDescriptor(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}

private func sendDatagram(_ descriptor: Int32, buffer: UnsafeRawPointer?, count: Int, flags: Int32) -> Int {
    send(descriptor, buffer, count, flags)
}
