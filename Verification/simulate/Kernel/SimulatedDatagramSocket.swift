internal import CSimulation
internal import DirectCore
internal import Glibc

/// A UDP socket of the client under test.
final class SimulatedDatagramSocket: Watched, @unchecked Sendable {
    let number: Int
    /// The address and port that it is connected to.
    var address: IPAddress?
    var port = 0
    var isOpenForClient = true
    var token: UnsafeMutableRawPointer?
    var isInQueue = false
    /// The error that the client's next call reports: an ICMP message has arrived.
    fileprivate var pendingError: Int32 = 0
    /// The datagrams that have arrived and were not read yet.
    fileprivate var inbox: [[UInt8]] = []
    /// When the client has sent datagrams.
    fileprivate(set) var sent: [UInt64] = []

    init(number: Int) {
        self.number = number
    }

    var readiness: UInt32 {
        var events = Events.writable
        if !inbox.isEmpty { events |= Events.readable }
        if pendingError != 0 { events |= Events.readable | Events.error }
        return events
    }
}

/// Datagrams, which get lost, arrive twice, and overtake each other.
extension Kernel {
    func openDatagramSocket() -> Int32 {
        guard hasDescriptor() else { return -EMFILE }
        datagramSocketCount += 1
        let descriptor = lowestDescriptor()
        datagramSockets[descriptor] = SimulatedDatagramSocket(number: datagramSocketCount)
        return descriptor
    }

    func send(_ datagram: [UInt8], on socket: SimulatedDatagramSocket) -> Int {
        if socket.pendingError != 0 { return takeError(of: socket) }
        note("send datagram", place: socket.number, amount: datagram.count)
        socket.sent.append(now)
        seesDatagram(socket, datagram)
        if socket.sent.count == 1, path.chance(network.shortSends) {
            count("fault: no room for a datagram")
            return -Int(EAGAIN)
        }
        carry { [self] in receiveDatagram(socket, datagram) }
        return datagram.count
    }

    func receive(on socket: SimulatedDatagramSocket, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if socket.pendingError != 0 { return takeError(of: socket) }
        guard !socket.inbox.isEmpty else { return -Int(EAGAIN) }
        // What is longer than the buffer is cut off.
        let datagram = socket.inbox.removeFirst().prefix(buffer.count)
        buffer.copyBytes(from: datagram)
        note("receive datagram", place: socket.number, amount: datagram.count)
        return datagram.count
    }

    /// Sends a datagram as the server.
    func answer(_ datagram: [UInt8], to socket: SimulatedDatagramSocket) {
        carry { [self] in
            guard socket.isOpenForClient else { return }
            socket.inbox.append(datagram)
            report(socket)
        }
    }

    /// Reports that nothing listens at the port.
    func refuse(_ socket: SimulatedDatagramSocket) {
        after(delay: delay()) { [self] in
            guard socket.isOpenForClient else { return }
            socket.pendingError = ECONNREFUSED
            report(socket)
        }
    }

    /// Lets a datagram arrive, at its own time.
    private func carry(_ arrive: @escaping () -> Void) {
        if path.below(1000) < network.resets * 10 {
            count("fault: datagram lost")
            return
        }
        after(delay: delay(), arrive)
        if path.chance(network.shortSends / 2) {
            count("fault: datagram twice")
            after(delay: delay() * 2, arrive)
        }
    }

    private func takeError(of socket: SimulatedDatagramSocket) -> Int {
        defer { socket.pendingError = 0 }
        return -Int(socket.pendingError)
    }
}
