internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// A connection, as far as the pool knows it.
protocol PoolMember: AnyObject {
    /// The pool's own state of the connection, written only by the pool, under its owner's lock.
    var pooledState: PooledState { get set }
    /// The address and port that it is connected to; `nil` for a Unix domain socket.
    var endpoint: Endpoint? { get }
    /// When the connection was made.
    var createdAt: Instant { get }
    /// The `Keep-Alive` hint of the latest response.
    var keepAlive: KeepAliveHint? { get }
    /// The bytes of certificates that it keeps beyond those that a connection keeps as a rule.
    var excess: Int { get }
    /// Whether its address is a resolver's answer, so that the connection is closed when the answer changes.
    var tracksResolver: Bool { get }

    /// Whether a request with this route may use the connection.
    func serves(_ route: Route) -> Bool
}
