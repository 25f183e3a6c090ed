/// Whether another request may be sent on the connection that a response came on.
package enum ReuseVerdict: Hashable, Sendable {
    case reusable
    case close(CloseReason)
}

/// Why a connection cannot carry another exchange.
@nonexhaustive
public enum CloseReason: String, Hashable, Sendable {
    /// The response has not been read to its end.
    case unfinished
    /// The server said `Connection: close`.
    case serverCloses
    /// HTTP/1.0 without `Connection: keep-alive`.
    case http10
    /// Only the end of the stream ended the content.
    case untilClose
    /// The connection has become a tunnel or speaks another protocol.
    case tunnel
    /// A response without content names two framings, so what follows it is in doubt (RFC 9112, section 6.1).
    case doubtfulFraming
    /// The response was faulty or cut off.
    case failed
}

extension CloseReason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .unfinished: "the response was not read to its end"
        case .serverCloses: "the server said Connection: close"
        case .http10: "HTTP/1.0 without Connection: keep-alive"
        case .untilClose: "the content ended with the connection"
        case .tunnel: "the connection no longer speaks HTTP"
        case .doubtfulFraming: "the response's framing is in doubt"
        case .failed: "the response was faulty or cut off"
        }
    }
}

/// What a server promises about an idle connection (`Keep-Alive: timeout=5, max=100`).
package struct KeepAliveHint: Hashable, Sendable {
    /// Seconds that the server keeps an idle connection.
    package var timeout: UInt32?
    /// Requests that the server still takes on it.
    package var max: UInt32?

    package init(timeout: UInt32? = nil, max: UInt32? = nil) {
        self.timeout = timeout
        self.max = max
    }
}
