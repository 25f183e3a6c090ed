/// What a handler answers.
public struct FixtureReply: Sendable {
    /// What happens to the connection after the reply.
    public enum Ending: Sendable {
        /// It stays open, unless the request or the framing asks for its end.
        case keep
        /// "Connection: close" is sent, then the connection is closed in order.
        case close
        /// The connection is closed in order, but no field says so.
        case closeUnannounced
        /// FIN, without close_notify under TLS.
        case cut
        /// RST.
        case reset
    }

    /// How a content's length is told.
    public enum Framing: Sendable {
        /// Content-Length.
        case length
        /// Transfer-Encoding: chunked.
        case chunked
        /// Neither: the content ends with the connection.
        case untilClose
    }

    enum Content: Sendable {
        case bytes([UInt8])
        case written(length: Int?, @Sendable (BodyWriter) throws -> Void)
        /// Exactly these bytes in place of head and content.
        case raw([UInt8])
        case script(ByteScript)
    }

    /// The status code.
    public var status: Int
    /// The reason phrase; nil sends the usual one.
    public var reason: String?
    /// The fields. A Content-Length or Transfer-Encoding among them replaces ours, right or wrong,
    /// and the content is then sent exactly as written.
    public var headers: FixtureHeaders
    /// How the content is framed.
    public var framing = Framing.length
    /// The fields after a chunked content.
    public var trailers = FixtureHeaders()
    /// What comes after the reply.
    public var ending = Ending.keep
    var content: Content

    init(_ status: Int, _ headers: FixtureHeaders, _ content: Content, _ framing: Framing = .length) {
        self.status = status
        self.headers = headers
        self.content = content
        self.framing = framing
    }

    /// An empty reply.
    public static func status(_ status: Int, _ headers: FixtureHeaders = [:]) -> FixtureReply {
        FixtureReply(status, headers, .bytes([]))
    }

    /// Text.
    public static func text(_ text: String, status: Int = 200, _ headers: FixtureHeaders = [:])
        -> FixtureReply
    {
        var headers = headers
        if headers["content-type"] == nil { headers.append("Content-Type", "text/plain; charset=utf-8") }
        return FixtureReply(status, headers, .bytes(Array(text.utf8)))
    }

    /// Bytes.
    public static func bytes(
        _ bytes: [UInt8],
        status: Int = 200,
        _ headers: FixtureHeaders = [:],
        framing: Framing = .length
    ) -> FixtureReply {
        FixtureReply(status, headers, .bytes(bytes), framing)
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> FixtureReply {
        FixtureReply(status, ["Location": location], .bytes([]))
    }

    /// The request's content sent back, with its Content-Type.
    public static func echo(_ request: FixtureRequest) throws -> FixtureReply {
        let type = request.headers["content-type"] ?? "application/octet-stream"
        return FixtureReply(200, ["Content-Type": type], .bytes(try request.body))
    }

    /// Chunks, each sent at once and as it stands, then the trailers.
    public static func chunked(
        _ chunks: [[UInt8]],
        trailers: FixtureHeaders = [:],
        pause: Duration = .zero
    ) -> FixtureReply {
        var reply = written(framing: .chunked) { writer in
            for chunk in chunks {
                try writer.write(chunk)
                try writer.pause(pause)
            }
        }
        reply.trailers = trailers
        return reply
    }

    /// The bytes one by one with a pause after each.
    public static func drip(
        _ bytes: [UInt8],
        every pause: Duration,
        framing: Framing = .length
    ) -> FixtureReply {
        written(length: bytes.count, framing: framing) { writer in
            for byte in bytes {
                try writer.write([byte])
                try writer.pause(pause)
            }
        }
    }

    /// That many bytes of `FixturePattern`, made while they are sent.
    public static func pattern(
        count: Int,
        framing: Framing = .length,
        chunkSize: Int = 64 << 10
    ) -> FixtureReply {
        written(length: count, framing: framing) { writer in
            var sent = 0
            while sent < count {
                let size = min(chunkSize, count - sent)
                try writer.write(FixturePattern.bytes(at: sent, count: size))
                sent += size
            }
        }
    }

    /// A content the closure writes, on the connection's thread.
    public static func written(
        status: Int = 200,
        _ headers: FixtureHeaders = [:],
        length: Int? = nil,
        framing: Framing = .chunked,
        _ write: @escaping @Sendable (BodyWriter) throws -> Void
    ) -> FixtureReply {
        FixtureReply(status, headers, .written(length: length, write), framing)
    }

    /// Exactly these bytes in place of a response.
    public static func raw(_ bytes: [UInt8], then ending: Ending = .keep) -> FixtureReply {
        var reply = FixtureReply(0, [:], .raw(bytes))
        reply.ending = ending
        return reply
    }

    /// Exactly this text in place of a response.
    public static func raw(_ text: String, then ending: Ending = .keep) -> FixtureReply {
        raw(Array(text.utf8), then: ending)
    }

    /// From here on the connection follows the script, and ends with it.
    public static func script(_ script: ByteScript) -> FixtureReply {
        FixtureReply(0, [:], .script(script))
    }

    /// The same reply with another ending.
    public func then(_ ending: Ending) -> FixtureReply {
        var reply = self
        reply.ending = ending
        return reply
    }

    /// The same reply with one more field.
    public func adding(_ name: String, _ value: String) -> FixtureReply {
        var reply = self
        reply.headers.append(name, value)
        return reply
    }
}
