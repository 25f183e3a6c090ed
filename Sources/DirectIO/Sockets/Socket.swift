#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore
internal import Synchronization

/// A TCP socket, or a Unix domain socket.
package final class Socket: SystemSocket, @unchecked Sendable {
    /// The failure of the connection that the system has reported to another call than
    /// ``receive(into:count:)``; 0 for none.
    private let failure = Atomic<Int32>(0)

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

    private init(_ family: Int32, on loop: EventLoop, sparesReserve: Bool) throws(StartFailure) {
        // On a Unix domain socket a read ends at a message with descriptors (unix(7)), of which no event
        // tells.
        try super.init(
            family,
            Self.stream,
            on: loop,
            sparesReserve: sparesReserve,
            mayStopShort: family == AF_UNIX
        )
        // Disables Nagle's algorithm. A request is written in one piece, so waiting for more would only delay
        // it.
        if family != AF_UNIX { SocketOptions.set(descriptor, level: Int32(IPPROTO_TCP), option: TCP_NODELAY) }
    }

    /// Takes over a connection that was accepted.
    init(accepted descriptor: Int32, on loop: EventLoop) throws(SystemError) {
        super.init(descriptor: descriptor, on: loop)
        #if canImport(Darwin)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        SocketOptions.set(descriptor, level: SOL_SOCKET, option: SO_NOSIGPIPE)
        #endif
        SocketOptions.set(descriptor, level: Int32(IPPROTO_TCP), option: TCP_NODELAY)
        try loop.add(self, descriptor: descriptor)
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
        let socket = try Socket(address.socketFamily, on: loop, sparesReserve: sparesReserve)
        // A socket that is dropped here closes its descriptor.
        try options.apply(to: socket.descriptor, family: address.family)
        try socket.startConnecting(to: address, port: port)
        return socket
    }

    /// Starts a connection attempt at a Unix domain socket, which continues as one at an address does.
    package static func connecting(
        to path: UnixSocketPath,
        on loop: EventLoop,
        sparesReserve: Bool = false
    ) throws(StartFailure) -> Socket {
        let socket = try Socket(AF_UNIX, on: loop, sparesReserve: sparesReserve)
        let code = path.withSocketAddress { pointer, length in
            retryingInterrupts { connect(socket.descriptor, pointer, length) }.code
        }
        try socket.watch(after: code, path: path.path)
        return socket
    }

    /// Throws the error of the connection attempt, if it failed. Call this once there is room for output.
    package func finishConnecting() throws(SystemError) {
        let code = try pendingError()
        guard code == 0 else { throw SystemError("connect", code: code) }
    }

    /// Takes the error of the connection that no call has returned yet; 0 for none.
    private func pendingError() throws(SystemError) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = try checked("getsockopt") { getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) }
        if code != 0 { note(code) }
        return code
    }

    /// The number of bytes that were sent and that the peer's system has not taken yet; 0 if the connection
    /// has failed. No event tells of a change.
    package var countOnTheWay: Int {
        guard (try? pendingError()) == 0 else { return 0 }
        var count: Int32 = 0
        #if canImport(Darwin)
        var length = socklen_t(MemoryLayout<Int32>.size)
        let result = getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &length)
        #else
        let result = ioctl(descriptor, UInt(TIOCOUTQ), &count)
        #endif
        return result == 0 ? Int(count) : 0
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
        if received == 0 { return endOfInput }
        return meansWouldBlock(code) ? .wouldBlock : .failed(code)
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
        if count < 0, meansWouldBlock(code) { return }
        if count < 0 { note(code) }
        input.signal()
    }

    /// Sends as many bytes as there is room for, without waiting. If the peer is gone, SIGPIPE is not raised.
    package func send(_ buffer: UnsafeRawPointer, count: Int) -> Outcome {
        guard output.isReady else { return .wouldBlock }
        output.clear()
        let (sent, code) = sendNow(buffer, count: count)
        if sent == count { output.signal() }
        if sent >= 0 { return .moved(sent) }
        if meansWouldBlock(code) { return .wouldBlock }
        note(code)
        // Another attempt fails immediately, so no task must wait for room.
        output.signal()
        return .failed(code)
    }

    /// Notes the failure of another call than ``receive(into:count:)``: the system does not report it again.
    func note(_ code: Int32) {
        // EPIPE tells nothing of the other direction, and the others nothing of the connection.
        if ![EPIPE, ENOBUFS, ENOMEM].contains(code) { failure.store(code, ordering: .relaxed) }
    }

    /// The meaning of a call that has received nothing.
    ///
    /// The system reports a failure of the connection (a reset, or a peer that is out of reach) to one call
    /// only, and to later ones the end of the stream. After a FIN a reset would have been EPIPE (Linux,
    /// tcp_reset), so this is no end that the peer has announced.
    var endOfInput: Outcome {
        let code = failure.load(ordering: .relaxed)
        return code == 0 ? .endOfStream : .failed(code)
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
}
