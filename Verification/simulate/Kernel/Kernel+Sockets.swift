internal import CSimulation
internal import DirectCore
internal import Glibc

/// The sockets, as the client sees them.
extension Kernel {
    func openSocket() -> Int32 {
        guard hasDescriptor() else { return -EMFILE }
        let number = allConnections.count + 1
        let descriptor = sim_first_descriptor() + 16 + Int32(number)
        let connection = SimulatedConnection(self, descriptor: descriptor, number: number)
        connections[descriptor] = connection
        allConnections.append(connection)
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
        guard let connection = connections[descriptor] else { return -EBADF }
        connection.address = address
        connection.times.connect = now
        note("connect", place: connection.number, amount: port)
        explain("  connection \(connection.number) is to \(address):\(port)")
        return begin(connection, fate: accept(connection, address, port))
    }

    func connect(_ descriptor: Int32, toSocket path: String) -> Int32 {
        guard let connection = connections[descriptor] else { return -EBADF }
        connection.path = path
        connection.times.connect = now
        note("connect to socket", place: connection.number)
        return begin(connection, fate: acceptLocal(connection, path))
    }

    private func begin(_ connection: SimulatedConnection, fate: Accepting) -> Int32 {
        if case .silent = fate { return -EINPROGRESS }
        after(delay: delay() * 2) { [self] in
            guard connection.isOpenForClient else { return }
            if case .accepted(let serve) = fate {
                (connection.isConnected, connection.isOpenForServer) = (true, true)
                connection.times.connected = now
                note("connected", place: connection.number)
                serve(connection)
            } else {
                connection.isBroken = true
                connection.pendingError = ECONNREFUSED
                note("refused", place: connection.number)
            }
            report(connection)
        }
        return -EINPROGRESS
    }

    func receive(on descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peeks: Bool) -> Int {
        if let socket = datagramSockets[descriptor] { return receive(on: socket, into: buffer) }
        guard let connection = connections[descriptor] else { return -Int(EBADF) }
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
        guard let connection = connections[descriptor] else { return -Int(EBADF) }
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
    func setMark(_ descriptor: Int32, bytes: Int) {
        guard let connection = connections[descriptor] else { return }
        note("mark", place: connection.number, amount: bytes)
        if bytes > 1 { count("client: input held back") }
        connection.receiveMark = bytes
        connection.down.capacity = max(connection.down.capacity, 2 * bytes)
        if connection.token != nil, connection.readiness != 0 { report(connection) }
    }

    func shutDown(_ descriptor: Int32) {
        guard let connection = connections[descriptor] else { return }
        note("shut down", place: connection.number)
        finish(connection, isUp: true)
    }

    func close(_ descriptor: Int32) -> Int32 {
        if let socket = datagramSockets.removeValue(forKey: descriptor) {
            note("close datagram socket", place: socket.number)
            (socket.isOpenForClient, socket.token) = (false, nil)
            return 0
        }
        guard let connection = connections.removeValue(forKey: descriptor) else {
            // Descriptors of the queue and of its alarm are not counted.
            return descriptor < sim_first_descriptor() + 16 ? 0 : -EBADF
        }
        note("close", place: connection.number, amount: connection.down.available)
        closes(connection)
        connection.isOpenForClient = false
        connection.times.closed = now
        connection.wasClosedAfterRelease = isClientReleased
        connection.token = nil
        // Unread bytes make a close a reset (RFC 2525, section 2.17).
        if connection.down.available > 0 {
            after(delay: delay()) { connection.reset() }
        } else {
            finish(connection, isUp: true)
        }
        return 0
    }

    /// Returns and clears the error that the next call reports.
    func takeError(_ descriptor: Int32, peeks: Bool = false) -> Int32 {
        guard let connection = connections[descriptor] else { return EBADF }
        defer { if !peeks { connection.pendingError = 0 } }
        return connection.pendingError
    }

    func isConnected(_ descriptor: Int32) -> Bool { connections[descriptor]?.isConnected == true }
}
