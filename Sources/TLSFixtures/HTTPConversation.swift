/// The requests and replies of one HTTP/1.1 connection.
struct HTTPConversation {
    private let connection: FixtureConnection
    private let handler: FixtureHandler

    init(_ connection: FixtureConnection, _ handler: @escaping FixtureHandler) {
        self.connection = connection
        self.handler = handler
    }

    func run() throws(ConnectionEnd) -> ConnectionEnd {
        var number = 0
        while true {
            let head = try readHead()
            let content = try content(of: head)
            let request = FixtureRequest(head, connection, content, number: number)
            let reply = try answer(request)
            if case .script(let script) = reply.content { return try connection.run(script) }
            let keeps = try send(reply, to: head)
            switch reply.ending {
            case .cut: return .serverCut
            case .reset: return .serverReset
            case .close, .closeUnannounced: return .serverClosed
            case .keep: break
            }
            guard keeps, !content.awaitsContinue else { return .serverClosed }
            try drain(content)
            number += 1
        }
    }

    private func readHead() throws(ConnectionEnd) -> RequestHead {
        var searched = 0
        while true {
            if let length = connection.buffer.headLength(searchedTo: searched) {
                return try RequestHead(connection.drop(length))
            }
            guard connection.buffer.count < Self.headLimit else { throw .badRequest("head too long") }
            searched = connection.buffer.count
            try connection.fill()
        }
    }

    /// Enters the request into the records and prepares to read what follows its head.
    private func content(of head: RequestHead) throws(ConnectionEnd) -> RequestContent {
        let framing = try head.framing()
        let record = RequestRecord(
            order: ArrivalOrder.next(),
            connection: connection.number,
            arrivedAt: .now,
            serverName: connection.wire.hello?.serverName,
            head: head.bytes,
            method: head.method,
            target: head.target,
            headers: head.headers
        )
        let index = connection.core.recorder.begin(record)
        let content = RequestContent(
            connection,
            record: index,
            framing: framing,
            awaitsContinue: head.version == "HTTP/1.1"
                && head.headers["expect"]?.lowercased() == "100-continue"
        )
        return content
    }

    private func answer(_ request: FixtureRequest) throws(ConnectionEnd) -> FixtureReply {
        do {
            return try handler(request)
        } catch let end as ConnectionEnd {
            throw end
        } catch {
            throw .handlerFailed("\(error)")
        }
    }

    /// Sends head and content, and says whether the connection can go on.
    private func send(_ reply: FixtureReply, to request: RequestHead) throws(ConnectionEnd) -> Bool {
        if case .raw(let bytes) = reply.content {
            try connection.send(bytes)
            return true
        }
        var head = ResponseHead(status: reply.status, reason: reply.reason, headers: reply.headers)
        let carriesContent =
            request.method != "HEAD" && reply.status != 204 && reply.status != 304
            && !(100..<200).contains(reply.status)
        let framing = frame(reply, &head, carriesContent: carriesContent || request.method == "HEAD")
        let asksForClose = request.asksForClose
        let keeps = !asksForClose && !(framing == .untilClose && carriesContent)
        if reply.ending == .close || (asksForClose && reply.ending == .keep) {
            head.headers.append("Connection", "close")
        } else if request.version == "HTTP/1.0", keeps, reply.ending == .keep {
            head.headers.append("Connection", "keep-alive")
        }
        let writer = BodyWriter(connection, head: head.bytes, chunked: framing == .chunked)
        if carriesContent { try write(reply, to: writer) }
        try writer.flush()
        return keeps
    }

    /// Adds the framing field; the framing is nil where the handler wrote its own.
    private func frame(
        _ reply: FixtureReply,
        _ head: inout ResponseHead,
        carriesContent: Bool
    ) -> FixtureReply.Framing? {
        guard reply.headers["content-length"] == nil, reply.headers["transfer-encoding"] == nil else {
            return nil
        }
        guard carriesContent else { return .length }
        switch (reply.framing, reply.content) {
        case (.length, .bytes(let bytes)):
            head.headers.append("Content-Length", "\(bytes.count)")
        case (.length, .written(let length?, _)):
            head.headers.append("Content-Length", "\(length)")
        case (.untilClose, _):
            return .untilClose
        default:
            head.headers.append("Transfer-Encoding", "chunked")
            if !reply.trailers.fields.isEmpty {
                head.headers.append("Trailer", reply.trailers.fields.map(\.name).joined(separator: ", "))
            }
            return .chunked
        }
        return .length
    }

    private func write(_ reply: FixtureReply, to writer: BodyWriter) throws(ConnectionEnd) {
        do {
            switch reply.content {
            case .bytes(let bytes): try writer.write(bytes, keepsBuffered: true)
            case .written(_, let write): try write(writer)
            case .raw, .script: break
            }
            try writer.finish(trailers: reply.trailers)
        } catch let end as ConnectionEnd {
            throw end
        } catch {
            throw .handlerFailed("\(error)")
        }
    }

    /// Reads what the handler left of the content, so that the next request can follow.
    private func drain(_ content: RequestContent) throws(ConnectionEnd) {
        while try content.next() != nil {}
    }

    private static let headLimit = 1 << 20
}

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

extension [UInt8] {
    /// The length of the head that the array begins with, the empty line included.
    fileprivate func headLength(searchedTo start: Int) -> Int? {
        var index = Swift.max(3, start)
        while index < count {
            // CR LF CR LF: look at the last byte first, it is rarely LF.
            if self[index] == 10, self[index - 1] == 13, self[index - 2] == 10, self[index - 3] == 13 {
                return index + 1
            }
            index += 1
        }
        return nil
    }
}
