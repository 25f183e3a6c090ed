internal import CSimulation
internal import DirectCore
internal import Glibc

/// The sockets, as the client sees them.
extension Kernel {
    /// Returns the lowest number that nothing has: the system gives it to what is opened next (POSIX.1-2017,
    /// 2.14, "File Descriptor Allocation").
    func lowestDescriptor() -> Int32 {
        var number = sim_first_descriptor() + 2
        while connections[number] != nil || datagramSockets[number] != nil || disk.descriptors[number] != nil
            || listeners[number] != nil
        {
            number += 1
        }
        return number
    }

    /// Notes a call on a number that is not open, or is that of something else by now: two threads may do
    /// this at any moment, so the second could close, or write to, what a third has just opened.
    func misused(_ call: StaticString, _ descriptor: Int32, _ code: Int32 = EBADF) -> Int32 {
        misuses("\(call) on descriptor \(descriptor - sim_first_descriptor()): errno \(code)")
        return -code
    }

    func openSocket() -> Int32 {
        guard hasDescriptor() else { return -EMFILE }
        let number = allConnections.count + 1
        let descriptor = lowestDescriptor()
        let connection = SimulatedConnection(self, descriptor: descriptor, number: number)
        connections[descriptor] = connection
        allConnections.append(connection)
        mostConnections = max(mostConnections, connections.count)
        return descriptor
    }

    /// Whether the system has a descriptor for another socket.
    func hasDescriptor() -> Bool {
        let open = connections.count + datagramSockets.count
        guard path.chance(network.socketFailures) || open >= network.descriptors ?? .max else { return true }
        count("fault: no descriptor")
        note("no descriptor")
        shortages.append(now)
        return false
    }

    func connect(_ descriptor: Int32, to address: IPAddress, port: Int) -> Int32 {
        if let socket = datagramSockets[descriptor] {
            (socket.address, socket.port) = (address, port)
            return 0
        }
        guard let connection = unconnected(descriptor) else { return misused("connect", descriptor) }
        (connection.address, connection.port) = (address, port)
        connection.times.connect = now
        note("connect", place: connection.number, amount: port)
        explain("  connection \(connection.number) is to \(address):\(port)")
        return begin(connection, fate: accept(connection, address, port))
    }

    func connect(_ descriptor: Int32, toSocket path: String) -> Int32 {
        guard let connection = unconnected(descriptor) else { return misused("connect", descriptor) }
        connection.path = path
        connection.times.connect = now
        note("connect to socket", place: connection.number)
        // Where nothing listens, the error comes at once, as the connection does (unix(7)).
        guard case .accepted(let serve) = acceptLocal(connection, path) else {
            return -unkind.one(of: [ECONNREFUSED, ENOENT, EAGAIN, EACCES])
        }
        establish(connection, serve)
        return 0
    }

    private func unconnected(_ descriptor: Int32) -> SimulatedConnection? {
        connections[descriptor].flatMap { $0.address == nil && $0.path == nil ? $0 : nil }
    }

    private func begin(_ connection: SimulatedConnection, fate: Accepting) -> Int32 {
        var (code, time) = (ECONNREFUSED, delay() * 2)
        switch fate {
        case .silent: return -EINPROGRESS
        case .failed:
            if unkind.chance(50) { return -unkind.one(of: Self.errorsAtOnce) }
            (code, time) = unkind.one(of: Self.laterErrors)
        default: break
        }
        after(delay: time) { [self] in
            guard connection.isOpenForClient else { return }
            if case .accepted(let serve) = fate { return establish(connection, serve) }
            connection.isBroken = true
            connection.pendingError = code
            note("refused", place: connection.number, amount: Int(code))
            report(connection)
        }
        return -EINPROGRESS
    }

    private func establish(_ connection: SimulatedConnection, _ serve: (SimulatedConnection) -> Void) {
        (connection.isConnected, connection.isOpenForServer) = (true, true)
        connection.times.connected = now
        note("connected", place: connection.number)
        serve(connection)
        report(connection)
    }

    /// Of a route that is missing, unreachable, prohibited or a blackhole, of a firewall, and of ports that
    /// are all taken. A socket that does not block is never interrupted (EINTR).
    private static let errorsAtOnce = [
        ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, EPERM, EADDRNOTAVAIL, EAGAIN,
    ]

    /// Of ICMP messages (icmp(7)) and of neighbours that do not answer, of SYNs that nobody answers
    /// (tcp_syn_retries), and of a server that resets what it has accepted (tcp_abort_on_overflow).
    private static let laterErrors: [(Int32, UInt64)] = [
        (EHOSTUNREACH, 3_000_000_000), (ENETUNREACH, 20_000_000), (ENOPROTOOPT, 20_000_000),
        (ETIMEDOUT, 127_000_000_000), (ECONNRESET, 20_000_000),
    ]

