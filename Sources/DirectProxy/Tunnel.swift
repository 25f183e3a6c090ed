internal import DirectCore
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

    /// Moves bytes until the tunnel is over, and closes both ends. Each idle tunnel holds the memory of this
    /// function: what it calls stays out of it, and it out of others.
    @inline(never)
    func run() async {
        while let turn = turn(), !isEnded(by: await relay.wait(after: turn)) {}
        await close()
    }

    @inline(never)
    private func isEnded(by ending: TunnelReport.Ending?) -> Bool {
        if let ending { report.ending = ending }
        return ending != nil
    }

    /// Reports what began at that moment, and has ended.
    @inline(never)
    func tell(since start: Instant) { relay.core.tell(report, since: start) }

    /// Lets both directions move what they can. Returns what that has come to; `nil` if it is over.
    @inline(never)
    private func turn() -> Relay.Turn? {
        let (near, far, core) = (relay.near, relay.far, relay.core)
        let before = (up.moved, down.moved)
        let results = (up.step(from: near, to: far, core), down.step(from: far, to: near, core))
        if results.0 == .refused {
            let words = look?.other.map { "the program names \($0) in TLS, and another host to the proxy" }
            report.ending = .refused(403, words ?? Self.unreadable)
        } else if results.0 == .sourceFailed {
            report.ending = .reset(byTarget: false)
        } else if results.1 == .sourceFailed {
            report.ending = .reset(byTarget: true)
        } else if up.isDone, down.isDone {
            report.ending = up.isBroken || down.isBroken ? .reset(byTarget: up.isBroken) : .complete
        } else {
            return Relay.Turn(
                outcome: max(results.0, results.1),
                hasMoved: (up.moved, down.moved) != before,
                // With the program gone, or its last word said, nothing but the target keeps the tunnel.
                isLeft: up.isDone || near.socket.isHungUp
            )
        }
        return nil
    }

    /// Completes the report, and closes both ends. The program is told if its tunnel is refused.
    @inline(never)
    private func close() async {
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
        }
        await relay.end(report.ending)
    }

    /// The fatal alert `unrecognized_name` (RFC 6066, section 3).
    private static let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 112]
    private static let unreadable = "the server's name in the program's TLS cannot be read"
}
