#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An open connection of a fixture server: its ``Wire``, its record, and the bytes that were read ahead.
///
/// It belongs to its thread. Everything it reads is entered into the server's ``Recorder``.
final class FixtureConnection {
    let wire: Wire
    let number: Int
    let core: ServerCore
    /// Bytes that were received but not yet consumed.
    private(set) var buffer: [UInt8] = []
    /// Whether the client has announced the end of the connection, behind which it must send no more.
    var isAnnouncedEnd = false
    /// Whether the last head that a script has read requires the connection to be closed.
    var hasBeenAskedToClose = false
    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var hasRecordedHandshake = false

    init(wire: Wire, number: Int, core: ServerCore) {
        self.wire = wire
        self.number = number
        self.core = core
        // Recorded immediately rather than after the handshake, which a script may stall or cut.
        wire.didReceiveHello = { [unowned self] in record($0) }
    }

    deinit {
        chunk.deallocate()
    }

    /// Runs the behaviour to its end and returns how the connection ended.
    func run(_ behaviour: FixtureBehaviour) -> ConnectionEnd {
        do throws(ConnectionEnd) {
            switch behaviour {
            case .http(let handler):
                try handshake()
                return try HTTPConversation(self, handler).run()
            case .bytes(let script):
                return try run(script)
            case .proxy(let proxy): return try ProxySession(connection: self, proxy: proxy).run()
            case .sequence:
                return .serverClosed
            }
        } catch {
            return error
        }
    }

    /// Does the TLS handshake, once, and records its result. Does nothing on a plain connection.
    func handshake() throws(ConnectionEnd) {
        guard !hasRecordedHandshake else { return }
        defer { recordHandshake() }
        try wire.handshake()
    }

    /// Reads at least one byte and appends what has arrived to the buffer.
    func fill() throws(ConnectionEnd) {
        let count = try receive(into: chunk)
        buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
    }

    /// Removes and returns up to `count` bytes from the front of the buffer. Reads only if the buffer is
    /// empty.
    func take(atMost count: Int) throws(ConnectionEnd) -> [UInt8] {
        if buffer.isEmpty { try fill() }
        return drop(min(count, buffer.count))
    }

    /// Removes and returns the first `count` bytes of the buffer.
    func drop(_ count: Int) -> [UInt8] {
        if count == buffer.count {
            defer { buffer = [] }
            return buffer
        }
        let taken = Array(buffer[..<count])
        buffer.removeFirst(count)
        return taken
    }

    /// Sends all bytes, after the handshake.
    func send(_ bytes: [UInt8]) throws(ConnectionEnd) {
        try handshake()
        try wire.send(bytes)
    }

    /// Blocks for this duration.
    ///
    /// - Throws: ``ConnectionEnd/serverStopped`` if the server stops meanwhile.
    func pause(_ duration: Duration) throws(ConnectionEnd) {
        Bell.wait(atMost: duration) { core.isStoppingInsideBell }
        if core.isStopping { throw .serverStopped }
    }

    /// Blocks until the gate opens.
    ///
    /// - Throws: ``ConnectionEnd/serverStopped`` if the server stops meanwhile.
    func wait(for gate: Gate) throws(ConnectionEnd) {
        Bell.wait { gate.isOpenInsideBell || core.isStoppingInsideBell }
        if core.isStopping { throw .serverStopped }
    }

    /// Reads and discards until the connection ends, and returns how it ended.
    func discardUntilEnd() -> ConnectionEnd {
        do throws(ConnectionEnd) {
            while true { _ = try receive(into: chunk) }
        } catch {
            return error
        }
    }

    /// Sends what this end of the connection requires: close_notify, FIN or RST. The caller closes the socket
    /// afterwards.
    func close(after end: ConnectionEnd) {
        let (refusal, count, bytes) = (wire.refusal, wire.socketByteCount, wire.socketBytes)
        core.recorder.update(number) { ($0.socketByteCount, $0.socketBytes) = (count, bytes) }
        switch end {
        case .serverReset, .handlerFailed:
            Sockets.lingerForReset(wire.socket)
        case .nameRefused where refusal == .reset:
            Sockets.lingerForReset(wire.socket)
        case .serverClosed, .clientClosed, .badRequest:
            wire.sendCloseNotify()
            drainBeforeClosing()
        case .nameRefused, .serverCut, .tlsFailed:
            drainBeforeClosing()
        case .clientCut, .clientReset, .clientAlert, .serverStopped:
            break
        }
    }

    /// Reads for a while after sending FIN, as real servers do.
    ///
    /// Closing a socket that has unread bytes sends RST, which may destroy data that the client has not read
    /// yet.
    private func drainBeforeClosing() {
        guard isAnnouncedEnd || Sockets.hasUnread(wire.socket) else { return }
        wire.halfClose()
        let end = monotonicNanoseconds() + Self.lingeringTime
        while monotonicNanoseconds() < end,
            Sockets.waitReadable([wire.socket], atMost: .milliseconds(500))[0],
            case let count = Sockets.receive(wire.socket, bytes: chunk), count > 0
        {
            if isAnnouncedEnd { core.recorder.update(number) { $0.lateByteCount += count } }
        }
    }

    /// Reads at least one byte and enters what was read into the connection's record.
    private func receive(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int {
        try handshake()
        let count = try wire.receive(into: buffer)
        let socketByteCount = wire.socketByteCount
        core.recorder.update(number) { record in
            record.socketByteCount = socketByteCount
            record.receivedCount += count
            record.noteLast(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            let room = ConnectionRecord.receivedLimit - record.received.count
            guard room > 0 else { return }
            record.received.append(contentsOf: buffer[..<min(count, room)])
        }
        return count
    }

    private func record(_ hello: ClientHello) {
        core.recorder.update(number) { $0.hello = hello }
    }

    private func recordHandshake() {
        hasRecordedHandshake = true
        guard wire.speaksTLS else { return }
        let facts = wire.facts
        core.recorder.update(number) { $0.tls = facts }
    }

    /// The longest time to keep reading after FIN, in nanoseconds. No test waits this long for a connection
    /// to close.
    private static let lingeringTime: Int64 = 5_000_000_000
}
