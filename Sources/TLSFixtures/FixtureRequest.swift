/// A function that answers one request. It runs on the connection's own thread and may block it.
public typealias FixtureHandler = @Sendable (FixtureRequest) throws -> FixtureReply

/// A request as a handler sees it. Use it only on the connection's thread and only until the handler returns.
public final class FixtureRequest {
    /// The method.
    public let method: String
    /// The request target as sent: "/a?b=c", or an absolute URL if the client takes the server for a proxy.
    public let target: String
    /// "HTTP/1.1" or "HTTP/1.0".
    public let version: String
    /// The header fields in the order in which they were sent.
    public let headers: FixtureHeaders
    /// The number of earlier requests on this connection.
    public let numberOnConnection: Int

    private let connection: FixtureConnection
    private let content: RequestContent

    init(_ head: RequestHead, _ connection: FixtureConnection, _ content: RequestContent, number: Int) {
        method = head.method
        target = head.target
        version = head.version
        headers = head.headers
        numberOnConnection = number
        self.connection = connection
        self.content = content
    }

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The part of the target after the question mark, or `nil` if there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The value of the Host field.
    public var host: String? { headers["host"] }

    /// The server name (SNI) of the connection, or `nil` if there was none.
    public var serverName: String? { connection.wire.hello?.serverName }

    /// The result of the TLS handshake, or `nil` on a plain connection.
    public var tls: FixtureTLSFacts? { connection.wire.facts }

    /// The number of the connection on its server, counted from 0.
    public var connectionNumber: Int { connection.number }

    /// The server's address.
    public var serverAddress: String { connection.core.address }

    /// The server's port.
    public var serverPort: UInt16 { connection.core.port }

    /// Returns the value of a cookie that the client sent.
    public func cookie(_ name: String) -> String? {
        for pair in headers.all("cookie").flatMap({ $0.split(separator: ";") }) {
            let pair = pair.drop { $0 == " " }
            if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.count + 1)) }
        }
        return nil
    }

    /// The whole body, at most 64 MiB, the same each time. The first read sends 100 (Continue) if the client
    /// waits for that.
    public var body: [UInt8] {
        get throws { try content.all() }
    }

    /// The whole body as text.
    public var text: String {
        get throws { String(decoding: try body, as: UTF8.self) }
    }

    /// Passes the body to `use` piece by piece as it arrives. There is no limit on its size.
    public func readBody(_ use: (Span<UInt8>) throws -> Void) throws {
        while let piece = try content.next() {
            // Array's own `span` requires macOS 26.
            let whole = piece[...]
            try use(whole.span)
        }
    }

    /// Reads and discards the body, and returns its length.
    public func discardBody() throws -> Int {
        var count = 0
        try readBody { count += $0.count }
        return count
    }

    /// The trailers of a chunked body. Reads the rest of the body first.
    public var trailers: FixtureHeaders {
        get throws {
            _ = try discardBody()
            return content.trailers
        }
    }

    /// Sends an interim response (100, 103, …) immediately.
    public func sendInterim(_ status: Int, headers: FixtureHeaders = [:]) throws {
        try connection.send(ResponseHead(status: status, headers: headers).bytes)
    }

    /// Blocks the connection's thread until the test opens the gate.
    ///
    /// - Throws: ``ConnectionEnd/serverStopped`` if the server stops meanwhile.
    public func wait(for gate: Gate) throws {
        try connection.wait(for: gate)
    }

    /// Blocks the connection's thread for `duration`.
    ///
    /// - Throws: ``ConnectionEnd/serverStopped`` if the server stops meanwhile.
    public func pause(_ duration: Duration) throws {
        try connection.pause(duration)
    }
}
