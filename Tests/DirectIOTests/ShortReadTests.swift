#if canImport(Glibc)
import DirectCore
import DirectTestCommands
import DirectTestPeers
import Glibc
import Testing

@testable import DirectIO

/// Reads that return less than was asked for although there is more: what epoll(7) says of them is not always
/// true.
@Suite("Short reads", .idleLimit)
struct ShortReadTests {
    // Turned by hand, so that it has seen everything before the first read.
    private let loop = EventLoop(isDriven: ())

    @Test("What follows urgent data is read, although a read ends there and no event announces it")
    func urgentData() throws {
        let listener = try Listener()
        let socket = try Socket.connecting(to: listener.address, port: listener.port, on: loop)
        defer { socket.close() }
        let peer = try listener.accept()
        loop.turn()
        try peer.send("hello")
        #expect(send(peer.descriptor, "X", 1, Int32(truncatingIfNeeded: MSG_OOB)) == 1)
        try peer.send("world")
        peer.waitUntilDelivered()
        loop.turn()
        #expect(socket.readAll() == ["hello", "world", "would block"])
    }

    @Test("Without urgent data a short read on TCP is the last one until the loop reports more")
    func noUrgentData() throws {
        let listener = try Listener()
        let socket = try Socket.connecting(to: listener.address, port: listener.port, on: loop)
        defer { socket.close() }
        let peer = try listener.accept()
        loop.turn()
        try peer.send("hello")
        peer.waitUntilDelivered()
        loop.turn()
        // Where the poller does not tell of urgent data, no short read is trusted.
        guard !socket.mayStopShort else { return }
        #expect(socket.readAll() == ["hello", "would block"])
        // The bytes are there, and a system call would find them.
        try peer.send("world")
        peer.waitUntilDelivered()
        #expect(socket.readAll() == ["would block"])
        loop.turn()
        #expect(socket.readAll() == ["world", "would block"])
    }

    @Test("What follows a message with a descriptor is read on a Unix domain socket")
    func messageWithDescriptor() throws {
        let path = try UnixSocketPath("/tmp/direct-http-\(getpid())-\(UInt64.random(in: 0 ... .max))")
        let listener = try checked("socket") { Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
        defer { close(listener) }
        _ = try checked("bind") { path.withSocketAddress { Glibc.bind(listener, $0, $1) } }
        defer { unlink(path.path) }
        _ = try checked("listen") { listen(listener, 1) }
        let socket = try Socket.connecting(to: path, on: loop)
        defer { socket.close() }
        let peer = Peer(descriptor: try checked("accept") { accept(listener, nil, nil) })
        loop.turn()
        try peer.send("hel")
        #expect(peer.send("lo", withDescriptor: 0) == 2)
        try peer.send("world")
        loop.turn()
        #expect(socket.readAll() == ["hello", "world", "would block"])
    }
}

extension Socket {
    /// The results of attempts to receive, up to the first one without bytes.
    fileprivate func readAll() -> [String] {
        var results: [String] = []
        var bytes = [UInt8](repeating: 0, count: 1024)
        while case .moved(let count) = receive(into: &bytes, count: bytes.count) {
            results.append(String(decoding: bytes[..<count], as: UTF8.self))
        }
        return results + ["would block"]
    }
}

extension Peer {
    /// Sends a text and, beside it, a descriptor (SCM_RIGHTS, unix(7)). Returns the number of bytes sent.
    fileprivate func send(_ text: String, withDescriptor other: Int32) -> Int {
        var bytes = Array(text.utf8)
        let header = MemoryLayout<cmsghdr>.stride
        var control = [UInt8](repeating: 0, count: header + 8)
        return bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                // Its last member has no length, so Swift cannot make one of its parts.
                var rights = cmsghdr()
                rights.cmsg_len = header + 4
                rights.cmsg_level = SOL_SOCKET
                rights.cmsg_type = Int32(SCM_RIGHTS)
                control.storeBytes(of: rights, as: cmsghdr.self)
                control.storeBytes(of: other, toByteOffset: header, as: Int32.self)
                var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(descriptor, &message, 0)
                }
            }
        }
    }
}
#endif
