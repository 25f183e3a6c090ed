internal import CDirectOpenSSL

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A loopback address with a port as a socket address.
struct LoopbackAddress {
    let text: String
    private var storage = sockaddr_storage()
    private var length: socklen_t

    /// Parses an address.
    ///
    /// - Throws: ``FixtureError/notLoopback(_:)`` unless it is in 127.0.0.0/8 or is ::1.
    init(_ text: String, port: UInt16) throws(FixtureError) {
        self.text = text
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            guard UInt32(bigEndian: four.s_addr) >> 24 == 127 else { throw .notLoopback(text) }
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutableBytes(of: &storage) { bytes in
                let address = bytes.assumingMemoryBound(to: sockaddr_in.self)
                address[0].sin_family = sa_family_t(AF_INET)
                address[0].sin_port = port.bigEndian
                address[0].sin_addr = four
            }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            let bytes = withUnsafeBytes(of: six) { Array($0) }
            guard bytes == [UInt8](repeating: 0, count: 15) + [1] else { throw .notLoopback(text) }
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            withUnsafeMutableBytes(of: &storage) { bytes in
                let address = bytes.assumingMemoryBound(to: sockaddr_in6.self)
                address[0].sin6_family = sa_family_t(AF_INET6)
                address[0].sin6_port = port.bigEndian
                address[0].sin6_addr = six
            }
        } else {
            throw .notAnAddress(text)
        }
    }

    var family: Int32 { Int32(storage.ss_family) }

    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafeBytes(of: storage) { bytes in
            body(bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, length)
        }
    }
}

