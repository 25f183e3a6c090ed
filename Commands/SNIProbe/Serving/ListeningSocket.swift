internal import CommandKit
internal import DirectCore
internal import DirectIO

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Opens the socket of `--listen`.
enum ListeningSocket {
    /// Returns the descriptor and the port, which the system chooses if the user gave 0.
    static func open(_ endpoint: Endpoint) throws(UsageError) -> (descriptor: Int32, port: UInt16) {
        let family = endpoint.address.family == .v4 ? AF_INET : AF_INET6
        let descriptor = socket(family, stream, 0)
        var (code, one) = (errno, Int32(1))
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if descriptor >= 0 {
            let bound = try? endpoint.address.withSocketAddress(port: endpoint.port ?? 0) { pointer, length in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 128) == 0 ? 0 : errno
            }
            code = bound ?? EADDRNOTAVAIL
        }
        guard code == 0 else {
            close(descriptor)
            throw UsageError("--listen \(endpoint): \(Words.system(code))", code: ExitCode.unwritable)
        }
        return (descriptor, port(of: descriptor))
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return 0 }
                return Endpoint(socketAddress: address)?.port ?? 0
            }
        }
    }

    /// The name of this machine.
    static var hostName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, 255) == 0 else { return nil }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
    private static let stream = SOCK_STREAM
    #endif
}
