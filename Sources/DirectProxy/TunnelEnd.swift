internal import DirectIO
internal import DirectTransport

/// One end of a tunnel: a plain socket, or a connection with TLS to an upstream proxy below it.
enum TunnelEnd: Sendable {
    case socket(Socket)
    case connection(Connection)

    /// The socket whose events tell that there is something to do.
    var socket: Socket {
        switch self {
        case .socket(let socket): socket
        case .connection(let connection): connection.socket
        }
    }

    func read(into target: UnsafeMutableRawBufferPointer) -> Connection.Step {
        switch self {
        case .socket(let socket): unsafe socket.step(readingInto: target)
        case .connection(let connection): unsafe connection.read(into: target)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Connection.Step {
        switch self {
        case .socket(let socket): unsafe socket.step(writing: bytes)
        case .connection(let connection): unsafe connection.write(bytes)
        }
    }

    /// Sends the bytes that layers of TLS hold. A plain socket holds none.
    func flush() -> Connection.Step {
        switch self {
        case .socket: .moved(0)
        case .connection(let connection): connection.flush()
        }
    }

    /// Ends the sending. After `wantsRead` or `wantsWrite` it is to be called again, when nothing is held.
    func finishSending() -> Connection.Step {
        switch self {
        case .socket(let socket):
            socket.finishSending()
            return .moved(0)
        case .connection(let connection): return connection.finishSending()
        }
    }

    func close() {
        switch self {
        case .socket(let socket): socket.close()
        case .connection(let connection): connection.close()
        }
    }

    /// Closes so that the peer does not take a part for the whole.
    func reset() {
        switch self {
        case .socket(let socket): socket.reset()
        // The proxy sees no more than an end; without `close_notify` of the program's own TLS it is a cut.
        case .connection(let connection): connection.close()
        }
    }
}
