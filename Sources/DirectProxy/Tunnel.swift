internal import DirectHello
internal import DirectIO
internal import DirectTransport

/// Bytes between a program and its target, in both directions, until both have ended.
///
/// It is a small state machine on the loop: one task waits for any event of the two sockets, lets both
/// flows move their bytes, and waits again.
final class Tunnel: @unchecked Sendable {
    private var relay: Relay
    private var up, down: Flow
    private let look: HelloLook?
    /// What is known of it; once it is over, all that there is.
    private(set) var report: TunnelReport

    /// Takes over the program's socket, and the bytes of it that are not used yet.
    ///
    /// - Parameters:
    ///   - early: Bytes of the target that were read before.
    ///   - report: The beginning of its report.
    ///   - look: Looks at the first bytes of the program.
    init(
        _ guest: Guest,
        to far: LayerStack,
        early: ArraySlice<UInt8>,
        report: TunnelReport,
        look: HelloLook? = nil
    ) {
        relay = Relay(guest.near, far, guest.core)
        (self.report, self.look) = (report, look)
        up = Flow(first: guest.ahead, look: look)
        down = Flow(first: early)
        guest.ahead = []
    }

    /// Moves bytes until the tunnel is over, and closes both ends.
    func run() async {
        report.ending = await move()
        report.sent += up.moved
        report.received += down.moved
        if let hello = look?.hello {
            (report.serverName, report.protocols) = (hello.serverName, hello.protocols)
            report.hasEncryptedHello = hello.hasEncryptedHello
        }
        up.end(.done, relay.core)
        down.end(.done, relay.core)
        if case .refused = report.ending {
            _ = unsafe Self.alert.withUnsafeBytes { unsafe relay.near.write($0) }
            relay.near.socket.finishSending()
            relay.near.close()
            relay.far.reset()
        } else {
            await relay.end(report.ending)
        }
    }

    /// The fatal alert `unrecognized_name` (RFC 6066, section 3).
    private static let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 112]
    private static let unreadable = "the server's name in the program's TLS cannot be read"

    private func move() async -> TunnelReport.Ending {
        let (near, far, core) = (relay.near, relay.far, relay.core)
        while true {
            let before = (up.moved, down.moved)
            let results = (up.step(from: near, to: far, core), down.step(from: far, to: near, core))
            if results.0 == .refused {
                guard let other = look?.other else { return .refused(403, Self.unreadable) }
                return .refused(403, "the program names \(other) in TLS, and another host to the proxy")
            }
            if results.0 == .sourceFailed { return .reset(byTarget: false) }
            if results.1 == .sourceFailed { return .reset(byTarget: true) }
            if up.isDone, down.isDone {
                return up.isBroken || down.isBroken ? .reset(byTarget: up.isBroken) : .complete
            }
            if let ending = await relay.wait(
                after: max(results.0, results.1),
                hasMoved: (up.moved, down.moved) != before,
                // With the program gone, or its last word said, nothing but the target keeps the tunnel.
                isLeft: up.isDone || near.socket.isHungUp
            ) {
                return ending
            }
        }
    }
}
