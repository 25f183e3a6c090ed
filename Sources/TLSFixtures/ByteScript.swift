/// The behaviour of one connection, step by step and byte for byte.
///
/// With TLS, the handshake is done before the first step that needs it. After the last step the connection is
/// closed cleanly (close_notify, then FIN).
public struct ByteScript: Sendable, ExpressibleByArrayLiteral {
    /// One step.
    public enum Step: Sendable {
        /// Sends these bytes.
        case bytes([UInt8])
        /// Sends these bytes one at a time, with a pause after each.
        case drip([UInt8], every: Duration)
        /// Sends these bytes `times` times in a row.
        case flood([UInt8], times: Int)
        /// Pauses for this duration.
        case pause(Duration)
        /// Waits until the test opens the gate.
        case wait(Gate)
        /// Reads up to and including an empty line, that is, one request head.
        case awaitHead
        /// Ends the script if the last head requires that the connection be closed, as every server must (RFC
        /// 9112, sections 6.1 and 9.6).
        case closeIfAsked
        /// Reads until the client has sent this many more bytes.
        case awaitBytes(Int)
        /// Waits until the socket is readable (with TLS: until a ClientHello has arrived) and reads nothing.
        case awaitArrival
        /// Reads until the client closes, then ends the script.
        case awaitClose
        /// Does the TLS handshake now.
        case handshake
        /// Sends bytes on the socket itself, bypassing TLS.
        case rawBytes([UInt8])
        /// Lets TLS send this many more bytes and silently drops the rest, for example to cut a handshake in
        /// two.
        case mute(afterBytes: Int)
        /// Asks a TLS 1.2 client to renegotiate, or a TLS 1.3 client to update its keys.
        case askForNewKeys
        /// Sends the first half of a TLS 1.3 session ticket. TLS sends nothing after it.
        case halfATicket
        /// Sends this many TLS 1.3 KeyUpdate messages, which update the server's own sending keys.
        case updateKeys(times: Int)
        /// Sends close_notify and keeps the socket open.
        case closeNotify
        /// Sends FIN without close_notify. Later steps can still read.
        case halfClose
        /// Sends FIN without close_notify and ends the script.
        case cut
        /// Sends RST and ends the script.
        case reset
        /// Neither reads nor sends until the server stops, whatever the client does.
        case stall
    }

    /// The steps in order.
    public var steps: [Step]

    /// Creates a script of these steps.
    public init(_ steps: [Step]) {
        self.steps = steps
    }

    /// Creates a script of these steps.
    public init(arrayLiteral elements: Step...) {
        steps = elements
    }

    /// Accepts the connection and never sends a byte. With TLS this is a stalled handshake.
    public static let silent: ByteScript = [.stall]

    /// Whether it sends one alert and nothing else.
    var isAlert: Bool {
        guard steps.count == 1, case .rawBytes(let bytes) = steps[0] else { return false }
        return bytes.first == 21 && bytes.count == 7
    }

    /// Reads one request head, sends exactly this text and closes the connection.
    public static func answer(_ text: String) -> ByteScript {
        [.awaitHead, .send(text)]
    }
}

extension ByteScript.Step {
    /// Sends this text as UTF-8.
    public static func send(_ text: String) -> Self { .bytes(Array(text.utf8)) }

    /// Sends these bytes.
    public static func send(_ bytes: [UInt8]) -> Self { .bytes(bytes) }

    /// Sends a fatal TLS alert with this number unencrypted, which is a valid answer to a ClientHello.
    public static func alert(_ number: UInt8) -> Self { .rawBytes([21, 3, 3, 0, 2, 2, number]) }
}

extension FixtureConnection {
    /// Runs the script to its end and returns how the connection ended.
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
        case .closeIfAsked where hasBeenAskedToClose: return .serverClosed
        case .closeIfAsked: break
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

    /// Reads a request head, and remembers of it only whether it asks for the end of the connection: it need
    /// not be a valid one.
    private func awaitHead() throws(ConnectionEnd) {
        var searched = 0
        while true {
            if let length = buffer.headLength(searchedTo: searched) {
                let head = drop(length)
                hasBeenAskedToClose = (try? RequestHead(head))?.endsConnection ?? false
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