/// The socket calls that fixtures use. Every descriptor is close-on-exec, and no call raises SIGPIPE.
enum Sockets {
    /// Returns a new TCP socket.
    static func make(family: Int32) throws(FixtureError) -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
        let descriptor = socket(family, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw .systemCallFailed("socket", errno) }
        closeOnExec(descriptor)
        return descriptor
    }

    /// Returns a socket bound to the address. A given port may be shared with a bound socket that does not
    /// listen, as held by a ``SharedPort``. With port 0 the system chooses a port that is not shared.
    static func bound(to text: String, port: UInt16) throws(FixtureError) -> Int32 {
        let address = try LoopbackAddress(text, port: port)
        let descriptor = try make(family: address.family)
        if address.family == AF_INET6 {
            set(descriptor, level: Int32(IPPROTO_IPV6), option: IPV6_V6ONLY, value: 1)
        }
        if port != 0 { set(descriptor, level: SOL_SOCKET, option: SO_REUSEADDR, value: 1) }
        guard address.withSockaddr({ bind(descriptor, $0, $1) }) == 0 else {
            let number = errno
            close(descriptor)
            throw .systemCallFailed("bind \(text) port \(port)", number)
        }
        return descriptor
    }

    static func startListening(_ descriptor: Int32, backlog: Int32) throws(FixtureError) {
        // Its connections, which outlive it, must not keep another server from its port.
        set(descriptor, level: SOL_SOCKET, option: SO_REUSEADDR, value: 1)
        guard listen(descriptor, backlog) == 0 else { throw .systemCallFailed("listen", errno) }
    }

    static func port(of descriptor: Int32) -> UInt16 {
        name(of: descriptor, by: getsockname)?.port ?? 0
    }

    /// Returns the client's address and port, or `nil` if it has already disconnected.
    static func peer(of descriptor: Int32) -> (address: String, port: UInt16)? {
        name(of: descriptor, by: getpeername)
    }

    /// Accepts one connection. Returns `nil` if none is waiting or accept failed.
    static func acceptOne(_ listener: Int32) -> Int32? {
        #if canImport(Glibc)
        let descriptor = fixture_accept(listener, Int32(SOCK_CLOEXEC.rawValue))
        #else
        let descriptor = accept(listener, nil, nil)
        #endif
        guard descriptor >= 0 else { return nil }
        #if !canImport(Glibc)
        closeOnExec(descriptor)
        setBlocking(descriptor, blocks: true)
        #endif
        // Without this, Nagle's algorithm delays the data after the session tickets until a delayed ACK: 40
        // ms each time.
        set(descriptor, level: Int32(IPPROTO_TCP), option: TCP_NODELAY, value: 1)
        return descriptor
    }

    static func setBlocking(_ descriptor: Int32, blocks: Bool) {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK)
    }

    /// Whether the kernel holds unread bytes.
    static func hasUnread(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Makes closing the descriptor send RST instead of FIN.
    static func lingerForReset(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Waits until a descriptor is readable and returns which are.
    ///
    /// - Parameter time: The longest time to wait, or `nil` for no limit.
    static func waitReadable(_ descriptors: [Int32], atMost time: Duration? = nil) -> [Bool] {
        var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = time.map { Int32($0.wholeNanoseconds / 1_000_000) } ?? -1
        let count = poll(&polled, nfds_t(polled.count), milliseconds)
        return polled.map { count > 0 && $0.revents != 0 }
    }

    /// Returns a new pipe.
    static func pipe() throws(FixtureError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
        let result = fixture_pipe(&ends, O_CLOEXEC)
        #else
        let result = Darwin.pipe(&ends)
        #endif
        guard result == 0 else { throw .systemCallFailed("pipe", errno) }
        ends.forEach(closeOnExec)
        return (ends[0], ends[1])
    }

    /// Sends some of the bytes and returns the count, or -1 with errno set.
    static func send(_ descriptor: Int32, bytes: UnsafeRawBufferPointer) -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            #else
            let count = Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
            #endif
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Receives some bytes. Returns the count, 0 at the end, or -1 with errno set.
    static func receive(_ descriptor: Int32, bytes: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = recv(descriptor, bytes.baseAddress, bytes.count, 0)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Returns a socket that is connected to the listener.
    static func connected(to text: String, port: UInt16) throws(FixtureError) -> Int32 {
        let address = try LoopbackAddress(text, port: port)
        let descriptor = try make(family: address.family)
        guard address.withSockaddr({ connect(descriptor, $0, $1) }) == 0 else {
            let number = errno
            close(descriptor)
            throw .systemCallFailed("connect \(text) port \(port)", number)
        }
        return descriptor
    }

    /// Connects to a listener that never accepts until its queue is full. The caller must keep the returned
    /// sockets open.
    static func fillQueue(of text: String, port: UInt16) throws(FixtureError) -> [Int32] {
        let address = try LoopbackAddress(text, port: port)
        var fillers: [Int32] = []
        for _ in 0..<8 {
            let descriptor = try make(family: address.family)
            setBlocking(descriptor, blocks: false)
            fillers.append(descriptor)
            _ = address.withSockaddr { connect(descriptor, $0, $1) }
            var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // On loopback a connection is either established immediately or not at all.
            if poll(&polled, 1, 50) == 0 { return fillers }
        }
        return fillers
    }

    private static func set(_ descriptor: Int32, level: Int32, option: Int32, value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sets close-on-exec and SO_NOSIGPIPE where they cannot be set with the call that made the descriptor.
    private static func closeOnExec(_ descriptor: Int32) {
        #if !canImport(Glibc)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        set(descriptor, level: SOL_SOCKET, option: SO_NOSIGPIPE, value: 1)
        #endif
    }

    /// Returns an address and port from getsockname or getpeername.
    private static func name(
        of descriptor: Int32,
        by call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (address: String, port: UInt16)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            guard call(descriptor, address, &length) == 0 else { return nil }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            let isFour = Int32(address.pointee.sa_family) == AF_INET
            let port: UInt16
            if isFour {
                let four = bytes.assumingMemoryBound(to: sockaddr_in.self)
                inet_ntop(AF_INET, &four[0].sin_addr, &text, socklen_t(text.count))
                port = UInt16(bigEndian: four[0].sin_port)
            } else {
                let six = bytes.assumingMemoryBound(to: sockaddr_in6.self)
                inet_ntop(AF_INET6, &six[0].sin6_addr, &text, socklen_t(text.count))
                port = UInt16(bigEndian: six[0].sin6_port)
            }
            return (text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }, port)
        }
    }
}
