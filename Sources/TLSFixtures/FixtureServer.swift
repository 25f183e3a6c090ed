/// A server for tests, inside the test's own process: plain or TLS, on a loopback address.
///
/// It serves from `start` until `stop` or until the last reference goes. Each connection has a
/// thread of its own, so handlers may block; nothing here blocks Swift's cooperative pool except
/// `stop`, which waits for those threads to end (they are told to).
public final class FixtureServer: Sendable {
    private let core: ServerCore

    /// Starts an HTTP/1.1 server that answers every request with what the handler returns.
    public static func start(
        _ security: FixtureSecurity = .plain,
        on address: String = "127.0.0.1",
        port: UInt16 = 0,
        _ handler: @escaping FixtureHandler
    ) throws(FixtureError) -> FixtureServer {
        try start(security, on: address, port: port, behaviour: .http(handler))
    }

    /// Starts a server whose connections behave as told.
    public static func start(
        _ security: FixtureSecurity = .plain,
        on address: String = "127.0.0.1",
        port: UInt16 = 0,
        behaviour: FixtureBehaviour
    ) throws(FixtureError) -> FixtureServer {
        FixtureServer(try ServerCore(security, .serving(behaviour), on: address, port: port))
    }

    /// Starts equal servers on several addresses that share one port, which is free on all of them.
    public static func startOnSamePort(
        _ addresses: [String],
        _ security: FixtureSecurity = .plain,
        _ handler: @escaping FixtureHandler
    ) throws(FixtureError) -> [FixtureServer] {
        let port = try SharedPort(on: addresses)
        var servers: [FixtureServer] = []
        for address in addresses {
            servers.append(try start(security, on: address, port: port.number, handler))
        }
        return servers
    }

    /// Takes a port on which nothing listens: connecting is refused.
    public static func refusing(
        on address: String = "127.0.0.1",
        port: UInt16 = 0
    ) throws(FixtureError) -> FixtureServer {
        FixtureServer(try ServerCore(.plain, .refusing, on: address, port: port))
    }

    /// Takes a port whose queue is kept full: connecting hangs, as it does towards a dead machine.
    public static func unresponsive(
        on address: String = "127.0.0.1",
        port: UInt16 = 0
    ) throws(FixtureError) -> FixtureServer {
        FixtureServer(try ServerCore(.plain, .unresponsive, on: address, port: port))
    }

    private init(_ core: ServerCore) {
        self.core = core
    }

    deinit {
        core.stop()
    }

    /// The address the server is bound to.
    public var address: String { core.address }

    /// The port, also when it was chosen by the system.
    public var port: UInt16 { core.port }

    /// Address and port as a URL writes them: "127.0.0.2:4443", "[::1]:4443".
    public var authority: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// Closes the listener and every connection, and waits until their threads are gone.
    public func stop() {
        core.stop()
    }

    /// What the clients did, one record for each connection in the order of acceptance.
    public var records: [ConnectionRecord] { core.recorder.records }

    /// All requests of all connections in the order they arrived.
    public var requests: [RequestRecord] {
        records.flatMap(\.requests).sorted { $0.order < $1.order }
    }

    /// The next connection that has ended, each given once, in the order they ended.
    ///
    /// Waits as long as the test does, unless a limit is given: one that suits an idle machine fails on a busy one.
    public func nextRecord(within limit: Duration? = nil) async throws -> ConnectionRecord {
        try await core.recorder.wait(for: "the end of a connection", within: limit) { state in
            guard state.endedTaken < state.ended.count else { return nil }
            defer { state.endedTaken += 1 }
            return state.records[state.ended[state.endedTaken]]
        }
    }

    /// The next request whose whole content has arrived, each given once.
    public func nextRequest(within limit: Duration? = nil) async throws -> RequestRecord {
        try await core.recorder.wait(for: "a request", within: limit) { state in
            guard state.completedTaken < state.completed.count else { return nil }
            defer { state.completedTaken += 1 }
            let place = state.completed[state.completedTaken]
            return state.records[place.connection].requests[place.index]
        }
    }

    /// Suspends until the records satisfy the condition, and returns them.
    ///
    /// The condition runs on the server's threads whenever a record changes; it must not block.
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

/// What a server does with a connection.
public indirect enum FixtureBehaviour: Sendable {
    /// HTTP/1.1, each request answered by the handler.
    case http(FixtureHandler)
    /// Exactly these steps.
    case bytes(ByteScript)
    /// A proxy, over TLS if the server has a certificate.
    case proxy(FixtureProxy)
    /// The first connection behaves as the first of these, and so on; later ones all as the last.
    case sequence([FixtureBehaviour])

    /// What the connection of that number gets.
    func forConnection(_ number: Int) -> FixtureBehaviour {
        guard case .sequence(let behaviours) = self else { return self }
        guard let last = behaviours.last else { return .bytes([]) }
        return (number < behaviours.count ? behaviours[number] : last).forConnection(number)
    }
}
