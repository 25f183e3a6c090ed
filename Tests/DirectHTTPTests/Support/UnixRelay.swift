import DirectCore
import DirectHTTP
import DirectIO
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
    private let accepted = Locked(0)

    /// The number of connections that were made to the socket.
    var count: Int { accepted.withLock { $0 } }

    init(to server: FixtureServer) throws {
        folder = try TemporaryFolder()
        path = try UnixSocketPath(folder.path + "/socket")
        listener = Self.stream(AF_UNIX)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let listener = listener
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
        }
        try #require(result == 0 && listen(listener, 16) == 0)
        let (socket, count) = (listener, accepted)
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
