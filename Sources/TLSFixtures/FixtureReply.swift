/// The reply of a handler.
public struct FixtureReply: Sendable {
    /// The fate of the connection after the reply.
    public enum Ending: Sendable {
        /// The connection stays open, unless the request or the framing requires that it be closed.
        case keep
        /// The connection stays open, whatever the request says about its end.
        case leaveOpen
        /// The reply carries "Connection: close", then the connection is closed cleanly.
        case close
        /// The connection is closed cleanly, but no header field announces it.
        case closeUnannounced
        /// The connection is closed with FIN, without close_notify in TLS.
        case cut
        /// The connection is reset (RST).
        case reset
    }

    /// The way the length of a body is indicated.
    public enum Framing: Sendable {
        /// Content-Length.
        case length
        /// Transfer-Encoding: chunked.
        case chunked
        /// Neither; the body ends when the connection is closed.
        case untilClose
    }

    /// The body and how it is produced.
    enum Content: Sendable {
        case bytes([UInt8])
        case written(length: Int?, @Sendable (BodyWriter) throws -> Void)
        /// Exactly these bytes instead of head and body.
        case raw([UInt8])
        case script(ByteScript)
        /// Exactly these bytes, then those of the server at this address.
        case tunnel([UInt8], to: String)
    }

    /// The status code.
    public var status: Int
    /// The reason phrase. `nil` sends the usual one.
    public var reason: String?
    /// The header fields. If they include Content-Length or Transfer-Encoding, correct or not, no framing
    /// field is added and the body is sent exactly as written. `Date` is never added: this is a server
    /// without a clock (RFC 9110, section 6.6.1).
    public var headers: FixtureHeaders
    /// The framing of the body.
    public var framing = Framing.length
    /// The trailers of a chunked body.
    public var trailers = FixtureHeaders()
    /// The fate of the connection after the reply.
    public var ending = Ending.keep
    var content: Content

    init(_ status: Int, _ headers: FixtureHeaders, _ content: Content, _ framing: Framing = .length) {
        self.status = status
        self.headers = headers
        self.content = content
        self.framing = framing
    }

    /// Returns a reply without a body.
    public static func status(_ status: Int, _ headers: FixtureHeaders = [:]) -> FixtureReply {
        FixtureReply(status, headers, .bytes([]))
    }

    /// Returns a reply with a text body. Content-Type is text/plain unless `headers` has one.
    public static func text(_ text: String, status: Int = 200, _ headers: FixtureHeaders = [:])
        -> FixtureReply
    {
        var headers = headers
        if headers["content-type"] == nil { headers.append("Content-Type", "text/plain; charset=utf-8") }
        return FixtureReply(status, headers, .bytes(Array(text.utf8)))
    }

    /// Returns a reply with these bytes as its body.
    public static func bytes(
        _ bytes: [UInt8],
        status: Int = 200,
        _ headers: FixtureHeaders = [:],
        framing: Framing = .length
    ) -> FixtureReply {
        FixtureReply(status, headers, .bytes(bytes), framing)
    }

    /// Returns a redirect to `location`.
    public static func redirect(to location: String, status: Int = 302) -> FixtureReply {
        FixtureReply(status, ["Location": location], .bytes([]))
    }

    /// Returns a reply with the request's body and Content-Type.
    public static func echo(_ request: FixtureRequest) throws -> FixtureReply {
        let type = request.headers["content-type"] ?? "application/octet-stream"
        return FixtureReply(200, ["Content-Type": type], .bytes(try request.body))
    }

    /// Returns a reply with a chunked body.
    ///
    /// - Parameter chunks: The chunks; each is sent immediately.
    /// - Parameter trailers: The trailers.
    /// - Parameter pause: The pause after each chunk.
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

    /// Returns a reply whose body is sent one byte at a time, with a pause after each.
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

    /// Returns a reply with `count` bytes of ``FixturePattern``, generated while they are sent.
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

    /// Returns a reply whose body the closure writes, on the connection's thread.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: The header fields, without those of the framing.
    ///   - length: The value of Content-Length, if `framing` is ``Framing/length``. Without it the body is
    ///     chunked.
    ///   - framing: How the end of the body is marked.
    ///   - write: Writes the body.
    public static func written(
        status: Int = 200,
        _ headers: FixtureHeaders = [:],
        length: Int? = nil,
        framing: Framing = .chunked,
        _ write: @escaping @Sendable (BodyWriter) throws -> Void
    ) -> FixtureReply {
        FixtureReply(status, headers, .written(length: length, write), framing)
    }

    /// Returns a reply that sends exactly these bytes instead of a response.
    public static func raw(_ bytes: [UInt8], then ending: Ending = .keep) -> FixtureReply {
        var reply = FixtureReply(0, [:], .raw(bytes))
        reply.ending = ending
        return reply
    }

    /// Returns a reply that sends exactly this text instead of a response.
    public static func raw(_ text: String, then ending: Ending = .keep) -> FixtureReply {
        raw(Array(text.utf8), then: ending)
    }

    /// Returns a reply that hands the connection to a script, which also ends it.
    public static func script(_ script: ByteScript) -> FixtureReply {
        FixtureReply(0, [:], .script(script))
    }

    /// Returns a proxy's reply to CONNECT: exactly these bytes, then what passes between the client and the
    /// server at this address.
    package static func tunnel(_ bytes: [UInt8], to address: String) -> FixtureReply {
        FixtureReply(0, [:], .tunnel(bytes, to: address))
    }

    /// Returns the same reply with another ending.
    public func then(_ ending: Ending) -> FixtureReply {
        var reply = self
        reply.ending = ending
        return reply
    }

    /// Returns the same reply with one more header field.
    public func adding(_ name: String, value: String) -> FixtureReply {
        var reply = self
        reply.headers.append(name, value)
        return reply
    }
}
