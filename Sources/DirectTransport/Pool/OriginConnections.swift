public import DirectCore
internal import DirectIO
public import DirectTLS

/// A snapshot of the connections to one origin, over one proxy or none. See ``HTTPClient/connections``.
public struct OriginConnections: Sendable, CustomStringConvertible {
    /// The origin: scheme, name and port.
    public let origin: Origin
    /// The proxy that the connections go through, without user and password; `nil` for direct connections.
    public let proxy: String?
    /// The connections that are established, the oldest first.
    public let connections: [ConnectionState]
    /// The number of connections that are being made.
    public let dialling: Int
    /// The number of requests that wait for a connection.
    public let waiting: Int

    init(_ origin: ConnectionPool.Machine.Record, at now: Instant) {
        self.origin = origin.key.origin
        proxy = origin.key.proxy.map { "\($0.proxy)" }
        connections = origin.members.map { ConnectionState($0, at: now) }
        dialling = origin.open - origin.members.count
        waiting = origin.waiting.count
    }

    /// The connections to the origin as text, with a line for each.
    public var description: String {
        let way = proxy.map { " over \($0)" } ?? ""
        var text = "\(origin)\(way): \(connections.count) open"
        if dialling > 0 { text += ", \(dialling) being made" }
        if waiting > 0 { text += ", \(waiting) waiting" }
        for connection in connections { text += "\n  \(connection)" }
        return text
    }
}

/// A snapshot of one connection.
public struct ConnectionState: Sendable, CustomStringConvertible {
    /// The address and port that it is connected to; `nil` for a Unix domain socket.
    public let endpoint: Endpoint?
    /// The source of that address.
    public let source: AddressSource
    /// Whether a request is using the connection.
    public let isBusy: Bool
    /// The time since the connection was made.
    public let age: Duration
    /// The time for which the connection has been idle; `nil` while a request uses it.
    public let idleTime: Duration?
    /// The number of requests that it has served, including the current one.
    public let uses: Int
    /// The result of the TLS handshake; `nil` for `http`.
    public let tls: TLSFacts?

    init(_ connection: Connection, at now: Instant) {
        let facts = connection.facts
        let pooledState = connection.pooledState
        endpoint = facts.endpoint
        source = facts.source
        isBusy = !pooledState.isIdle
        age = now.since(facts.times.end)
        idleTime = pooledState.isIdle ? now.since(pooledState.since) : nil
        uses = pooledState.uses
        tls = facts.tls
    }

    /// The connection as text.
    public var description: String {
        var text = "\(endpoint?.description ?? "a Unix domain socket") (\(source)), "
        text += idleTime.map { "idle for \($0.text)" } ?? "busy"
        text += ", \(age.text) old, used \(uses) times"
        if let tls { text += ", \(tls.version)" }
        return text
    }
}
