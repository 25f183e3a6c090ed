/// A server for tests that runs in the test's own process, plain or TLS, on a loopback address.
///
/// It serves from ``start(_:on:port:handler:)`` until ``stop()`` or until the last reference is released.
/// Each connection has its own thread, so handlers may block. No function blocks Swift's cooperative thread
/// pool except ``stop()``, which waits for those threads after telling them to end.
public final class FixtureServer: Sendable {
    private let core: ServerCore

    /// Starts an HTTP/1.1 server that answers every request with the handler's reply.
    ///
    /// - Parameter security: Plain, or TLS with these settings.
    /// - Parameter address: The loopback address to listen on.
    /// - Parameter port: The port to listen on; 0 lets the system choose one.
    /// - Parameter handler: Answers each request, on the connection's thread.
    public static func start(
        _ security: FixtureSecurity = .plain,
        on address: String = "127.0.0.1",
        port: UInt16 = 0,
        handler: @escaping FixtureHandler
    ) throws(FixtureError) -> FixtureServer {
        try start(security, on: address, port: port, behaviour: .http(handler))
    }

    /// Starts a server whose connections have the given behaviour.
    public static func start(
        _ security: FixtureSecurity = .plain,
        on address: String = "127.0.0.1",
        port: UInt16 = 0,
        behaviour: FixtureBehaviour
    ) throws(FixtureError) -> FixtureServer {
        FixtureServer(try ServerCore(.serving(security, behaviour), on: address, port: port))
    }

    /// Starts a server that is several behind one port: the first bytes of a connection choose the site,
    /// which `choose` makes when it is asked for first. An error of it ends the connection.
    package static func start(
        on address: String,
        port: UInt16,
        choosing choose: @escaping @Sendable (FixtureAsk) throws -> FixtureSite
    ) throws(FixtureError) -> FixtureServer {
        FixtureServer(try ServerCore(.choosing(ChosenSites(choose)), on: address, port: port))
    }

    /// Starts identical servers on several addresses, on one port that is free on all of them.
    public static func startOnSamePort(
        _ addresses: [String],
        security: FixtureSecurity = .plain,
        handler: @escaping FixtureHandler
    ) throws(FixtureError) -> [FixtureServer] {
        let port = try SharedPort(on: addresses)
        var servers: [FixtureServer] = []
        for address in addresses {
            servers.append(try start(security, on: address, port: port.number, handler: handler))
        }
        return servers
    }

    /// Reserves a port on which nothing listens, so that connecting is refused.
    public static func refusing(
        on address: String = "127.0.0.1",
        port: UInt16 = 0
    ) throws(FixtureError) -> FixtureServer {
        FixtureServer(try ServerCore(.refusing, on: address, port: port))
    }

    /// Reserves a port whose accept queue is full, so that connecting hangs as if the host were down.
    public static func unresponsive(
        on address: String = "127.0.0.1",
        port: UInt16 = 0
    ) throws(FixtureError) -> FixtureServer {
        FixtureServer(try ServerCore(.unresponsive, on: address, port: port))
    }

    private init(_ core: ServerCore) {
        self.core = core
    }

    deinit {
        core.stop()
    }

    /// The address the server is bound to.
    public var address: String { core.address }

    /// The port, including one that the system chose.
    public var port: UInt16 { core.port }

    /// The address and port in URL syntax: "127.0.0.2:4443", "[::1]:4443".
    public var authority: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// Closes the listener and every connection, and waits until their threads have ended.
    public func stop() {
        core.stop()
    }

    /// The records of all connections, in the order in which they were accepted.
    public var records: [ConnectionRecord] { core.recorder.records }

    /// Waits until the connections that clients have made until now are recorded, also those that wait to be
    /// accepted.
    ///
    /// - Returns: The number of a connection of its own that the server has made for it.
    package func settle() async throws -> Int? { try await core.settle() }

    /// The requests of all connections, in the order in which they arrived.
    public var requests: [RequestRecord] {
        records.flatMap(\.requests).sorted { $0.order < $1.order }
    }

    /// Returns the next connection that has ended. Each is returned once, in the order in which they ended.
    ///
    /// - Parameter limit: The longest time to wait. `nil` waits as long as the test runs; a limit that suits
    ///   an idle machine fails on a busy one.
    public func nextRecord(within limit: Duration? = nil) async throws -> ConnectionRecord {
        try await core.recorder.wait(for: "the end of a connection", within: limit) { state in
            guard state.endedTaken < state.ended.count else { return nil }
            defer { state.endedTaken += 1 }
            return state.records[state.ended[state.endedTaken]]
        }
    }

    /// Returns the next request whose whole body has arrived. Each is returned once.
    ///
    /// - Parameter limit: The longest time to wait, or `nil` for no limit.
    public func nextRequest(within limit: Duration? = nil) async throws -> RequestRecord {
        try await core.recorder.wait(for: "a request", within: limit) { state in
            guard state.completedTaken < state.completed.count else { return nil }
            defer { state.completedTaken += 1 }
            let place = state.completed[state.completedTaken]
            return state.records[place.connection].requests[place.index]
        }
    }

    /// Waits until the records satisfy the condition, and returns them.
    ///
    /// - Parameter limit: The longest time to wait, or `nil` for no limit.
    /// - Parameter condition: Called on the server's threads whenever a record changes. It must not block.
    @discardableResult
    public func waitUntil(
        within limit: Duration? = nil,
        _ condition: @escaping @Sendable ([ConnectionRecord]) -> Bool
    ) async throws -> [ConnectionRecord] {
        try await core.recorder.wait(for: "the condition of the test", within: limit) { state in
            condition(state.records) ? state.records : nil
        }
    }
}

/// The behaviour of a server's connections.
public indirect enum FixtureBehaviour: Sendable {
    /// HTTP/1.1; the handler answers each request.
    case http(FixtureHandler)
    /// Exactly these steps.
    case bytes(ByteScript)
    /// A proxy, over TLS if the server has a certificate.
    case proxy(FixtureProxy)
    /// The first connection behaves as the first of these, and so on; later ones all as the last.
    case sequence([FixtureBehaviour])

    /// Returns the behaviour of the connection with this number.
    func forConnection(_ number: Int) -> FixtureBehaviour {
        guard case .sequence(let behaviours) = self else { return self }
        guard let last = behaviours.last else { return .bytes([]) }
        return (number < behaviours.count ? behaviours[number] : last).forConnection(number)
    }
}
