/// What a connection does, step by step and byte for byte.
///
/// Under TLS the handshake is done before the first step that needs it; when the steps are used up,
/// the connection is closed in order.
public struct ByteScript: Sendable, ExpressibleByArrayLiteral {
    /// One step.
    public enum Step: Sendable {
        /// Sends these bytes.
        case bytes([UInt8])
        /// Sends these bytes one by one, with a pause after each.
        case drip([UInt8], every: Duration)
        /// Sends these bytes again and again.
        case flood([UInt8], times: Int)
        /// Does nothing for that long.
        case pause(Duration)
        /// Waits until the test opens the gate.
        case wait(Gate)
        /// Reads until an empty line: the head of a request.
        case awaitHead
        /// Reads until the client has sent that many more bytes.
        case awaitBytes(Int)
        /// Waits until something has arrived on the socket (under TLS a ClientHello), and leaves it unread.
        case awaitArrival
        /// Reads until the client closes, and ends.
        case awaitClose
        /// Does the TLS handshake now.
        case handshake
        /// Puts bytes on the socket itself, under TLS.
        case rawBytes([UInt8])
        /// TLS may send that many more bytes; the rest is silently dropped. (Cuts a handshake in two.)
        case mute(afterBytes: Int)
        /// Asks a TLS 1.2 client to renegotiate, or a TLS 1.3 client to update its keys.
        case askForNewKeys
        /// Sends the first half of a TLS 1.3 session ticket, and nothing more by TLS after it.
        case halfATicket
        /// Sends so many TLS 1.3 messages that update the server's own keys.
        case updateKeys(times: Int)
        /// Sends close_notify; the socket stays open.
        case closeNotify
        /// Sends FIN without close_notify; reading goes on.
        case halfClose
        /// FIN without close_notify, and the end.
        case cut
        /// RST, and the end.
        case reset
        /// Neither reads nor sends until the server stops.
        case stall
    }

    /// The steps in order.
    public var steps: [Step]

    /// These steps in order.
    public init(_ steps: [Step]) {
        self.steps = steps
    }

    /// These steps in order.
    public init(arrayLiteral elements: Step...) {
        steps = elements
    }

    /// Accepts, and never says a word: under TLS a stalled handshake.
    public static let silent: ByteScript = [.stall]

    /// Reads one request head and answers with exactly this text.
    public static func answer(_ text: String) -> ByteScript {
        [.awaitHead, .send(text)]
    }
}

extension ByteScript.Step {
    /// Sends this text.
    public static func send(_ text: String) -> Self { .bytes(Array(text.utf8)) }

    /// Sends these bytes.
    public static func send(_ bytes: [UInt8]) -> Self { .bytes(bytes) }

    /// Sends a fatal TLS alert of this number in the clear: an answer to a ClientHello.
    public static func alert(_ number: UInt8) -> Self { .rawBytes([21, 3, 3, 0, 2, 2, number]) }
}

extension FixtureConnection {
    /// Follows the script to its end.
    func run(_ script: ByteScript) throws(ConnectionEnd) -> ConnectionEnd {
        for step in script.steps {
            if let end = try run(step) { return end }
        }
        return .serverClosed
    }

    private func run(_ step: ByteScript.Step) throws(ConnectionEnd) -> ConnectionEnd? {
        switch step {
        case .bytes(let bytes): try send(bytes)
        case .drip(let bytes, let duration): try drip(bytes, every: duration)
        case .flood(let bytes, let times): for _ in 0..<times { try send(bytes) }
        case .pause(let duration): try pause(duration)
        case .wait(let gate): try wait(for: gate)
        case .awaitHead: try awaitHead()
        case .awaitBytes(let count): try awaitBytes(count)
        case .awaitArrival: _ = Sockets.waitReadable([wire.socket])
        case .awaitClose: return discardUntilEnd()
        case .handshake: try handshake()
        case .rawBytes(let bytes): try wire.sendRaw(bytes)
        case .mute(let count): wire.writeAllowance = count
        case .askForNewKeys: try wire.askForNewKeys()
        case .halfATicket: try wire.sendHalfATicket()
        case .updateKeys(let times): for _ in 0..<times { try wire.updateKeys() }
        case .closeNotify: try closeNotify()
        case .halfClose: wire.halfClose()
        case .cut: return .serverCut
        case .reset: return .serverReset
        case .stall: try stall()
        }
        return nil
    }

    private func drip(_ bytes: [UInt8], every duration: Duration) throws(ConnectionEnd) {
        for byte in bytes {
            try send([byte])
            try pause(duration)
        }
    }

    private func awaitHead() throws(ConnectionEnd) {
        var searched = 0
        while true {
            if let length = buffer.headLength(searchedTo: searched) {
                _ = drop(length)
                return
            }
            searched = buffer.count
            try fill()
        }
    }

    private func awaitBytes(_ count: Int) throws(ConnectionEnd) {
        var left = count
        while left > 0 { left -= try take(atMost: left).count }
    }

    private func closeNotify() throws(ConnectionEnd) {
        try handshake()
        wire.sendCloseNotify()
    }

    private func stall() throws(ConnectionEnd) {
        Bell.wait { core.isStoppingInsideBell }
        throw .serverStopped
    }
}
