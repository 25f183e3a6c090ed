internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// One connection to one address: its socket, the TLS on it, and the bytes read ahead of the parser.
///
/// It has one owner at a time, a call that holds it on lease or the pool, and the owner may run on any
/// thread. Nothing here is locked, except while a body is sent by a task of its own (see `beginDuplex`).
@safe
final class Connection: @unchecked Sendable {
    /// What one attempt to move bytes came to.
    enum Step {
        case moved(Int)
        /// Input was used up, nothing has come of it yet, and there may be more: look at the limits, let other tasks
        /// run, try again. There is nothing to wait for.
        case again
        case wantsInput
        case wantsRoom
        /// The peer will send nothing more; clean if nobody on the way can have cut it short.
        case ended(clean: Bool)
        case failed(HTTPError.Reason)
    }

    let socket: Socket
    let facts: ConnectionFacts
    /// Written by the pool, under its lock.
    var stay: PoolStay {
        get { unsafe notes }
        set { unsafe notes = newValue }
    }

    /// Under a lock nobody can overlap.
    @exclusivity(unchecked) private var notes = PoolStay()
    private let layers: LayerStack
    /// Set where each request is handed to a proxy whole.
    let forwarding: Forwarding?
    /// Whether there is a proxy between us and the server.
    let isProxied: Bool
    // There is one owner at a time, so Swift need not look for overlapping access while it runs: that would be
    // one instruction in twenty of a small request.
    @exclusivity(unchecked) private var reader: ResponseReader
    /// Where requests are written and responses are read: one after the other, so one piece of memory.
    @exclusivity(unchecked) private(set) var buffer = unsafe UnsafeMutableRawBufferPointer(
        start: nil,
        count: 0
    )
    /// The part of it that is received, decrypted and not yet parsed.
    private var unparsed = 0..<0
    /// Orders the reading and the writing task while there are two: OpenSSL bears one at a time. It guards no
    /// value, but the thread sanitizer misreads a lock of `Void`.
    private var duplex: Locked<Bool>?
    private var isClosed = false
    /// Whether a layer has bytes that wait for room, noted with each write.
    @exclusivity(unchecked) private var holdsBytes = false
    /// Whether it must not serve again, although nothing is wrong with its bytes.
    private(set) var isRetired = false

    init(
        _ layers: LayerStack,
        facts: ConnectionFacts,
        reader: consuming ResponseReader,
        forwarding: Forwarding? = nil
    ) {
        socket = layers.socket
        self.layers = layers
        self.forwarding = forwarding
        isProxied = facts.proxy != nil
        self.facts = facts
        unsafe self.reader = reader
    }

    deinit {
        close()
        unsafe buffer.deallocate()
    }

    var loop: EventLoop { socket.loop }

    /// This exchange is its last one.
    func retire() {
        isRetired = true
    }

    /// Gives the link to somebody else: it is no longer this connection's to close.
    func giveAway() {
        isClosed = true
    }

    /// From here on one task may read and another one write.
    func beginDuplex() {
        if duplex == nil { duplex = Locked(true) }
    }

    /// To be called when the writing task is done.
    func endDuplex() {
        duplex = nil
    }

    /// Says goodbye if the peer still listens, and closes the descriptor. Later attempts to move bytes fail.
    func close() {
        exclusively {
            guard !isClosed else { return }
            isClosed = true
            holdsBytes = false
            layers.close()
        }
    }

    /// Whether the peer has left the connection alone while it was idle.
    ///
    /// Anything it has to say now, be it a goodbye or an unsolicited response (RFC 9112, section 11.1), makes
    /// the connection useless; only TLS may have had news of its own, such as a session ticket.
    ///
    /// With `asksKernel` what the loop has not seen yet counts as well: a task that has kept the loop's thread to
    /// itself has kept the loop from looking.
    func isStillQuiet(asksKernel: Bool = false) -> Bool {
        if asksKernel, !mayHaveInput { socket.noticeUnseenInput() }
        guard mayHaveInput else { return true }
        reserve(Self.smallBuffer)
        while true {
            switch unsafe read(into: buffer) {
            // TLS gives up by itself where only messages of its own come.
            case .again: continue
            case .wantsInput: return true
            case .moved, .wantsRoom, .ended, .failed: return false
            }
        }
    }

