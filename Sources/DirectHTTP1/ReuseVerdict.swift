/// Whether the connection that a response came on may be reused for another request.
package enum ReuseVerdict: Equatable, Sendable {
    /// Another request may be sent.
    case reusable
    /// The connection must be closed, for this reason.
    case close(CloseReason)
}

/// The reason why a connection cannot be reused.
@nonexhaustive
package enum CloseReason: String, Hashable, Sendable {
    /// The response was not read to its end.
    case unfinished
    /// The server sent `Connection: close`.
    case serverCloses
    /// The response is HTTP/1.0 without `Connection: keep-alive`.
    case http10
    /// The content ended only with the stream.
    case untilClose
    /// The connection is now a tunnel or speaks another protocol.
    case tunnel
    /// The response's framing is contradictory, so the bytes after it are in doubt (RFC 9112, section 6.1).
    case doubtfulFraming
    /// The response was invalid or cut off.
    case failed
}

/// A server's hint about an idle connection (`Keep-Alive: timeout=5, max=100`).
package struct KeepAliveHint: Equatable, Sendable {
    /// The number of seconds for which the server keeps an idle connection.
    package var timeout: UInt32?
    /// The number of requests that the server still accepts on the connection.
    package var max: UInt32?

    /// Creates a hint; `nil` for a value that the server did not send.
    package init(timeout: UInt32? = nil, max: UInt32? = nil) {
        self.timeout = timeout
        self.max = max
    }
}
