internal import DirectCore
internal import DirectIO

/// What was sent to a program or target, and what its system has not taken yet: a reset would drop the rest.
enum Delivery {
    /// Waits until the peer's system has all, or has taken nothing for so long.
    ///
    /// The system tells of no change; it is asked fifty times a second.
    ///
    /// - Parameter pause: Waits until that moment. Returns false if that is to end all.
    static func end(on socket: Socket, within limit: Duration, _ pause: (Instant) async -> Bool) async {
        var (left, deadline) = (Int.max, Instant.never)
        while true {
            let (now, count) = (socket.loop.now, socket.countOnTheWay)
            if count < left {
                (left, deadline) = (count, now.advanced(byNanoseconds: limit.clampedNanoseconds))
            }
            let next = now.advanced(byNanoseconds: 20_000_000).atMost(deadline)
            guard count > 0, now < deadline, await pause(next) else { return }
        }
    }

    /// The same where nothing else is to be done.
    static func end(on socket: Socket, within limit: Duration) async {
        await end(on: socket, within: limit) { await socket.waitForAny(until: $0) != .cancelled }
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
