internal import CSimulation
internal import DirectCore
internal import Glibc

/// A socket of the program under test that listens.
final class SimulatedListener: Watched {
    let number: Int
    var isOpenForClient = true
    var token: UnsafeMutableRawPointer?
    var isInQueue = false
    /// The connections that are made and not accepted yet.
    fileprivate var waiting: [SimulatedConnection] = []

    init(number: Int) {
        self.number = number
    }

    /// The port that the system has chosen.
    var port: UInt16 { UInt16(40_000 + number) }
    var readiness: UInt32 { waiting.isEmpty ? 0 : Events.readable }
}

/// Connections that others make to the program under test.
extension Kernel {
    func listen(_ descriptor: Int32) -> Int32 {
        guard let socket = connections.removeValue(forKey: descriptor) else {
            return misused("listen", descriptor)
        }
        listeners[descriptor] = SimulatedListener(number: socket.number)
        note("listen", place: socket.number)
        return 0
    }

    func acceptConnection(on descriptor: Int32) -> Int32 {
        guard let listener = listeners[descriptor] else { return misused("accept", descriptor) }
        guard !listener.waiting.isEmpty else { return -EAGAIN }
        guard hasDescriptor() else { return -EMFILE }
        let connection = listener.waiting.removeFirst()
        connection.descriptor = lowestDescriptor()
        connections[connection.descriptor] = connection
        note("accept", place: connection.number)
        return connection.descriptor
    }

    /// Connects to a port of the program under test; `nil` if nothing listens there.
    func connect(toProgramAt port: UInt16) async -> SimulatedConnection? {
        await sleep(microseconds: Int(delay() / 1000))
        guard let listener = listeners.values.first(where: { $0.port == port }) else { return nil }
        let connection = SimulatedConnection(self, descriptor: -1, number: allConnections.count + 1)
        (connection.isConnected, connection.isOpenForServer) = (true, true)
        connection.readsBeyondReset = true
        allConnections.append(connection)
        note("connected from outside", place: connection.number)
        listener.waiting.append(connection)
        report(listener)
        return connection
    }

    /// Closes a listening socket, and resets what was not accepted.
    func close(_ listener: SimulatedListener) {
        note("close listener", place: listener.number)
        (listener.isOpenForClient, listener.token) = (false, nil)
        for connection in listener.waiting {
            connection.isOpenForClient = false
            after(delay: delay()) { connection.reset() }
        }
    }

    /// The number of bytes that were sent and have not arrived (tcp(7), SIOCOUTQ).
    func countOnTheWay(_ descriptor: Int32) -> Int32 {
        guard let connection = connections[descriptor] else { return misused("ioctl", descriptor) }
        return connection.isBroken ? 0 : Int32(connection.up.outstanding - connection.up.available)
    }
}
