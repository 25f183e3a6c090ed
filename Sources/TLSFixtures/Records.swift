/// A client connection as the server saw it.
public struct ConnectionRecord: Sendable {
    /// The number of the connection on its server, counted from 0 in the order of acceptance.
    public let number: Int
    /// The position among all connections and requests of all servers in the process, in the order of
    /// arrival.
    public let order: Int
    /// The time at which the connection was accepted.
    public let acceptedAt: ContinuousClock.Instant
    /// The address the client connected to.
    public let serverAddress: String
    /// The port the client connected to.
    public let serverPort: UInt16
    /// The client's address.
    public let clientAddress: String
    /// The client's port.
    public let clientPort: UInt16
    /// What the first bytes ask for, on a server that chooses by them.
    package internal(set) var ask: FixtureAsk?
    /// The client's ClientHello, or `nil` on a plain connection or before it has arrived.
    public internal(set) var hello: ClientHello?
    /// The result of the TLS handshake, or `nil` until it has finished.
    public internal(set) var tls: FixtureTLSFacts?
    /// The requests that were read from this connection.
    public internal(set) var requests: [RequestRecord] = []
    /// The first 256 KiB that the client sent, after decryption.
    public internal(set) var received: [UInt8] = []
    /// The last bytes that the client sent, up to 1 KiB, after decryption.
    package internal(set) var lastReceived: [UInt8] = []
    /// The number of bytes that the client sent, after decryption.
    public internal(set) var receivedCount = 0
    /// The number of bytes received on the socket, before decryption.
    package internal(set) var socketByteCount = 0
    /// The number of bytes received on the socket behind a response to a request with "Connection: close".
    package internal(set) var lateByteCount = 0
    /// The first 16 KiB received on the socket, before decryption.
    package internal(set) var socketBytes: [UInt8] = []
    /// The end of the connection, or `nil` while it is open.
    public internal(set) var end: ConnectionEnd?

    /// The server name (SNI) as the client spelled it, or `nil` if it sent none.
    public var serverName: String? { hello?.serverName }
    /// Whether the client resumed an earlier TLS session.
    public var isResumed: Bool { tls?.isResumed ?? false }
    /// The received bytes as text.
    public var receivedText: String { String(decoding: received, as: UTF8.self) }

    /// Keeps the last bytes received.
    mutating func noteLast(_ bytes: UnsafeRawBufferPointer) {
        let news = bytes[max(0, bytes.count - Self.lastLimit)...]
        lastReceived.removeFirst(max(0, lastReceived.count + news.count - Self.lastLimit))
        lastReceived += news
    }

    static let receivedLimit = 256 << 10
    static let socketBytesLimit = 16 << 10
    private static let lastLimit = 1 << 10
}

/// An HTTP request as it was received.
public struct RequestRecord: Sendable {
    /// The position among all connections and requests of all servers in the process, in the order of
    /// arrival.
    public let order: Int
    /// The number of its connection.
    public let connection: Int
    /// The time at which its head was complete.
    public let arrivedAt: ContinuousClock.Instant
    /// The server name (SNI) of its connection.
    public let serverName: String?
    /// The request line and the header fields exactly as sent, including the empty line.
    public let head: [UInt8]
    /// The method.
    public let method: String
    /// The request target as sent.
    public let target: String
    /// The header fields in the order in which they were sent.
    public let headers: FixtureHeaders
    /// The first 256 KiB of the body, without chunked framing.
    public internal(set) var body: [UInt8] = []
    /// The number of bytes of the body that have arrived.
    public internal(set) var bodyCount = 0
    /// The trailers of a chunked body.
    public internal(set) var trailers = FixtureHeaders()
    /// Whether the whole body has been read.
    public internal(set) var isComplete = false

    /// The head as text.
    public var headText: String { String(decoding: head, as: UTF8.self) }
    /// The recorded part of the body as text.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// The time between its head and the first of its body. `nil` if it has none.
    package internal(set) var waitForContent: Duration?

