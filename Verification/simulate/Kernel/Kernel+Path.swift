internal import DirectCore

/// The path between client and servers, and the servers' side.
extension Kernel {
    /// Sends bytes in segments that arrive in order.
    func transmit(_ bytes: [UInt8], on connection: SimulatedConnection, isUp: Bool) {
        connection[isUp].send(bytes.count)
        carries(bytes, connection, isUp)
        var start = 0
        while start < bytes.count {
            let half = (connection[isUp].grown(network.segmentLimit) + 1) / 2
            connection[isUp].segments += 1
            let size = min(bytes.count - start, half + path.below(half))
            let segment = bytes[start..<start + size]
            start += size
            if path.below(1000) < network.resets {
                count("fault: reset")
                after(delay: delay()) { connection.reset() }
            }
            arrive(on: connection, isUp: isUp) { [self] in deliver(segment, to: connection, isUp: isUp) }
        }
    }

    /// Sends the FIN of one direction.
    func finish(_ connection: SimulatedConnection, isUp: Bool) {
        guard !connection[isUp].isFinished else { return }
        connection[isUp].isFinished = true
        arrive(on: connection, isUp: isUp) { [self] in
            connection[isUp].hasEnded = true
            if !isUp { connection.times.ended = now }
            if isUp { connection.wakeServer() } else { report(connection) }
        }
    }

    /// Runs `event` at the other side, after everything that was sent before.
    private func arrive(on connection: SimulatedConnection, isUp: Bool, _ event: @escaping () -> Void) {
        let time = max(connection[isUp].lastArrival + 1, now + delay())
        connection[isUp].lastArrival = time
        events.add(at: time, event)
    }

    private func deliver(_ segment: ArraySlice<UInt8>, to connection: SimulatedConnection, isUp: Bool) {
        guard !connection.isBroken else { return }
        // The other side has closed: it answers with a reset.
        guard isUp ? connection.isOpenForServer || connection.isLingering : connection.isOpenForClient else {
            return after(delay: delay()) { connection.reset() }
        }
        connection[isUp].arrive(segment)
        if !isUp { connection.times.unread = connection.times.unread ?? now }
        if !isUp { return connection.hasInput ? report(connection) : () }
        if connection.isLingering { drop(on: connection) } else { connection.wakeServer() }
    }

    /// Tells the client of room, if it has found none, and a third of its buffer is free.
    private func acknowledge(on connection: SimulatedConnection) {
        after(delay: delay()) { [self] in
            guard connection.isConnected, connection.lacksRoom, connection.hasRoom else { return }
            connection.lacksRoom = false
            report(connection)
        }
    }

    /// Waits, as the server, until bytes or an end have come.
    func waitForBytes(from connection: SimulatedConnection) async {
        while connection.up.available == 0, !connection.up.hasEnded, !connection.isBroken,
            connection.isOpenForServer
        {
            await connection.waitForInput()
        }
    }

    /// Reads as the server. Returns an empty array at the end, `nil` if the connection is broken.
    func serverReads(_ connection: SimulatedConnection) async -> [UInt8]? {
        while true {
            let isReadable = connection.readsBeyondReset && connection.up.available > 0
            if connection.isBroken && !isReadable || !connection.isOpenForServer { return nil }
            if !connection.isStopped, connection.up.available > 0 {
                let bytes = connection.up.take(connection.up.available)
                // The client sees room when the acknowledgement has arrived.
                acknowledge(on: connection)
                return bytes
            }
            if connection.up.hasEnded, !connection.isStopped { return [] }
            await connection.waitForInput()
        }
    }

    /// Writes as the server. Returns false if the connection is broken.
    func serverWrites(_ bytes: [UInt8], to connection: SimulatedConnection) async -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            if connection.isBroken || !connection.isOpenForServer || connection.down.isFinished {
                return false
            }
            let taken = connection.isStopped ? 0 : min(rest.count, connection.down.room)
            guard taken > 0 else {
                await connection.waitForRoom()
                continue
            }
            transmit(Array(rest.prefix(taken)), on: connection, isUp: false)
            rest = rest.dropFirst(taken)
        }
        return true
    }

    /// Closes as the server.
    func serverCloses(_ connection: SimulatedConnection) {
        guard connection.isOpenForServer else { return }
        connection.isOpenForServer = false
        note("server closes", place: connection.number, amount: connection.up.available)
        if connection.up.outstanding > 0 { hasLostRequests = true }
        if plan.lingering > 0, unkind.chance(plan.lingering) {
            count("fault: half-closed by the server")
            connection.isLingering = true
            drop(on: connection)
            finish(connection, isUp: false)
            after(delay: 5_000_000_000) { connection.isLingering = false }
        } else if connection.up.available > 0 {
            after(delay: delay()) { connection.reset() }
        } else {
            finish(connection, isUp: false)
        }
        connection.wakeServer()
    }

    /// Reads what has come to a server that only waits for the end.
    private func drop(on connection: SimulatedConnection) {
        _ = connection.up.take(connection.up.available)
        acknowledge(on: connection)
    }
}
