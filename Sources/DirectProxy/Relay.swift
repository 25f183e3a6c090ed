internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// The connections of a program and of its target, between which one task moves bytes both ways: how it
/// waits, and how they end.
struct Relay {
    let near, far: LayerStack
    let core: ProxyCore
    private var deadline = Instant.never
    private var wasLeft: Bool?

    init(_ near: LayerStack, _ far: LayerStack, _ core: ProxyCore) {
        (self.near, self.far, self.core) = (near, far, core)
        // An event of either ends a wait.
        far.socket.partner = near.socket
    }

    /// What both directions have come to.
    struct Turn {
        let outcome: Flow.Outcome
        let hasMoved: Bool
        /// Whether nothing but the target keeps the connection: the program has gone, or has all that it
        /// waits for.
        let isLeft: Bool
    }

    /// Waits until there may be more to move. Returns why it is over; `nil` if it is not.
    mutating func wait(after turn: Turn) async -> TunnelReport.Ending? {
        if turn.hasMoved || turn.isLeft != wasLeft {
            wasLeft = turn.isLeft
            deadline = core.moment(after: turn.isLeft ? core.limits.halfClosed : core.limits.idle)
        }
        if turn.outcome == .hasMore {
            await core.loop.yield()
            return Task.isCancelled ? .stopped : nil
        }
        let next = turn.outcome == .isShort ? core.moment(after: Self.pause).atMost(deadline) : deadline
        switch await near.socket.waitForAny(until: next) {
        case .ready: return nil
        case .expired: return next < deadline ? nil : .idle
        case .cancelled: return .stopped
        }
    }

    /// Closes both connections, each with the end that its peer would see without a proxy.
    ///
    /// - Parameter isByEnd: Whether the one that has broken off has done so by an end of its sending.
    @inline(never)
    func end(_ ending: TunnelReport.Ending, isByEnd: Bool = false) async {
        switch ending {
        case .complete:
            near.close()
            far.close()
        case .reset(let byTarget):
            let (first, last) = byTarget ? (far, near) : (near, far)
            first.reset()
            // What it had said before was acknowledged, and arrives without a proxy.
            await last.waitUntilDelivered(within: core.limits.halfClosed) {
                await last.socket.waitForAny(until: $0) != .cancelled
            }
            if isByEnd { last.close() } else { last.reset() }
        default:
            near.reset()
            far.reset()
        }
    }

    private static let pause: Duration = .milliseconds(20)
}