    static let bodyLimit = 256 << 10
}

/// The contents of a client's first ClientHello.
public struct ClientHello: Sendable, Equatable {
    /// The server name (SNI) byte for byte, or `nil` if the extension was absent.
    public internal(set) var serverName: String?
    /// The protocols offered with ALPN, in the client's order.
    public internal(set) var applicationProtocols: [String] = []
    /// The TLS versions offered, by their numbers on the wire (0x0304 is TLS 1.3), in the client's order.
    public internal(set) var versions: [UInt16] = []
    /// The cipher suites offered, by their numbers on the wire.
    public internal(set) var cipherSuites: [UInt16] = []
    /// The types of all extensions, in the client's order.
    public internal(set) var extensions: [UInt16] = []
    /// Whether the client offered a pre-shared key, a non-empty ticket or, before TLS 1.3, a session id.
    public internal(set) var offersResumption = false
    /// Whether the client asked for a stapled OCSP response.
    public var asksForStaple: Bool { extensions.contains(5) }
    /// Whether the client announced early data.
    public var offersEarlyData: Bool { extensions.contains(42) }
}

/// The result of a TLS handshake.
public struct FixtureTLSFacts: Sendable, Equatable {
    /// The TLS version as OpenSSL names it, for example "TLSv1.3".
    public let version: String
    /// The cipher suite as OpenSSL names it.
    public let cipher: String
    /// The protocol selected with ALPN, or `nil` if there is none.
    public let applicationProtocol: String?
    /// Whether the client resumed an earlier session.
    public let isResumed: Bool
    /// The server name of the outer client hello, if the inner one was decrypted; else `nil`.
    public let outerServerName: String?
    /// The client's certificate in DER, or `nil` if it sent none.
    public let clientCertificate: [UInt8]?
    /// The subject of the client's certificate, for example "CN=client", or `nil` if it sent none.
    public let clientSubject: String?
}

/// The way a connection ended.
public enum ConnectionEnd: Error, Sendable, Equatable {
    /// The client closed cleanly: with close_notify in TLS, with FIN otherwise.
    case clientClosed
    /// The client sent FIN without close_notify in TLS.
    case clientCut
    /// The client reset the connection, or it was gone when the server wrote.
    case clientReset
    /// The client sent a fatal TLS alert with this number (42 bad_certificate, 48 unknown_ca, …).
    case clientAlert(UInt8)
    /// TLS failed for another reason, given as OpenSSL's error text.
    case tlsFailed(String)
    /// The server refused the server name, or its absence, as configured.
    case nameRefused
    /// The server closed cleanly.
    case serverClosed
    /// The server sent FIN without close_notify, as configured.
    case serverCut
    /// The server reset the connection, as configured.
    case serverReset
    /// The client sent something that the HTTP server could not parse.
    case badRequest(String)
    /// The handler threw an error.
    case handlerFailed(String)
    /// The server was stopped while the connection was open.
    case serverStopped
}

/// Header fields in order, with case-insensitive lookup.
public struct FixtureHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One field line.
    public struct Field: Sendable, Equatable {
        /// The name as it was spelled.
        public let name: String
        /// The value without surrounding whitespace.
        public let value: String
    }

    /// The field lines in order.
    public private(set) var fields: [Field] = []

    /// Creates an empty list.
    public init() {}

    /// Creates fields in the given order. Names may repeat.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The value of the first field with this name, or `nil` if there is none.
    public subscript(name: String) -> String? { all(name).first }

    /// Returns the values of all fields with this name.
    public func all(_ name: String) -> [String] {
        let wanted = name.asciiLowercased
        return fields.filter { $0.name.asciiLowercased == wanted }.map(\.value)
    }

    /// Appends a field line.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }
}

extension String {
    /// The same with A to Z in lower case. Case is that of ASCII in HTTP: the Kelvin sign is no K.
    var asciiLowercased: String {
        String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
