import DirectHTTP
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The system's `listen`, whose name a function below has, too.
private func startListening(_ listener: Int32) -> Int32 { listen(listener, 1) }

extension UnixClient {
    /// Lists the containers of a server inside this process, which answers one request.
    static func listLocalServer() async throws {
        let path = "/tmp/direct-http-example-\(getpid()).sock"
        defer { unlink(path) }
        let listener = try listen(at: path)
        DispatchQueue.global().async { answer(on: listener) }
        let names = try await containers(at: UnixSocketPath(path))
        print(names.joined(separator: "\n"))
        precondition(names == ["tea", "cake"])
    }

    private static func listen(at path: String) throws -> Int32 {
        #if canImport(Darwin)
        let listener = socket(AF_UNIX, SOCK_STREAM, 0)
        #else
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, startListening(listener) == 0 else { throw NoSocket(path: path) }
        return listener
    }

    private static func answer(on listener: Int32) {
        let connection = accept(listener, nil, nil)
        var request = [UInt8](repeating: 0, count: 4096)
        _ = read(connection, &request, request.count)
        let body = #"[{"Id":"1","Names":["/tea"]},{"Id":"2","Names":["/cake"]}]"#
        let reply =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        _ = write(connection, reply, reply.utf8.count)
        close(connection)
        close(listener)
    }

    struct NoSocket: Error {
        let path: String
    }
}
