#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The path of a Unix domain socket.
///
/// It takes the place of an address: it says where bytes go, and has no part in the name of the server.
public struct UnixSocketPath: Hashable, Sendable, CustomStringConvertible {
    /// The path.
    public let path: String

    /// Checks a path. A relative one is relative to the process's working directory when a connection is
    /// made.
    public init(_ path: String) throws(UnixSocketPathError) {
        guard !path.isEmpty else { throw .empty }
        guard !path.utf8.contains(0) else { throw .containsNUL }
        guard path.utf8.count < Self.capacity else { throw .tooLong(limit: Self.capacity - 1) }
        self.path = path
    }

    /// The path.
    public var description: String { path }

    /// The bytes that the system's structure has room for, with a NUL at the end.
    private static let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// Calls `body` with the path as the `sockaddr` that `connect` takes, which is valid only inside.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        #if canImport(Darwin)
        address.sun_len = UInt8(MemoryLayout<sockaddr_un>.size)
        #endif
        address.sun_family = sa_family_t(AF_UNIX)
        // The rest stays zero, so a NUL follows the path.
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// The reason why a text is not the path of a Unix domain socket.
@nonexhaustive
public enum UnixSocketPathError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path is empty.
    case empty
    /// The path contains a NUL byte.
    case containsNUL
    /// The path has more bytes than the system allows.
    case tooLong(limit: Int)

    /// The fault as text.
    public var description: String {
        switch self {
        case .empty: "the path of a socket is empty"
        case .containsNUL: "the path of a socket contains a NUL byte"
        case .tooLong(let limit): "the path of a socket is longer than \(limit) bytes"
        }
    }
}
