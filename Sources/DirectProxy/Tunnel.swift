internal import DirectCore
internal import DirectHello
internal import DirectIO
internal import DirectTransport

/// Bytes between a program and its target, in both directions, until both have ended.
///
/// It is a small state machine on the loop: one task waits for any event of the two sockets, lets both
/// flows move their bytes, and waits again.
final class Tunnel: @unchecked Sendable {
    private let near, far: TunnelEnd
    private var up, down: Flow
    private let core: ProxyCore
    private let look: HelloLook?
    /// Its place among the tunnels; `nil` if another holds it.
    private let place: Room.Place?

    /// - Parameters:
    ///   - early: Bytes of the program that came behind the head.
    ///   - earlyBack: The same of the target.
    ///   - look: Looks at the first bytes of the program.
    init(
        near: TunnelEnd,
        far: TunnelEnd,
        in place: consuming Room.Place? = nil,
        early: ArraySlice<UInt8>,
        earlyBack: ArraySlice<UInt8> = [],
        look: HelloLook? = nil,
        core: ProxyCore
    ) {
        (self.near, self.far, self.core) = (near, far, core)
        self.look = look
        up = Flow(first: early, look: look)
        down = Flow(first: earlyBack)
        self.place = place
    }

    /// The program's ClientHello, if it has sent one.
    var hello: ClientHello? { look?.hello }

    /// The number of bytes that were passed on to the target, and to the program.
    var moved: (up: UInt64, down: UInt64) { (up.moved, down.moved) }

    /// Moves bytes until the tunnel is over, and closes both ends.
    func run() async -> TunnelReport.Ending {
        far.socket.partner = near.socket
        let ending = await move()
        far.socket.partner = nil
        up.abandon(core)
        down.abandon(core)
        if case .refused = ending {
            _ = unsafe Self.alert.withUnsafeBytes { unsafe near.write($0) }
            _ = near.finishSending()
            near.close()
            far.reset()
        } else if case .complete = ending {
            near.close()
            far.close()
        } else {
            let (first, last) = ending == .reset(byTarget: true) ? (far, near) : (near, far)
            first.reset()
            // What it had said before it broke off was acknowledged, and arrives without a proxy.
            if case .reset = ending { await Delivery.end(on: last.socket, within: core.limits.halfClosed) }
            last.reset()
        }
        return ending
    }

    /// The fatal alert `unrecognized_name` (RFC 6066, section 3).
    private static let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 112]
    private static let unreadable = "the server's name in the program's TLS cannot be read"

    private func move() async -> TunnelReport.Ending {
        var (before, deadline, wasLeft) = (UInt64.max, Instant.never, false)
        // The side that took no more.
        var broken: TunnelReport.Ending?
        while true {
            let results = (up.step(from: near, to: far, core), down.step(from: far, to: near, core))
            if results.0 == .refused {
                guard let other = look?.other else { return .refused(403, Self.unreadable) }
                return .refused(403, "the program names \(other) in TLS, and another host to the proxy")
            }
            // A sink that is gone may have sent its last words: they are passed on before the end.
            if results.0 == .sinkFailed {
                up.abandon(core)
                broken = .reset(byTarget: true)
            }
            if results.1 == .sinkFailed {
                down.abandon(core)
                broken = .reset(byTarget: false)
            }
            if results.0 == .sourceFailed { return .reset(byTarget: false) }
            if results.1 == .sourceFailed { return .reset(byTarget: true) }
            if up.isDone, down.isDone { return broken ?? .complete }
            let after = up.moved &+ down.moved
            // With the program gone, or its last word said, nothing but the target keeps the tunnel.
            let isLeft = up.isDone || near.socket.isHungUp
            if after != before || isLeft != wasLeft {
                (before, wasLeft) = (after, isLeft)
                let limit = isLeft ? core.limits.halfClosed : core.limits.idle
                deadline = core.loop.now.advanced(byNanoseconds: limit.clampedNanoseconds)
            }
            if results.0 == .hasMore || results.1 == .hasMore {
                await core.loop.yield()
                if Task.isCancelled { return .stopped }
                continue
            }
            switch await near.socket.waitForAny(until: deadline) {
            case .ready: continue
            case .expired: return .idle
            case .cancelled: return .stopped
            }
        }
    }
}
