/// Writes the body of a reply piece by piece.
///
/// Each piece is sent immediately. The head is held back until the first piece, so that both leave in one
/// write.
public final class BodyWriter {
    private let connection: FixtureConnection
    private let isChunked: Bool
    /// The head, until it has been sent with the first piece.
    private var pending: [UInt8]

    init(_ connection: FixtureConnection, head: [UInt8], chunked: Bool) {
        self.connection = connection
        isChunked = chunked
        pending = head
    }

    /// Sends a piece immediately, as one chunk if the body is chunked. An empty piece sends nothing.
    ///
    /// - Throws: ``ConnectionEnd`` if the connection is lost or the server stops.
    public func write(_ bytes: [UInt8]) throws {
        try write(bytes, keepsBuffered: false)
    }

    /// Sends a piece of text at once.
    public func write(_ text: String) throws {
        try write(Array(text.utf8))
    }

    /// Sends what is buffered, then blocks the connection's thread for `duration`.
    public func pause(_ duration: Duration) throws {
        try flush()
        if duration > .zero { try connection.pause(duration) }
    }

    /// Sends what is buffered, then blocks the connection's thread until the test opens the gate.
    public func wait(for gate: Gate) throws {
        try flush()
        try connection.wait(for: gate)
    }

    /// Buffers a piece, with its chunk framing if the body is chunked, and sends the buffer unless
    /// `keepsBuffered` is set.
    func write(_ bytes: [UInt8], keepsBuffered: Bool) throws(ConnectionEnd) {
        guard !bytes.isEmpty else { return }
        if isChunked {
            pending += Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        } else if pending.isEmpty {
            return try connection.send(bytes)
        } else {
            pending += bytes
        }
        if !keepsBuffered { try flush() }
    }

    /// Buffers the last chunk and the trailers if the body is chunked. ``flush()`` sends them.
    func finish(trailers: FixtureHeaders) throws(ConnectionEnd) {
        guard isChunked else { return }
        pending += Array("0\r\n".utf8)
        pending += ResponseHead.lines(trailers) + Array("\r\n".utf8)
    }

    /// Sends what is buffered.
    func flush() throws(ConnectionEnd) {
        guard !pending.isEmpty else { return }
        let bytes = pending
        pending = []
        try connection.send(bytes)
    }
}
