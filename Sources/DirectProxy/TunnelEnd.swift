internal import DirectIO
internal import DirectTransport

/// One end of a tunnel: a plain socket, or a connection with TLS to an upstream proxy below it.
protocol TunnelEnd: AnyObject, Sendable {
    /// The socket whose events tell that there is something to do.
    var socket: Socket { get }
    func read(into target: UnsafeMutableRawBufferPointer) -> Connection.Step
    func write(_ bytes: UnsafeRawBufferPointer) -> Connection.Step
    /// Sends the bytes that layers of TLS hold. A plain socket holds none.
    func flush() -> Connection.Step
    /// Ends the sending. After `wantsRead` or `wantsWrite` it is to be called again, when nothing is held.
    func endSending() -> Connection.Step
    func close()
    /// Closes so that the peer does not take a part for the whole.
    func reset()
}

extension TunnelEnd {
    /// Sends as many bytes as there is room for. Returns their number, and whether the peer takes more.
    func send(_ bytes: UnsafeRawBufferPointer) -> (count: Int, takesMore: Bool) {
        var sent = 0
        while sent < bytes.count {
            switch unsafe write(UnsafeRawBufferPointer(rebasing: bytes[sent...])) {
            case .moved(let count): sent += count
            case .again: continue
            case .wantsRead, .wantsWrite: return (sent, true)
            case .ended, .failed: return (sent, false)
            }
        }
        return (sent, true)
    }
}

extension Socket: TunnelEnd {
    var socket: Socket { self }
    func read(into target: UnsafeMutableRawBufferPointer) -> Connection.Step {
        unsafe step(readingInto: target)
    }
    func write(_ bytes: UnsafeRawBufferPointer) -> Connection.Step { unsafe step(writing: bytes) }
    func flush() -> Connection.Step { .moved(0) }
    func endSending() -> Connection.Step {
        finishSending()
        return .moved(0)
    }
}

extension Connection: TunnelEnd {
    func endSending() -> Step { finishSending() }
    /// Without `close_notify`, whose absence tells of a cut where the reset does not arrive.
    func reset() {
        detach()
        socket.reset()
    }
}
