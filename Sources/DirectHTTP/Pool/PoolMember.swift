internal import DirectHTTP1
internal import DirectIO

/// What the pool needs to know of a connection.
protocol PoolMember: AnyObject {
    /// The pool's own notes, written by it alone, under its user's lock.
    var stay: PoolStay { get set }
    /// Where it leads.
    var endpoint: Endpoint { get }
    /// When the connection was made.
    var birth: Instant { get }
    /// What the server said about keeping it, when it last answered.
    var keepAlive: KeepAliveHint? { get }
    /// Whether its address is a resolver's answer, so that it has to follow a changed one.
    var followsAnswers: Bool { get }

    /// Whether a request that wants to go this way may use it.
    func serves(_ route: Route) -> Bool
}

/// Which kept connections may serve a request, of those that lead where it may go.
enum KeptConnections: Sendable {
    case any
    /// All but those to these endpoints.
    case except([Endpoint])
    case none

    func include(_ member: some PoolMember) -> Bool {
        switch self {
        case .any: true
        case .except(let endpoints): !endpoints.contains(member.endpoint)
        case .none: false
        }
    }
}

/// What a pool notes down about a connection.
struct PoolStay {
    /// How often it has been lent.
    var turns = 0
    /// Since when it has been idle, or has been lent to whoever has it.
    var since = Instant(nanoseconds: 0)
    /// When it is lent no more, should it get no work until then.
    var expiry = Instant.never
    var isIdle = false
    /// Whether it is to be closed when it is given back.
    var isDismissed = false
}
