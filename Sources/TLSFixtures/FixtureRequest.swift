/// Answers one request; runs on the connection's own thread and may block there.
public typealias FixtureHandler = @Sendable (FixtureRequest) throws -> FixtureReply

/// A request as the handler sees it. It belongs to the connection's thread and ends with the handler.
public final class FixtureRequest {
    /// The method.
    public let method: String
    /// The request target as sent: "/a?b=c", or a whole URL where the client takes us for a proxy.
    public let target: String
    /// "HTTP/1.1" or "HTTP/1.0".
    public let version: String
    /// The fields in the order sent.
    public let headers: FixtureHeaders
    /// How many requests came before it on this connection.
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

    /// What follows the question mark, if there is one.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The Host field.
    public var host: String? { headers["host"] }

    /// The SNI of the connection.
    public var serverName: String? { connection.wire.hello?.serverName }

    /// What the TLS handshake agreed on.
    public var tls: FixtureTLSFacts? { connection.wire.facts }

    /// Which connection of the server it came on, counted from 0.
    public var connectionNumber: Int { connection.number }

    /// The server's address.
    public var serverAddress: String { connection.core.address }

    /// The server's port.
    public var serverPort: UInt16 { connection.core.port }

    /// The value of a cookie the client sent.
    public func cookie(_ name: String) -> String? {
        for pair in headers.all("cookie").flatMap({ $0.split(separator: ";") }) {
            let pair = pair.drop { $0 == " " }
            if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.count + 1)) }
        }
        return nil
    }

    /// The whole content, at most 64 MiB; the first look sends 100 (Continue) if the client waits for it.
    public var body: [UInt8] {
        get throws { try content.all() }
    }

    /// The whole content as text.
    public var text: String {
        get throws { String(decoding: try body, as: UTF8.self) }
    }

    /// Hands over the content piece by piece as it arrives, so that any size fits.
    public func readBody(_ use: (Span<UInt8>) throws -> Void) throws {
        while let piece = try content.next() {
            // The span of an array itself begins with macOS 26.
            let whole = piece[...]
            try use(whole.span)
        }
    }

    /// Reads and forgets the content, and returns its length.
    public func discardBody() throws -> Int {
        var count = 0
        try readBody { count += $0.count }
        return count
    }

    /// The fields after a chunked content; reads the content first.
    public var trailers: FixtureHeaders {
        get throws {
            _ = try discardBody()
            return content.trailers
        }
    }

    /// Sends an interim response (100, 103, …) at once.
    public func sendInterim(_ status: Int, _ headers: FixtureHeaders = [:]) throws {
        try connection.send(ResponseHead(status: status, headers: headers).bytes)
    }

    /// Blocks the connection's thread until the test opens the gate; throws when the server stops.
    public func wait(for gate: Gate) throws {
        try connection.wait(for: gate)
    }

    /// Blocks the connection's thread for that long; throws when the server stops.
    public func pause(_ duration: Duration) throws {
        try connection.pause(duration)
    }
}
