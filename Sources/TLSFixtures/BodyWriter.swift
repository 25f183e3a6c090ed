/// Writes a reply's content. Only the first piece waits, for the head to go out with it.
public final class BodyWriter {
    private let connection: FixtureConnection
    private let isChunked: Bool
    /// The head, until the first piece takes it along.
    private var pending: [UInt8]

    init(_ connection: FixtureConnection, head: [UInt8], chunked: Bool) {
        self.connection = connection
        isChunked = chunked
        pending = head
    }

    /// Sends a piece at once: one chunk, where the content is chunked; an empty piece sends nothing.
    public func write(_ bytes: [UInt8]) throws {
        try write(bytes, keepsBuffered: false)
    }

    /// Sends a piece of text at once.
    public func write(_ text: String) throws {
        try write(Array(text.utf8))
    }

    /// Blocks the connection's thread for that long, after sending what is ready.
    public func pause(_ duration: Duration) throws {
        try flush()
        if duration > .zero { try connection.pause(duration) }
    }

    /// Blocks until the test opens the gate, after sending what is ready.
    public func wait(for gate: Gate) throws {
        try flush()
        try connection.wait(for: gate)
    }

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

    func finish(trailers: FixtureHeaders) throws(ConnectionEnd) {
        guard isChunked else { return }
        pending += Array("0\r\n".utf8)
        pending += ResponseHead.lines(trailers) + Array("\r\n".utf8)
    }

    func flush() throws(ConnectionEnd) {
        guard !pending.isEmpty else { return }
        let bytes = pending
        pending = []
        try connection.send(bytes)
    }
}
