/// What one client connection did, as the server saw it.
public struct ConnectionRecord: Sendable {
    /// Which connection of its server this is, counted from 0 in the order of acceptance.
    public let number: Int
    /// Counts connections and requests over all servers of the process, in the order they arrived.
    public let order: Int
    /// When the connection was accepted.
    public let acceptedAt: ContinuousClock.Instant
    /// The address the client connected to.
    public let serverAddress: String
    /// The port the client connected to.
    public let serverPort: UInt16
    /// The client's own address.
    public let clientAddress: String
    /// The client's own port.
    public let clientPort: UInt16
    /// What the client offered when it opened TLS; nil on a plain connection or before that.
    public internal(set) var hello: ClientHello?
    /// What the finished TLS handshake agreed on; nil until then.
    public internal(set) var tls: FixtureTLSFacts?
    /// The requests read from this connection.
    public internal(set) var requests: [RequestRecord] = []
    /// The first 256 KiB of what the client sent, after decryption.
    public internal(set) var received: [UInt8] = []
    /// The last bytes of what the client sent, up to 1 KiB, after decryption.
    public internal(set) var lastReceived: [UInt8] = []
    /// How many bytes the client sent in all, after decryption.
    public internal(set) var receivedCount = 0
    /// How many bytes came over the socket, still encrypted where TLS is spoken.
    public internal(set) var socketByteCount = 0
    /// How the connection ended; nil while it is open.
    public internal(set) var end: ConnectionEnd?

    /// The name in the client's SNI, as it was spelled; nil when it sent none.
    public var serverName: String? { hello?.serverName }
    /// Whether the client resumed an earlier TLS session.
    public var isResumed: Bool { tls?.isResumed ?? false }
    /// The received bytes as text.
    public var receivedText: String { String(decoding: received, as: UTF8.self) }

    mutating func noteLast(_ bytes: UnsafeRawBufferPointer) {
        let news = bytes[max(0, bytes.count - Self.lastLimit)...]
        lastReceived.removeFirst(max(0, lastReceived.count + news.count - Self.lastLimit))
        lastReceived += news
    }

    static let receivedLimit = 256 << 10
    private static let lastLimit = 1 << 10
}

/// One HTTP request, as it came over the wire.
public struct RequestRecord: Sendable {
    /// Counts connections and requests over all servers of the process, in the order they arrived.
    public let order: Int
    /// The number of the connection it came on.
    public let connection: Int
    /// When its head was complete.
    public let arrivedAt: ContinuousClock.Instant
    /// The SNI of its connection.
    public let serverName: String?
    /// Request line and fields exactly as sent, with the empty line.
    public let head: [UInt8]
    /// The method.
    public let method: String
    /// The request target as sent.
    public let target: String
    /// The fields in the order sent.
    public let headers: FixtureHeaders
    /// The first 256 KiB of the content, without chunked framing.
    public internal(set) var body: [UInt8] = []
    /// How many bytes of content arrived in all.
    public internal(set) var bodyCount = 0
    /// Fields after a chunked body.
    public internal(set) var trailers = FixtureHeaders()
    /// Whether the whole content has been read.
    public internal(set) var isComplete = false

    /// The head as text.
    public var headText: String { String(decoding: head, as: UTF8.self) }
    /// The recorded content as text.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    static let bodyLimit = 256 << 10
}

/// What a client offered in its first ClientHello.
public struct ClientHello: Sendable, Equatable {
    /// The SNI host name byte for byte; nil when the extension was absent.
    public internal(set) var serverName: String?
    /// The protocols offered by ALPN, in the client's order.
    public internal(set) var applicationProtocols: [String] = []
    /// The TLS versions offered, as numbers of the wire (0x0304 is TLS 1.3), in the client's order.
    public internal(set) var versions: [UInt16] = []
    /// The cipher suites offered, as numbers of the wire.
    public internal(set) var cipherSuites: [UInt16] = []
    /// The types of all extensions, in the client's order.
    public internal(set) var extensions: [UInt16] = []
    /// Whether the client offered a pre-shared key, a non-empty ticket or a session id to resume.
    public internal(set) var offersResumption = false
    /// Whether it asked for a stapled OCSP response.
    public var asksForStaple: Bool { extensions.contains(5) }
    /// Whether it announced early data.
    public var offersEarlyData: Bool { extensions.contains(42) }
}

/// What a finished TLS handshake agreed on.
public struct FixtureTLSFacts: Sendable, Equatable {
    /// The TLS version as OpenSSL names it, for example "TLSv1.3".
    public let version: String
    /// The cipher suite as OpenSSL names it.
    public let cipher: String
    /// The protocol chosen by ALPN, if any.
    public let applicationProtocol: String?
    /// Whether an earlier session was resumed.
    public let isResumed: Bool
    /// The client's certificate in DER, if it sent one.
    public let clientCertificate: [UInt8]?
    /// The subject of the client's certificate, for example "CN=client".
    public let clientSubject: String?
}

/// How a connection ended.
public enum ConnectionEnd: Error, Sendable, Equatable {
    /// The client closed in order: close_notify in TLS, FIN without.
    case clientClosed
    /// The client's TLS stream ended by FIN without close_notify.
    case clientCut
    /// The client reset the connection, or was gone when the server wrote.
    case clientReset
    /// The client sent a fatal TLS alert of this number (42 bad_certificate, 48 unknown_ca, …).
    case clientAlert(UInt8)
    /// TLS failed for another reason; in OpenSSL's words.
    case tlsFailed(String)
    /// The server refused the SNI, or its absence, as it was told to.
    case nameRefused
    /// The server closed in order.
    case serverClosed
    /// The server sent FIN without close_notify, as it was told to.
    case serverCut
    /// The server reset the connection, as it was told to.
    case serverReset
    /// The client sent what the HTTP server does not understand.
    case badRequest(String)
    /// The handler threw.
    case handlerFailed(String)
    /// The server was stopped while the connection was open.
    case serverStopped
}

/// HTTP fields in their order, looked up without regard to case.
public struct FixtureHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One field line.
    public struct Field: Sendable, Equatable {
        /// The name as spelled.
        public let name: String
        /// The value without the whitespace around it.
        public let value: String
    }

    /// The field lines in order.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}

    /// The fields in the order written; names may repeat.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first value under that name, if any.
    public subscript(name: String) -> String? {
        let wanted = name.lowercased()
        return fields.first { $0.name.lowercased() == wanted }?.value
    }

    /// All values under that name.
    public func all(_ name: String) -> [String] {
        let wanted = name.lowercased()
        return fields.filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// Adds a field line at the end.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }
}
