internal import DirectCore
internal import DirectIO

/// What was sent to a program or target, and what its system has not taken yet: a reset would drop the rest.
///
/// The system tells of no change; it is asked fifty times a second. Whatever the peer takes puts the deadline
/// off.
struct Delivery {
    private let socket: Socket
    private let limit: UInt64
    private var left = Int.max
    private var deadline = Instant.never

    init(on socket: Socket, within limit: Duration) {
        (self.socket, self.limit) = (socket, limit.clampedNanoseconds)
    }

    /// Whether the peer's system has all, or has taken nothing for too long.
    var isComplete: Bool {
        mutating get {
            let now = socket.loop.now
            let count = socket.countOnTheWay
            if count < left { (left, deadline) = (count, now.advanced(byNanoseconds: limit)) }
            return count == 0 || now >= deadline
        }
    }

    /// When to look again.
    var nextLook: Instant { socket.loop.now.advanced(byNanoseconds: 20_000_000).atMost(deadline) }

    /// Waits for the end of it.
    static func end(on socket: Socket, within limit: Duration) async {
        var delivery = Delivery(on: socket, within: limit)
        while !delivery.isComplete {
            if case .cancelled = await socket.waitForAny(until: delivery.nextLook) { return }
        }
    }
}

/// How long a task that moves bytes between two sockets waits for the next one.
struct Patience {
    private let core: ProxyCore
    private var deadline = Instant.never
    private var wasLeft: Bool?

    init(_ core: ProxyCore) {
        self.core = core
    }

    /// Waits for an event of the socket or its partner; if bytes have moved and there may be more, lets the
    /// others of the loop have their turn. Returns why it is over; `nil` if it is not.
    ///
    /// - Parameter isLeft: Whether nothing but the target keeps the connection: the program has gone, or has
    ///   all that it waits for.
    mutating func wait(
        on socket: Socket,
        hasMoved: Bool,
        hasMore: Bool,
        isLeft: Bool
    ) async -> TunnelReport.Ending? {
        if hasMoved || isLeft != wasLeft {
            wasLeft = isLeft
            deadline = core.moment(after: isLeft ? core.limits.halfClosed : core.limits.idle)
        }
        if hasMore {
            await core.loop.yield()
            return Task.isCancelled ? .stopped : nil
        }
        switch await socket.waitForAny(until: deadline) {
        case .ready: return nil
        case .expired: return .idle
        case .cancelled: return .stopped
        }
    }
}
