#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A connection at work: its wire, its record, and the bytes read ahead.
final class FixtureConnection {
    let wire: Wire
    let number: Int
    let core: ServerCore
    /// Received and not yet used.
    private(set) var buffer: [UInt8] = []
    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var hasRecordedHandshake = false

    init(wire: Wire, number: Int, core: ServerCore) {
        self.wire = wire
        self.number = number
        self.core = core
        // At once, not after the handshake: a script may stall or cut that.
        wire.didReceiveHello = { [unowned self] in record($0) }
    }

    deinit {
        chunk.deallocate()
    }

    /// Does everything the behaviour asks for, and says how the connection ended.
    func run(_ behaviour: FixtureBehaviour) -> ConnectionEnd {
        do throws(ConnectionEnd) {
            switch behaviour {
            case .http(let handler):
                try handshake()
                return try HTTPConversation(self, handler).run()
            case .bytes(let script):
                return try run(script)
            case .proxy(let proxy): return try ProxyConversation(connection: self, proxy: proxy).run()
            case .sequence:
                return .serverClosed
            }
        } catch {
            return error
        }
    }

    func handshake() throws(ConnectionEnd) {
        guard !hasRecordedHandshake else { return }
        defer { recordHandshake() }
        try wire.handshake()
    }

    /// Reads what has arrived, at least one byte, behind the buffered bytes.
    func fill() throws(ConnectionEnd) {
        let count = try receive(into: chunk)
        buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
    }

    /// The first bytes of the buffer, up to `count`; reads only when it is empty.
    func take(atMost count: Int) throws(ConnectionEnd) -> [UInt8] {
        if buffer.isEmpty { try fill() }
        return drop(min(count, buffer.count))
    }

    /// Removes and returns the first bytes of the buffer.
    func drop(_ count: Int) -> [UInt8] {
        if count == buffer.count {
            defer { buffer = [] }
            return buffer
        }
        let taken = Array(buffer[..<count])
        buffer.removeFirst(count)
        return taken
    }

    func send(_ bytes: [UInt8]) throws(ConnectionEnd) {
        try handshake()
        try wire.send(bytes)
    }

    func pause(_ duration: Duration) throws(ConnectionEnd) {
        Bell.wait(atMost: duration) { core.isStoppingInsideBell }
        if core.isStopping { throw .serverStopped }
    }

    func wait(for gate: Gate) throws(ConnectionEnd) {
        Bell.wait { gate.isOpenInsideBell || core.isStoppingInsideBell }
        if core.isStopping { throw .serverStopped }
    }

    /// Reads and forgets until the client ends the connection.
    func discardUntilEnd() -> ConnectionEnd {
        do throws(ConnectionEnd) {
            while true { _ = try receive(into: chunk) }
        } catch {
            return error
        }
    }

    /// Ends the connection on the wire in the way its end asks for; the socket itself is closed after.
    func close(after end: ConnectionEnd) {
        let (refusal, count) = (wire.refusal, wire.socketByteCount)
        core.recorder.update(number) { $0.socketByteCount = count }
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

    /// Closing a socket with unread bytes sends RST, which may destroy what the client has not read
    /// yet. So FIN goes first, and the rest is read for a while, as real servers do.
    private func drainBeforeClosing() {
        guard Sockets.hasUnread(wire.socket) else { return }
        wire.halfClose()
        let end = monotonicNanoseconds() + Self.lingeringTime
        while monotonicNanoseconds() < end,
            Sockets.waitReadable([wire.socket], atMost: .milliseconds(500))[0],
            Sockets.receive(wire.socket, chunk) > 0
        {}
    }

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

    /// Longer than any test waits for a connection to close, in nanoseconds.
    private static let lingeringTime: Int64 = 5_000_000_000
}
