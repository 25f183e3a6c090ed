#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A proxy (RFC 9110, section 9.3.6) that connects the target of a CONNECT request to an address of its own
/// choice.
///
/// It makes it possible to test a client that has no option for the address to connect to. It listens on
/// loopback and serves connections, each on a thread of its own, until it is released.
final class ConnectProxy: Sendable {
    let port: UInt16
    private let listener: Int32
    private let stopping: Int32

    /// Finds the address to connect to for the target of a request.
    typealias Route = @Sendable (_ target: String) -> (address: String, port: UInt16)?

    /// Starts a proxy that connects every target to this address and port. Returns `nil` if a socket cannot
    /// be created.
    convenience init?(to address: String, port target: UInt16) {
        self.init { _ in (address, target) }
    }

    /// Starts a proxy. Returns `nil` if a socket cannot be created.
    ///
    /// - Parameter route: Finds the address for a target. A target without one is refused.
    init?(route: @escaping Route) {
        guard let listener = Self.listen() else { return nil }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Self.stream, 0, &ends) == 0 else {
            close(listener)
            return nil
        }
        self.listener = listener
        stopping = ends[1]
        port = Self.port(of: listener)
        let stop = StopEnd(ends[0])
        startThread {
            Self.serve(listener, route: route, stop: stop)
            close(listener)
        }
    }

    deinit {
        // The thread sees the end of the socket pair and ends.
        close(stopping)
    }

    /// The end of the socket pair that becomes readable when the proxy is released. The last thread closes
    /// it.
    private final class StopEnd: Sendable {
        let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }
    }

    /// Accepts connections until the proxy is released.
    private static func serve(_ listener: Int32, route: @escaping Route, stop: StopEnd) {
        while wait(for: [listener, stop.descriptor]) == [true, false] {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { continue }
            keepFromChildren(client)
            startThread {
                serveConnection(client, route: route, stop: stop.descriptor)
                close(client)
                withExtendedLifetime(stop) {}
            }
        }
    }

    /// Serves one connection to its end.
    private static func serveConnection(_ client: Int32, route: Route, stop: Int32) {
        guard let target = readTarget(client, stop: stop), let place = route(target),
            let server = connected(to: place.address, port: place.port)
        else { return }
        send(client, bytes: Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))
        relay(client, server: server, stop: stop)
        close(server)
    }

    /// Reads a request head. Returns the target of a CONNECT request, and `nil` for any other.
    private static func readTarget(_ client: Int32, stop: Int32) -> String? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while head.suffix(4) != [13, 10, 13, 10] {
            guard head.count < 8192, wait(for: [client, stop]) == [true, false],
                recv(client, &byte, 1, 0) == 1
            else { return nil }
            head.append(byte)
        }
        let words = String(decoding: head, as: UTF8.self).split(separator: " ", maxSplits: 2)
        return words.count == 3 && words[0] == "CONNECT" ? String(words[1]) : nil
    }

    /// Relays bytes in both directions, and relays the end of each direction.
    private static func relay(_ client: Int32, server: Int32, stop: Int32) {
        var open = [client: true, server: true]
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while open.values.contains(true) {
            let sources = [client, server].filter { open[$0] == true }
            let ready = wait(for: sources + [stop])
            guard ready.last == false else { return }
            for (index, source) in sources.enumerated() where ready[index] {
                let target = source == client ? server : client
                let count = recv(source, &buffer, buffer.count, 0)
                if count > 0 && send(target, bytes: Array(buffer[..<count])) { continue }
                open[source] = false
                guard count == 0 else { return reset(client, server) }
                shutdown(target, Int32(SHUT_WR))
            }
        }
    }

    /// Makes closing these sockets send RST.
    private static func reset(_ sockets: Int32...) {
        for socket in sockets {
            var setting = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &setting, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// Sends all bytes. Returns `false` if the connection is lost.
    @discardableResult
    private static func send(_ socket: Int32, bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                #if canImport(Darwin)
                write(socket, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
                #else
                Self.systemSend(
                    socket,
                    bytes: buffer.baseAddress?.advanced(by: sent),
                    count: buffer.count - sent
                )
                #endif
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Waits until at least one descriptor is readable and returns which are.
    private static func wait(for descriptors: [Int32]) -> [Bool] {
        var list = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&list, nfds_t(list.count), -1) < 0 && errno == EINTR {}
        return list.map { $0.revents != 0 }
    }

    private static func listen() -> Int32? {
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { return nil }
        keepFromChildren(descriptor)
        let bound = withAddress("127.0.0.1", port: 0) { bind(descriptor, $0, $1) }
        guard bound == 0, systemListen(descriptor) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func connected(to address: String, port: UInt16) -> Int32? {
        let descriptor = socket(address.contains(":") ? AF_INET6 : AF_INET, stream, 0)
        guard descriptor >= 0 else { return nil }
        keepFromChildren(descriptor)
        guard withAddress(address, port: port, body: { connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func withAddress(
        _ text: String,
        port: UInt16,
        body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        if text.contains(":") {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            guard inet_pton(AF_INET6, text, &address.sin6_addr) == 1 else { return -1 }
            return withUnsafeBytes(of: &address) { use($0, body: body) }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, text, &address.sin_addr) == 1 else { return -1 }
        return withUnsafeBytes(of: &address) { use($0, body: body) }
    }

    private static func use(
        _ bytes: UnsafeRawBufferPointer,
        body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        guard let base = bytes.baseAddress else { return -1 }
        return body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func keepFromChildren(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        // Writing to a client that has disconnected must not raise SIGPIPE.
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    private static func systemListen(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        Darwin.listen(descriptor, 16)
        #elseif canImport(Musl)
        Musl.listen(descriptor, 16)
        #else
        Glibc.listen(descriptor, 16)
        #endif
    }

    #if !canImport(Darwin)
    /// Writing to a client that has disconnected must not raise SIGPIPE.
    private static func systemSend(_ socket: Int32, bytes: UnsafeRawPointer?, count: Int) -> Int {
        #if canImport(Musl)
        Musl.send(socket, bytes, count, Int32(MSG_NOSIGNAL))
        #else
        Glibc.send(socket, bytes, count, Int32(MSG_NOSIGNAL))
        #endif
    }
    #endif

    #if canImport(Glibc)
    private static var stream: Int32 { Int32(SOCK_STREAM.rawValue) }
    #else
    private static var stream: Int32 { SOCK_STREAM }
    #endif
}
