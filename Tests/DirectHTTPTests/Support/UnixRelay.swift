import DirectCore
import DirectHTTP
import DirectIO
import DirectTestPeers
import Foundation
import TLSFixtures
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A Unix domain socket whose connections are passed on to a server: bytes go both ways until one side ends.
final class UnixRelay: Sendable {
    let path: UnixSocketPath
    private let folder: TemporaryFolder
    private let listener: Int32
    private let server: FixtureServer
    private let accepted = Locked(0)

    /// The number of connections that were made to the socket.
    var count: Int { accepted.withLock { $0 } }

    /// - Parameter queue: The number of connections beyond the first that may wait to be accepted.
    /// - Parameter isAccepting: Whether connections are accepted before `accept` is called.
    init(to server: FixtureServer, queue: Int32 = 16, isAccepting: Bool = true) throws {
        folder = try TemporaryFolder()
        path = try UnixSocketPath(folder.path + "/socket")
        listener = Self.stream(AF_UNIX)
        self.server = server
        let listener = listener
        let result = Self.withAddress(path) { bind(listener, $0, $1) }
        try #require(result == 0 && listen(listener, queue) == 0)
        if isAccepting { acceptAll() }
    }

    /// Accepts connections from now on.
    func acceptAll() {
        let (socket, count, server) = (listener, accepted, server)
        Thread.detachNewThread {
            while case let client = accept(socket, nil, nil), client >= 0 {
                count.withLock { $0 += 1 }
                Self.join(client, Self.connection(to: server.endpoint))
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Makes a connection to the socket.
    func connection() throws -> Peer {
        let descriptor = Self.stream(AF_UNIX)
        let result = Self.withAddress(path) { connect(descriptor, $0, $1) }
        try #require(result == 0)
        return Peer(descriptor: descriptor)
    }

    private static func withAddress<Value>(
        _ path: UnixSocketPath,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func stream(_ family: Int32) -> Int32 {
        #if canImport(Darwin)
        socket(family, SOCK_STREAM, 0)
        #else
        socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #endif
    }

    private static func connection(to endpoint: Endpoint) -> Int32 {
        let descriptor = stream(AF_INET)
        _ = try? endpoint.withSocketAddress(defaultPort: 0) { connect(descriptor, $0, $1) }
        return descriptor
    }

    /// Copies in both directions. The descriptors are closed when both have ended.
    private static func join(_ one: Int32, _ other: Int32) {
        let running = Locked(2)
        for (source, target) in [(one, other), (other, one)] {
            Thread.detachNewThread {
                var bytes = [UInt8](repeating: 0, count: 65536)
                while case let count = recv(source, &bytes, bytes.count, 0), count > 0 {
                    guard send(target, bytes, count, Int32(truncatingIfNeeded: MSG_NOSIGNAL)) == count else {
                        break
                    }
                }
                shutdown(target, Int32(SHUT_WR))
                guard
                    running.withLock({
                        $0 -= 1; return $0 == 0
                    })
                else { return }
                close(one)
                close(other)
            }
        }
    }
}
