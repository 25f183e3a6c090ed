/// The requests and replies of one HTTP/1.1 connection, in turn.
///
/// For each request: read the head, record it, call the handler, send its reply, and read the rest of the
/// request's body so that the next request can follow. A script as reply takes the connection over.
struct HTTPConversation {
    private let connection: FixtureConnection
    private let handler: FixtureHandler

    init(_ connection: FixtureConnection, _ handler: @escaping FixtureHandler) {
        self.connection = connection
        self.handler = handler
    }

    /// Serves requests until the connection ends, and returns how it ended.
    func run() throws(ConnectionEnd) -> ConnectionEnd {
        var hasAnswered = false
        do throws(ConnectionEnd) {
            return try converse(noting: &hasAnswered)
        } catch .badRequest(let why) where !hasAnswered {
            try connection.send(ResponseHead.refusal(why))
            throw .badRequest(why)
        }
    }

    /// - Parameter hasAnswered: Whether a part of the response to the last request may have been sent.
    private func converse(noting hasAnswered: inout Bool) throws(ConnectionEnd) -> ConnectionEnd {
        var number = 0
        while true {
            hasAnswered = false
            let head = try readHead()
            let content = try content(of: head)
            if let fault = head.fault { throw .badRequest(fault) }
            let request = FixtureRequest(head, connection, content, number: number)
            let reply = try answer(request)
            hasAnswered = true
            connection.hasBeenAskedToClose = head.endsConnection
            if case .script(let script) = reply.content { return try connection.run(script) }
            if case .tunnel(let bytes, let address) = reply.content {
                let proxy = FixtureProxy([address: address])
                return try ProxySession(connection: connection, proxy: proxy).tunnel(bytes, to: address)
            }
            connection.isAnnouncedEnd = head.asksForClose
            let keeps = try send(reply, to: head, unreadContent: content.awaitsContinue)
            switch reply.ending {
            case .cut: return .serverCut
            case .reset: return .serverReset
            case .keep where keeps, .leaveOpen: try drain(content)
            case .keep, .close, .closeUnannounced: return .serverClosed
            }
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

    /// Records the request and returns a reader for its body.
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
                && head.headers["expect"]?.asciiLowercased == "100-continue"
        )
        return content
    }

    /// Calls the handler. Errors other than ``ConnectionEnd`` become ``ConnectionEnd/handlerFailed(_:)``.
    private func answer(_ request: FixtureRequest) throws(ConnectionEnd) -> FixtureReply {
        do {
            return try handler(request)
        } catch let end as ConnectionEnd {
            throw end
        } catch {
            throw .handlerFailed("\(error)")
        }
    }

    /// Sends head and body. Returns whether the connection can be kept. It cannot if one side has announced
    /// its end (RFC 9112, section 9.6), if the framing is doubtful, if a tunnel would begin, or if the client
    /// was never told to continue, since it may or may not still send its body.
    private func send(
        _ reply: FixtureReply,
        to request: RequestHead,
        unreadContent: Bool
    ) throws(ConnectionEnd) -> Bool {
        if case .raw(let bytes) = reply.content {
            try connection.send(bytes)
            return !unreadContent && !request.endsConnection && !bytes.announcesClose
        }
        var head = ResponseHead(status: reply.status, reason: reply.reason, headers: reply.headers)
        // Behind a success come the bytes of a tunnel (RFC 9110, section 9.3.6), and there is none.
        let opensTunnel = request.method == "CONNECT" && (200..<300).contains(reply.status)
        let carriesContent =
            request.method != "HEAD" && !opensTunnel && reply.status != 204 && reply.status != 304
            && !(100..<200).contains(reply.status)
        let framing = frame(
            reply,
            head: &head,
            carriesContent: carriesContent || request.method == "HEAD",
            knowsChunks: request.version != "HTTP/1.0"
        )
        let isAnnounced = reply.headers.connectionOptions.contains("close")
        let endsConnection = request.endsConnection || unreadContent
        let keeps =
            !endsConnection && !isAnnounced && !opensTunnel && !(framing == .untilClose && carriesContent)
        if !isAnnounced, reply.ending == .close || endsConnection && reply.ending == .keep {
            head.headers.append("Connection", "close")
        } else if request.version == "HTTP/1.0", keeps, reply.ending == .keep {
            head.headers.append("Connection", "keep-alive")
        }
        let writer = BodyWriter(connection, head: head.bytes, chunked: framing == .chunked)
        if carriesContent { try write(reply, to: writer) }
        try writer.flush()
        return keeps
    }

    /// Adds the framing field. Returns `nil` if the handler supplied its own.
    private func frame(
        _ reply: FixtureReply,
        head: inout ResponseHead,
        carriesContent: Bool,
        knowsChunks: Bool
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
        // No transfer coding for a client of HTTP/1.0 (RFC 9112, section 6.1).
        case _ where !knowsChunks: return .untilClose
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
            case .raw, .script, .tunnel: break
            }
            try writer.finish(trailers: reply.trailers)
        } catch let end as ConnectionEnd {
            throw end
        } catch {
            throw .handlerFailed("\(error)")
        }
    }

    /// Reads the part of the body that the handler did not read, so that the next request can follow.
    private func drain(_ content: RequestContent) throws(ConnectionEnd) {
        while try content.next() != nil {}
    }

    private static let headLimit = 1 << 20
}