    func receive(on descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peeks: Bool) -> Int {
        if let socket = datagramSockets[descriptor] { return receive(on: socket, into: buffer) }
        guard let connection = connections[descriptor] else { return Int(misused("recv", descriptor)) }
        if connection.down.available > 0 {
            var most = min(buffer.count, connection.down.available)
            if connection.hasMarks, most > 1 {
                self.count("fault: short read")
                most = (most + 1) / 2
            }
            let bytes = connection.down.take(most, peeks: peeks)
            buffer.copyBytes(from: bytes)
            note(
                "receive",
                place: connection.number,
                amount: bytes.count,
                content: bytes.withUnsafeBytes(Record.hash)
            )
            if peeks { return bytes.count }
            now += UInt64(bytes.count * network.byteCost)
            connection.times.unread = connection.down.available > 0 ? now : nil
            countReceived(bytes.count)
            connection.refill()
            after(delay: delay()) { connection.wakeServer() }
            return bytes.count
        }
        if connection.pendingError != 0 { return -Int(takeError(descriptor, peeks: peeks)) }
        if connection.down.hasEnded || connection.isBroken { return 0 }
        return -Int(EAGAIN)
    }

    func send(on descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        if let socket = datagramSockets[descriptor] { return send([UInt8](bytes), on: socket) }
        guard let connection = connections[descriptor] else { return Int(misused("send", descriptor)) }
        guard !connection.isBroken, !connection.up.isFinished else {
            let code = takeError(descriptor)
            return -Int(code == 0 ? EPIPE : code)
        }
        var taken = min(bytes.count, connection.up.room)
        if taken > 1, path.chance(network.shortSends) {
            count("fault: short send")
            taken = 1 + path.below(taken)
            // Room is reported again, as by a kernel that was short of memory for a moment.
            if taken < bytes.count { after(delay: delay()) { [self] in report(connection) } }
        }
        // Only then does the kernel tell of room (tcp(7); SOCK_NOSPACE in its sources).
        if taken < bytes.count { connection.lacksRoom = true }
        guard taken > 0 else {
            count("fault: full buffer")
            return -Int(EAGAIN)
        }
        let part = UnsafeRawBufferPointer(rebasing: bytes[..<taken])
        note("send", place: connection.number, amount: taken, content: Record.hash(of: part))
        if !connection.isOpenForServer { hasLostRequests = true }
        sees(connection, part)
        transmit([UInt8](part), on: connection, isUp: true)
        return taken
    }

    /// Sets how many bytes must have arrived before the queue reports input. As in Linux the buffer grows
    /// with it, and what is there is reported at once.
    func setOption(_ descriptor: Int32, mark bytes: Int) -> Int32 {
        guard let connection = connections[descriptor] else {
            return datagramSockets[descriptor] == nil ? misused("setsockopt", descriptor) : 0
        }
        if bytes < 0 { connection.resetsOnClose = true }
        guard bytes > 0 else { return 0 }
        note("mark", place: connection.number, amount: bytes)
        if bytes > 1 { count("client: input held back") }
        connection.receiveMark = bytes
        connection.down.capacity = max(connection.down.capacity, 2 * bytes)
        if connection.token != nil, connection.readiness != 0 { report(connection) }
        return 0
    }

    func shutDown(_ descriptor: Int32) -> Int32 {
        if listeners[descriptor] != nil { return 0 }
        guard let connection = connections[descriptor] else { return misused("shutdown", descriptor) }
        guard connection.isConnected else { return -ENOTCONN }
        note("shut down", place: connection.number)
        finish(connection, isUp: true)
        return 0
    }

    func close(_ descriptor: Int32) -> Int32 {
        if let socket = datagramSockets.removeValue(forKey: descriptor) {
            note("close datagram socket", place: socket.number)
            (socket.isOpenForClient, socket.token) = (false, nil)
            return 0
        }
        if let listener = listeners.removeValue(forKey: descriptor) {
            close(listener)
            return 0
        }
        guard let connection = connections.removeValue(forKey: descriptor) else {
            guard disk.descriptors[descriptor] != nil else { return misused("close", descriptor) }
            return Int32(onDisk("close") { $0.close(descriptor) })
        }
        note("close", place: connection.number, amount: connection.down.available)
        closes(connection)
        connection.isOpenForClient = false
        connection.times.closed = now
        connection.wasClosedAfterRelease = isClientReleased
        connection.token = nil
        // Unread bytes make a close a reset (RFC 2525, section 2.17).
        if connection.down.available > 0 || connection.resetsOnClose {
            after(delay: delay()) { connection.reset() }
        } else {
            finish(connection, isUp: true)
        }
        return 0
    }

    /// Returns and clears the error that the next call reports.
    func takeError(_ descriptor: Int32, peeks: Bool = false) -> Int32 {
        if datagramSockets[descriptor] != nil { return 0 }
        guard let connection = connections[descriptor] else { return misused("getsockopt", descriptor) }
        defer { if !peeks { connection.pendingError = 0 } }
        return connection.pendingError
    }

    func isConnected(_ descriptor: Int32) -> Int32 {
        guard let connection = connections[descriptor] else { return misused("getpeername", descriptor) }
        return connection.isConnected ? 0 : -ENOTCONN
    }
}
