public import DirectIO
public import DirectTLS

/// The connections that a client has at one moment, for a look at what is going on.
public struct ConnectionList: Sendable, CustomStringConvertible {
    /// By origin, in the order of their texts.
    public let origins: [OriginConnections]

    init(_ origins: some Sequence<ConnectionPool.Machine.Origin>, at now: Instant) {
        self.origins = origins.map { OriginConnections($0, at: now) }
            .sorted { $0.origin.description < $1.origin.description }
    }

    public var description: String {
        origins.isEmpty ? "no connections" : origins.map(\.description).joined(separator: "\n")
    }
}

/// The connections to one origin.
public struct OriginConnections: Sendable, CustomStringConvertible {
    /// Scheme, name and port.
    public let origin: Origin
    /// The proxy they lead over, without user and password; nothing if they lead over none.
    public let proxy: String?
    /// Those that are there, the oldest first.
    public let connections: [ConnectionState]
    /// How many more are being made.
    public let dialling: Int
    /// How many requests wait for one.
    public let waiting: Int

    init(_ origin: ConnectionPool.Machine.Origin, at now: Instant) {
        self.origin = origin.key.origin
        proxy = origin.key.proxy.map { "\($0.proxy)" }
        connections = origin.members.map { ConnectionState($0, at: now) }
        dialling = origin.open - origin.members.count
        waiting = origin.waiting.count
    }

    public var description: String {
        let way = proxy.map { " over \($0)" } ?? ""
        var text = "\(origin)\(way): \(connections.count) open"
        if dialling > 0 { text += ", \(dialling) being made" }
        if waiting > 0 { text += ", \(waiting) waiting" }
        for connection in connections { text += "\n  \(connection)" }
        return text
    }
}

/// One connection.
public struct ConnectionState: Sendable, CustomStringConvertible {
    /// Where it leads.
    public let endpoint: Endpoint
    /// Who named that address.
    public let source: AddressSource
    /// Whether a request is using it.
    public let isBusy: Bool
    /// How long ago it was made.
    public let age: Duration
    /// For how long it has had no work; nothing while it is busy.
    public let idleTime: Duration?
    /// How many requests it has served or is serving.
    public let uses: Int
    /// What was agreed in the TLS handshake; nothing for `http`.
    public let tls: TLSFacts?

    init(_ connection: Connection, at now: Instant) {
        let facts = connection.facts
        let stay = connection.stay
        endpoint = facts.endpoint
        source = facts.source
        isBusy = !stay.isIdle
        age = now.since(facts.birth)
        idleTime = stay.isIdle ? now.since(stay.since) : nil
        uses = stay.turns
        tls = facts.tls
    }

    public var description: String {
        var text = "\(endpoint) (\(source)), "
        text += idleTime.map { "idle for \($0)" } ?? "busy"
        text += ", \(age) old, used \(uses) times"
        if let tls { text += ", \(tls.version)" }
        return text
    }
}
