public import DirectCore

/// The report of one tunnel, or of one request that was forwarded or refused. It holds no secret: no
/// credentials, no path, no byte of content.
public struct TunnelReport: Sendable {
    /// How the program asked.
    public enum Road: String, Hashable, Sendable {
        /// An HTTP CONNECT request.
        case connect
        /// SOCKS, version 5.
        case socks
        /// An `http` URL, which the proxy has forwarded.
        case http
    }

    /// How a tunnel ended.
    @nonexhaustive
    public enum Ending: Hashable, Sendable {
        /// Both sides have ended their sending.
        case complete
        /// One side broke the connection off, and so it was for the other.
        case reset(byTarget: Bool)
        /// No byte came for as long as the limit allows.
        case idle
        /// The proxy was stopped.
        case stopped
        /// There was no tunnel: the status of the answer, and its line.
        case refused(UInt16, String)
    }

    /// How the program asked.
    public var road: Road
    /// The host and the port as the program named them; `nil` if its request could not be read, or had no
    /// right to be.
    public var target: String?
    /// Whether the program had not shown yet that it may use the proxy. Any program of the machine can cause
    /// any number of such reports.
    public var isByStranger = false
    /// The address that was connected to.
    public var endpoint: Endpoint?
    /// Where the address comes from.
    public var source: AddressSource?
    /// The addresses that were tried before, without success; all that were tried if none was reached, and
    /// those of the upstream proxy if that was not.
    public var failed: [Endpoint] = []
    /// The server's name that the program has sent in its ClientHello; `nil` if it sent none, or speaks no
    /// TLS. With Encrypted Client Hello it is the public one.
    public var serverName: String?
    /// The protocols that it offered there (ALPN).
    public var protocols: [String] = []
    /// Whether it has sent an Encrypted Client Hello, or something that looks like one.
    public var hasEncryptedHello = false
    /// The bytes from the program to the target, and back.
    public var sent: UInt64 = 0, received: UInt64 = 0
    /// The time it took to find an address, and to connect to it.
    public var connecting: Duration = .zero
    /// The time from the end of the request to the end of the tunnel.
    public var time: Duration = .zero
    /// How it ended.
    public var ending: Ending
}
