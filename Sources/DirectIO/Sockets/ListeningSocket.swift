package import DirectCore

#if canImport(Darwin)
internal import Darwin
#else
internal import CDirectLinux
internal import Glibc
#endif

/// A TCP socket that connections are accepted from. Its `input` is signalled when there may be one.
package final class ListeningSocket: SystemSocket, @unchecked Sendable {
    /// Whether the last connection took one of the descriptors that are to stay free.
    private var isShort = false

    /// Listens at an address of this machine. Without a port the system chooses one: see ``localEndpoint``.
    ///
    /// - Throws: The failure of the system call, such as `bind` with `EADDRINUSE`.
    package init(at endpoint: Endpoint, on loop: EventLoop) throws(Socket.StartFailure) {
        let family = endpoint.address.socketFamily
        try super.init(family, Self.stream, on: loop, sparesReserve: false)
        // Connections of an earlier listener that are not forgotten yet keep no new one from the port.
        SocketOptions.set(descriptor, level: SOL_SOCKET, option: SO_REUSEADDR)
        if family == AF_INET6 {
            SocketOptions.set(descriptor, level: Int32(IPPROTO_IPV6), option: IPV6_V6ONLY)
        }
        let code: Int32
        do throws(AddressError) {
            code = try endpoint.withSocketAddress(defaultPort: 0) { address, length in
                retryingInterrupts { bind(descriptor, address, length) }.code
            }
        } catch {
            throw .address(error)
        }
        do throws(SystemError) {
            guard code == 0 else { throw SystemError("bind", code: code) }
            _ = try checked("listen") { listen(descriptor, Self.backlog) }
            try loop.add(self, descriptor: descriptor)
        } catch {
            throw .system(error)
        }
    }

    /// Returns a connection that has been made; `nil` if there is none: wait for input.
    ///
    /// - Throws: If the system has no memory for it, or no descriptor but those that are to stay free. The
    ///   connection stays in the queue. Else the listening has ended.
    package func accept() throws(SystemError) -> Socket? {
        if isShort {
            // The next one would have the number that is free now.
            let next = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            isShort = next < 0 || Descriptors.isInReserve(next)
            if next >= 0 { _ = closeDescriptor(next) }
            guard !isShort else { throw SystemError("accept", code: EMFILE) }
        }
        while true {
            input.clear()
            #if canImport(Darwin)
            let (taken, code) = retryingInterrupts { acceptConnection(descriptor) }
            #else
            let (taken, code) = retryingInterrupts { direct_accept(descriptor) }
            #endif
            guard taken < 0 else {
                // There may be another one, of which the loop does not report anything any more.
                input.signal()
                isShort = Descriptors.isInReserve(taken)
                return try Socket(accepted: taken, on: loop)
            }
            if meansWouldBlock(code) { return nil }
            input.signal()
            // The client has gone meanwhile, or its network has: the next one is asked for (accept(2)).
            guard Self.failures.contains(code) else { continue }
            throw SystemError("accept", code: code)
        }
    }

    /// Frees the port: at once, although a process that is being made may still hold the descriptor.
    package override func close() {
        if descriptor >= 0 { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        super.close()
    }

    private static let backlog: Int32 = 1024
    private static let failures = [EMFILE, ENFILE, ENOBUFS, ENOMEM] + ends
    fileprivate static let ends = [EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP]
}

extension SystemError {
    /// Whether a failure of ``ListeningSocket/accept()`` means that the system has ended the listening, not
    /// that something is short.
    package var endsListening: Bool { ListeningSocket.ends.contains(code) }
}

extension Socket {
    /// Closes the connection so that the peer sees a reset, and does not take what it has for the whole.
    package func reset() {
        var options = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &options, socklen_t(MemoryLayout<linger>.size))
        close()
    }
}

#if canImport(Darwin)
/// The C function, under a name that no method hides.
private func acceptConnection(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }
#endif