    /// Throws if the server of a new connection has spoken, or gone, before it was sent a request: what it has to
    /// say can be no answer (RFC 9112, section 9.2).
    func checkSilence() throws(CallFailure) {
        guard mayHaveInput else { return }
        reserve(Self.smallBuffer)
        switch unsafe read(into: buffer) {
        case .again, .wantsInput, .wantsRoom, .moved(0): return
        case .moved: throw .failed(.response, .http(.responseBeforeRequest))
        case .ended: throw .failed(.response, .http(.closedBeforeResponse))
        case .failed(let reason): throw .failed(.response, reason)
        }
    }

    /// Whether the unparsed bytes begin with an end of line, as a late one of the response before would.
    var beginsWithLineEnd: Bool {
        guard let first = unsafe buffer[unparsed].first else { return false }
        return first == UInt8(ascii: "\r") || first == UInt8(ascii: "\n")
    }

    /// Gives memory back that an idle connection does not need; says whether there was any.
    func releaseBuffers() -> Bool {
        guard unparsed.isEmpty, unsafe buffer.baseAddress != nil else { return false }
        unsafe buffer.deallocate()
        unsafe buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        // Empty it is, but it may lie behind the end of what is no more.
        unparsed = 0..<0
        unsafe reader.releaseMemory()
        layers.releaseBuffers()
        return true
    }

    /// Whether bytes have been received that the parser has not used.
    var hasUnparsedBytes: Bool { !unparsed.isEmpty }

    /// Whether a read may well find something.
    var mayHaveInput: Bool {
        if socket.hasNews { return true }
        guard layers.top != nil else { return false }
        return exclusively { layers.hasPending }
    }

