public import DirectCore
public import DirectIO
public import DirectTLS

/// A snapshot of the connections to one origin that may serve the same requests: over one proxy or none, and
/// with the same settings of connections. See ``HTTPClient/connections``.
public struct OriginConnections: Sendable, CustomStringConvertible {
    /// The origin: scheme, name and port.
    public let origin: Origin
    /// The proxy that the connections go through, without user and password; `nil` for direct connections.
    public let proxy: String?
    /// The place that their requests ask to leave from; `nil` for the client's.
    public let localBinding: LocalBinding?
    /// The Unix domain socket that they lead to; `nil` for addresses.
    public let unixSocket: UnixSocketPath?
    /// Whether they differ from the client's in TLS or in probes, as their requests say, or because another
    /// origin is not shown the client's certificate.
    public let hasOtherSettings: Bool
    /// The connections that are established, the oldest first.
    public let connections: [ConnectionState]
    /// The number of connections that are being made.
    public let dialling: Int
    /// The number of requests that wait for a connection.
    public let waiting: Int

    init(_ origin: ConnectionPool.Machine.Record, at now: Instant) {
        self.origin = origin.key.origin
        proxy = origin.key.proxy.map { "\($0.proxy)" }
        var settings = origin.key.profile?.settings?.settings
        (localBinding, unixSocket) = (settings?.local, settings?.unixSocket)
        settings?.local = nil
        settings?.unixSocket = nil
        hasOtherSettings = origin.key.profile != nil && settings?.isEmpty != true
        connections = origin.members.map { ConnectionState($0, at: now) }
        dialling = origin.open - origin.members.count
        waiting = origin.waiting.count
    }

    /// The connections to the origin as text, with a line for each.
    public var description: String {
        var text = "\(origin)"
        if let proxy { text += " over \(proxy)" }
        switch localBinding {
        case .address(let address): text += " from \(address)"
        case .interface(let name): text += " from \(name)"
        case nil: break
        }
        if let unixSocket { text += " at \(unixSocket)" }
        if hasOtherSettings { text += " with other settings" }
        text += ": \(connections.count) open"
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
