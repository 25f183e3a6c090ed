public import DirectCore
public import DirectIO
public import DirectTLS
internal import DirectTransport

/// The connection that one request used, and when it used it.
public struct HTTPTransaction: Sendable, CustomStringConvertible {
    let record: ExchangeRecord

    var connection: ConnectionFacts { record.connection }

    /// Whether the connection had served an earlier request. False for the first request on a prewarmed
    /// connection.
    public var isReused: Bool { record.isReused }
    /// Whether the connection was there before the request: a reused or a prewarmed one.
    var wasIdle: Bool { record.wasIdle }
    /// The name that the request was for.
    public var name: String { connection.name }
    /// The endpoint that the bytes went to; `nil` if they went to a ``unixSocket``.
    public var endpoint: Endpoint? { connection.endpoint }
    /// The source of the endpoint's address, as it was when the connection was made.
    public var source: AddressSource { connection.source }
    /// The proxy, without user and password; `nil` without one. If the proxy resolved the name, the endpoint
    /// is the proxy's own.
    public var proxy: String? { connection.path.proxy }
    /// The IPv6 address that was dialled if the endpoint's IPv4 address can be reached through a translator
    /// only (RFC 6052).
    public var translatedAddress: IPAddress? { connection.path.translated }
    /// The Unix domain socket that the bytes went to; `nil` if they went to ``endpoint``.
    public var unixSocket: UnixSocketPath? {
        if case .unixSocket(let path) = connection.path.place { path } else { nil }
    }
    /// The place that the bytes went to, for texts.
    package var place: String { connection.path.place.description }
    /// The address and the port on this machine that the bytes left from; `nil` for a ``unixSocket``.
    public var localEndpoint: Endpoint? { connection.path.local }
    /// The result of the TLS handshake; `nil` for `http`.
    public var tls: TLSFacts? { connection.tls }
    /// The addresses that were tried before this one, and failed.
    public var failedAttempts: [Attempt] { connection.search.failedAttempts.map(Attempt.init) }

    /// The time that the request waited in the queue because the client may have no more connections; close
    /// to zero if it did not wait.
    public var queueTime: Duration { .nanoseconds(Int64(clamping: record.queued)) }
    /// The time to resolve the name; `nil` if that was not needed.
    public var resolveTime: Duration? { wasIdle ? nil : connection.times.resolve }
    /// The time to connect to the address; `nil` on a reused or prewarmed connection.
    public var connectTime: Duration? { wasIdle ? nil : connection.times.connect }
    /// The time of the TLS handshake; `nil` on a reused or prewarmed connection and for `http`.
    public var tlsTime: Duration? { wasIdle ? nil : connection.times.tls }
    /// The time from the start of the request, before its connection was found, until it was sent or its
    /// upload began.
    public var requestTime: Duration { record.sent.since(record.start) }
    /// The time from the start of the request, before its connection was found, to the head of the response.
    public var responseTime: Duration { record.response.since(record.start) }

    /// The time from the head of the response to the last byte of its body, as it was read; zero if the body
    /// arrived together with the head. `nil` as long as it has not been read whole, and for a response that
    /// switches protocols.
    public var bodyTime: Duration? { bodyEnd?.since(record.response) }
    /// The time from the start of the request, before its connection was found, to the last byte of the
    /// response's body; `nil` as long as that is for ``bodyTime``.
    public var totalTime: Duration? { bodyEnd?.since(record.start) }

    private var bodyEnd: Instant? { record.bodyEnd.map(\.time) ?? record.response }

    /// The name, the endpoint, the proxy, the connection, TLS and the response time.
    public var description: String {
        var text = "\(name) at \(place) (\(source)), "
        if let proxy { text += "over \(proxy), " }
        text += isReused ? "reused" : "new connection"
        if let tls { text += ", \(tls)" }
        return text + ", response after \(responseTime.text)"
    }
}
extension HTTPTransaction {
    /// The identity of a server that has not proved to be the URL's host: the name that it has proved
    /// instead, the key that an override has accepted, or the Unix domain socket of a plain connection.
    ///
    /// `nil` if it has proved to be the host, and over plain HTTP, where no server proves anything.
    fileprivate func unprovedIdentity(for url: HTTPURL) -> String? {
        guard let tls else { return unixSocket.map { "unix \($0.path)" } }
        guard let name = tls.verifiedName else {
            return "key \(Hex.encode(tls.certificate?.spkiSHA256 ?? []))"
        }
        return name == ServerIdentity(of: url.host).text ? nil : "name \(name)"
    }

    /// Whether the server has proved to be the URL's host. Over plain HTTP there is nothing to prove.
    fileprivate func isFromProvedHost(of url: HTTPURL) -> Bool {
        tls == nil || unprovedIdentity(for: url) == nil
    }
}

extension Response {
    /// The identity accepted instead of the URL's host. `nil` if the server has proved to be that, and for a
    /// response that no connection brought.
    var unprovedIdentity: String? { transaction?.unprovedIdentity(for: url) }

    /// Whether its server has proved to be the URL's host, or had nothing to prove.
    func isFromProvedHost(of url: HTTPURL) -> Bool { transaction?.isFromProvedHost(of: url) ?? true }
}