    /// Makes room for at least `count` bytes in `buffer`, without moving what is unparsed.
    func reserve(_ count: Int) {
        guard unsafe buffer.count < count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(count, Self.smallBuffer),
            alignment: 16
        )
        unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[0..<unparsed.upperBound]))
        unsafe buffer.deallocate()
        unsafe buffer = larger
    }

    /// Begins an exchange: the next head answers this method; `upgrade` allows it to switch protocols.
    func beginExchange(_ method: Method, upgrade: Bool = false) {
        unsafe reader.begin(method, upgrade: upgrade)
    }

    /// How the content of the current response ends; known once its head is there.
    var framing: ResponseFraming { unsafe reader.framing }

    /// Whether any byte of the response has come.
    var hasResponseBegun: Bool { unsafe reader.hasStarted }

    /// What the server said about keeping the connection, when it last answered.
    var keepAlive: KeepAliveHint? { unsafe reader.keepAlive }

    /// Whether another exchange may follow, as far as the parser knows.
    var reuse: ReuseVerdict { unsafe reader.reuse }

    /// The parser's next event; a range of content is one of `buffer`, good until the next read.
    func nextEvent() throws(HTTP1Error) -> ResponseReader.Event {
        let start = unparsed.lowerBound
        let step = try unsafe nextEvent(in: UnsafeRawBufferPointer(rebasing: buffer[unparsed]))
        unparsed = start + step.used..<unparsed.upperBound
        if case .content(let range) = step.event {
            return .content(start + range.lowerBound..<start + range.upperBound)
        }
        return step.event
    }

    /// The same for bytes that lie elsewhere.
    func nextEvent(in bytes: UnsafeRawBufferPointer) throws(HTTP1Error) -> ResponseReader.Step {
        try unsafe reader.next(bytes.assumingMemoryBound(to: UInt8.self).span)
    }

    /// Tells the parser that no more bytes will come; an error if there should.
    func endOfInput(clean: Bool) throws(HTTP1Error) {
        _ = try unsafe reader.endOfInput(clean: clean)
    }

    /// Reads more behind what is unparsed.
    func fill() -> Step {
        if unparsed.isEmpty {
            unparsed = 0..<0
        } else if unsafe unparsed.upperBound == buffer.count {
            makeRoom()
        }
        reserve(Self.smallBuffer)
        let free = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[unparsed.upperBound...])
        let step = unsafe read(into: free)
        if case .moved(let count) = step {
            unparsed = unparsed.lowerBound..<unparsed.upperBound + count
        }
        return step
    }

    /// Puts back bytes that were read past what the parser could use.
    func keep(unparsed bytes: UnsafeRawBufferPointer) {
        unparsed = 0..<0
        reserve(bytes.count)
        unsafe buffer.copyMemory(from: bytes)
        unparsed = 0..<bytes.count
    }

    /// The bytes behind those that were parsed, for who goes on without the parser.
    func takeUnparsed() -> [UInt8] {
        defer { unparsed = 0..<0 }
        return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: buffer[unparsed]))
    }

    /// Receives, and decrypts, what is there.
    func read(into target: UnsafeMutableRawBufferPointer) -> Step {
        exclusively {
            guard !isClosed else { return .ended(clean: false) }
            return unsafe layers.read(into: target)
        }
    }

    /// Encrypts, and sends, as much as there is room for. What it reports as moved goes out before all that is
    /// written later, but perhaps not at once: see `flush`.
    func write(_ source: UnsafeRawBufferPointer) -> Step {
        exclusively {
            guard !isClosed else { return .ended(clean: false) }
            let step = unsafe layers.write(source)
            holdsBytes = layers.hasUnsentBytes
            return step
        }
    }

    /// Whether bytes that were written still wait for room.
    var hasUnsentBytes: Bool { exclusively { holdsBytes } }

    /// Sends bytes that were written and still wait for room.
    func flush() -> Step {
        exclusively {
            guard !isClosed else { return .ended(clean: false) }
            let step = layers.flush()
            holdsBytes = layers.hasUnsentBytes
            return step
        }
    }

    /// Tells the peer that nothing more will be sent; it may still be heard.
    func finishSending() -> Step {
        exclusively {
            guard !isClosed else { return .ended(clean: false) }
            return layers.finishSending()
        }
    }

    private func makeRoom() {
        if unparsed.lowerBound > 0 {
            let moved = unsafe UnsafeRawBufferPointer(rebasing: buffer[unparsed])
            unsafe buffer.copyMemory(from: moved)
            unparsed = 0..<unparsed.count
        } else {
            // The parser's limits bound this: it refuses a head that is too long before it asks for more.
            unsafe reserve(buffer.count * 2)
        }
    }

    private func exclusively<Result>(_ body: () -> Result) -> Result {
        guard let duplex else { return body() }
        return duplex.withLock { _ in body() }
    }

    /// Enough for almost every head; larger bodies are read into memory of their own.
    private static let smallBuffer = 4096
}

extension Socket {
    /// Whether the loop has seen anything happen that nobody has looked at yet.
    var hasNews: Bool { input.isReady || isHungUp }

    func step(readingInto target: UnsafeMutableRawBufferPointer) -> Connection.Step {
        guard let base = target.baseAddress else { return .moved(0) }
        return switch unsafe receive(into: base, count: target.count) {
        case .moved(let count): .moved(count)
        case .endOfStream: .ended(clean: true)
        case .wouldBlock: .wantsInput
        case .failed(let code): .failed(.system(SystemError("recv", code: code)))
        }
    }

    func step(writing source: UnsafeRawBufferPointer) -> Connection.Step {
        guard let base = source.baseAddress else { return .moved(0) }
        return switch unsafe send(base, count: source.count) {
        case .moved(let count): .moved(count)
        case .endOfStream, .wouldBlock: .wantsRoom
        case .failed(let code): .failed(.system(SystemError("send", code: code)))
        }
    }
}
