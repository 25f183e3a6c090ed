internal import DirectCore
package import DirectHTTP1
package import DirectIO
internal import DirectTLS

/// A connection to one address: its socket, the TLS layers on it, and the bytes read ahead of the parser.
///
/// It has one owner at a time, either a call that holds its lease or the pool, and the owner may run on any
/// thread. Nothing here is locked, except while a separate task sends a body (see `beginDuplex`).
///
/// The buffer holds requests while they are written and responses while they are read. `unparsed` is the
/// range of it that has been received, decrypted and not yet parsed.
///
/// Attempts to move bytes (`read`, `write`, `fill`, `flush`) never block. They return a `Step`, and
/// `wait(for:as:_:)` waits for whatever the step asks for. After `close`, attempts return `.ended`; after
/// `detach` the connection neither closes the layers nor moves bytes on them.
@safe
package final class Connection: @unchecked Sendable {
    /// The result of one attempt to move bytes.
    package enum Step {
        /// This many bytes were moved.
        case moved(Int)
        /// Input was consumed without a result so far, and there may be more: check the limits, let other
        /// tasks run, and try again. There is nothing to wait for.
        case again
        /// Nothing can be moved until the socket is readable.
        case wantsRead
        /// Nothing can be moved until the socket is writable.
        case wantsWrite
        /// The peer sends no more bytes. The end is not clean if TLS ended without `close_notify`, because
        /// the stream may have been truncated.
        case ended(clean: Bool)
        /// The connection failed.
        case failed(TransportError.Reason)
    }

    package let socket: Socket
    /// What is known of the connection since it was made.
    package let facts: ConnectionFacts
    /// The bytes of certificates that it keeps beyond those that a connection keeps as a rule. OpenSSL keeps
    /// the server's own certificate, parsed, in about eight times its bytes.
    let excess: Int
    /// The pool's state of this connection, written by the pool under its lock.
    var pooledState: PooledState {
        get { unsafe notes }
        set { unsafe notes = newValue }
    }

    /// Under a lock no two accesses overlap.
    @exclusivity(unchecked) private var notes = PooledState()
    private let layers: LayerStack
    /// Set if each request is sent to a proxy as a whole, which forwards it; `nil` otherwise.
    let forwarding: Forwarding?
    /// Whether there is a proxy between the client and the server.
    let isProxied: Bool
    // There is one owner at a time, so Swift need not check for overlapping access at run time: the checks
    // would be one instruction in twenty of a small request.
    @exclusivity(unchecked) private var reader: ResponseReader
    /// The memory in which requests are written and responses are read. One comes after the other, so one
    /// piece of memory serves both.
    @exclusivity(unchecked) package private(set) var buffer = unsafe UnsafeMutableRawBufferPointer(
        start: nil,
        count: 0
    )
    /// The range of `buffer` that is received, decrypted and not yet parsed.
    private var unparsed = 0..<0
    /// Serialises the reading and the writing task while there are two: OpenSSL allows one call at a time for
    /// a connection. In turn: a task that sends as fast as the socket takes it would keep the other one from
    /// the answer that is to stop it.
    private var duplex: FairLock?
    private var isClosed = false
    @exclusivity(unchecked) private var lateBytes = LateBytes()
    /// Whether a layer has bytes that wait for room, updated with each write.
    @exclusivity(unchecked) private var holdsBytes = false
    /// Whether it must not serve another request, although its byte stream is intact.
    var isRetired: Bool { unsafe hasBeenRetired }

    /// Written by the owner only, as the rest.
    @exclusivity(unchecked) private var hasBeenRetired = false
    /// Whether it has brought a response, so that the next request reuses it.
    var hasServed: Bool {
        get { unsafe hasBroughtResponse }
        set { unsafe hasBroughtResponse = newValue }
    }

    @exclusivity(unchecked) private var hasBroughtResponse = false

    init(
        _ layers: LayerStack,
        facts: ConnectionFacts,
        reader: consuming ResponseReader,
        forwarding: Forwarding? = nil
    ) {
        socket = layers.socket
        self.layers = layers
        self.forwarding = forwarding
        isProxied = facts.path.proxy != nil
        self.facts = facts
        excess = max(0, (facts.tls?.chain?.byteCount ?? 0) - CertificateChain.ordinaryByteCount)
        unsafe self.reader = reader
    }

    deinit {
        close()
        unsafe buffer.deallocate()
    }

    package var loop: EventLoop { socket.loop }

    /// Marks the current exchange as the last one.
    func retire() {
        unsafe hasBeenRetired = true
    }

    /// Hands the layers over to another owner, which closes them from now on.
    @discardableResult
    package func detach() -> LayerStack {
        isClosed = true
        return layers
    }

    /// Allows one task to read while another one writes.
    package func beginDuplex() {
        if duplex == nil { duplex = FairLock() }
    }

    /// Ends what `beginDuplex` began. Call it when the writing task is done.
    func endDuplex() {
        duplex = nil
    }

    /// Sends `close_notify` if the peer still listens, and closes the descriptor. Later attempts to move
    /// bytes fail.
    @inline(never)
    package func close() {
        exclusively {
            guard !isClosed else { return }
            isClosed = true
            unsafe holdsBytes = false
            layers.close()
        }
    }

    /// Returns whether the peer has left the idle connection alone, so that it can be reused.
    ///
    /// Anything it sends now, whether the end of the connection or an unsolicited response (RFC 9112, section
    /// 11.1), makes the connection unusable. Only TLS may have received messages of its own, such as a
    /// session ticket.
    ///
    /// With `asksKernel` input that the loop has not seen yet counts as well: a task that has occupied the
    /// loop's thread has kept the loop from looking.
    func isIdleAndAlive(asksKernel: Bool = false) -> Bool {
        if asksKernel, !mayHaveInput { socket.noticeUnseenInput() }
        guard mayHaveInput else { return true }
        reserve(Self.smallBuffer)
        while true {
            switch unsafe read(into: buffer) {
            // TLS fails by itself if only messages of its own keep coming.
            case .again: continue
            case .wantsRead: return true
            case .moved, .wantsWrite, .ended, .failed: return false
            }
        }
    }

    /// Throws if the server of a new connection has sent bytes, or closed it, before it was sent a request:
    /// such bytes cannot be a response (RFC 9112, section 9.2).
    func checkSilence() throws(TransportError) {
        guard mayHaveInput else { return }
        reserve(Self.smallBuffer)
        switch unsafe read(into: buffer) {
        case .again, .wantsRead, .wantsWrite, .moved(0): return
        case .moved: throw .failed(.response, .http(.responseBeforeRequest))
        case .ended: throw .failed(.response, .http(.closedBeforeResponse))
        case .failed(let reason): throw .failed(.response, reason)
        }
    }

    /// Whether the unparsed bytes begin with a line end, as a late one of the previous response would.
    var beginsWithLineEnd: Bool {
        guard let first = unsafe buffer[unparsed].first else { return false }
        return first == UInt8(ascii: "\r") || first == UInt8(ascii: "\n")
    }

    /// Releases memory that an idle connection does not need. Returns whether there was any.
    package func releaseBuffers() -> Bool {
        guard unparsed.isEmpty, unsafe buffer.baseAddress != nil else { return false }
        unsafe buffer.deallocate()
        unsafe buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        // The range is empty, but it may lie behind the end of the buffer that was just released.
        unparsed = 0..<0
        unsafe reader.releaseMemory()
        layers.releaseBuffers()
        return true
    }

    /// Returns the first of the unparsed bytes, at most `count` of them.
    package func peek(_ count: Int) -> [UInt8] {
        unsafe [UInt8](buffer[unparsed].prefix(count))
    }

    /// Whether bytes have been received that the parser has not consumed.
    var hasUnparsedBytes: Bool { !unparsed.isEmpty }
    /// The number of bytes that have been received and not parsed yet.
    var unparsedCount: Int { unparsed.count }

    /// Whether a read may return bytes or an end.
    var mayHaveInput: Bool {
        if socket.hasNews { return true }
        guard layers.top != nil else { return false }
        return exclusively { layers.hasPending }
    }

    /// Makes the next attempt to read ask the system, whatever the loop has reported.
    func expectInput() { socket.input.signal() }

    /// Makes `buffer` at least `count` bytes long. The unparsed bytes keep their place in it.
    package func reserve(_ count: Int) {
        guard unsafe buffer.count < count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(count, Self.smallBuffer),
            alignment: 16
        )
        unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[0..<unparsed.upperBound]))
        unsafe buffer.deallocate()
        unsafe buffer = larger
    }

    /// Begins an exchange: the next head answers this method, and with `upgrade` it may switch protocols.
    func beginExchange(_ method: HTTPMethod, upgrade: Bool = false) {
        unsafe reader.begin(method, upgrade: upgrade)
    }

    /// The framing of the current response's body, known once its head has been parsed.
    package var framing: ResponseFraming { unsafe reader.framing }

    /// Whether any byte of the response has been received.
    var hasResponseBegun: Bool { unsafe reader.hasStarted }

    /// The `Keep-Alive` hint of the latest response.
    package var keepAlive: KeepAliveHint? { unsafe reader.keepAlive }

    /// Whether another exchange may follow, as far as the parser can tell.
    package var reuse: ReuseVerdict { unsafe reader.reuse }

    /// Returns the parser's next event. A range of content is a range of `buffer`, valid until the next read.
    func nextEvent() throws(HTTP1Error) -> ResponseReader.Event {
        let start = unparsed.lowerBound
        let step = try unsafe nextEvent(in: UnsafeRawBufferPointer(rebasing: buffer[unparsed]))
        unparsed = start + step.used..<unparsed.upperBound
        if case .content(let range) = step.event {
            return .content(start + range.lowerBound..<start + range.upperBound)
        }
        return step.event
    }

    /// Returns the parser's next event for bytes outside of `buffer`.
    func nextEvent(in bytes: UnsafeRawBufferPointer) throws(HTTP1Error) -> ResponseReader.Step {
        let step = try unsafe reader.next(bytes.assumingMemoryBound(to: UInt8.self).span)
        // The next response may be smaller than the mark.
        if case .end = step.event { receiveMark = 1 }
        return step
    }

    /// The number of bytes that must have arrived before the reading task is woken.
    var receiveMark: Int {
        get { socket.receiveMark }
        set { if newValue != socket.receiveMark { socket.receiveMark = newValue } }
    }

    /// Tells the parser that no more bytes will come. Throws if the response is incomplete.
    package func endOfInput(clean: Bool) throws(HTTP1Error) {
        _ = try unsafe reader.endOfInput(clean: clean)
    }

    /// Reads more bytes into `buffer`, behind the unparsed ones.
    package func fill() -> Step {
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

    /// Puts back bytes that were read beyond those that the parser used.
    package func keep(unparsed bytes: UnsafeRawBufferPointer) {
        unparsed = 0..<0
        reserve(bytes.count)
        unsafe buffer.copyMemory(from: bytes)
        unparsed = 0..<bytes.count
    }

    /// Removes and returns the unparsed bytes, for a protocol that continues without the parser.
    package func takeUnparsed() -> [UInt8] {
        defer { unparsed = 0..<0 }
        return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: buffer[unparsed]))
    }

    /// Receives and decrypts the bytes that are available.
    package func read(into target: UnsafeMutableRawBufferPointer) -> Step {
        exclusively {
            guard !isClosed else { return .ended(clean: false) }
            let step = unsafe layers.read(into: target)
            unsafe lateBytes.note(step)
            return step
        }
    }

    /// Throws if the reading task is cancelled, or if its call is over and all was read that had arrived by
    /// then.
    func checkEnd(of limit: CallLimit, _ phase: TransportError.Phase) throws(TransportError) {
        try unsafe lateBytes.check(limit, phase, at: loop.now)
    }

    /// Encrypts and sends as much as there is room for. Bytes reported as moved are sent before all that are
    /// written later, but perhaps not immediately: see `flush`.
    package func write(_ source: UnsafeRawBufferPointer) -> Step {
        exclusively {
            guard !isClosed else { return .ended(clean: false) }
            let step = unsafe layers.write(source)
            unsafe holdsBytes = layers.hasUnsentBytes
            return step
        }
    }

    /// Whether bytes that were written still wait for room.
    var hasUnsentBytes: Bool { exclusively { unsafe holdsBytes } }

    /// Sends bytes that were written and still wait for room.
    package func flush() -> Step {
        exclusively {
            guard !isClosed else { return .ended(clean: false) }
            let step = layers.flush()
            unsafe holdsBytes = layers.hasUnsentBytes
            return step
        }
    }

    /// Ends the sending direction. The peer may still send.
    package func finishSending() -> Step {
        exclusively {
            guard !isClosed else { return .ended(clean: false) }
            return layers.finishSending()
        }
    }

    /// Makes room behind the unparsed bytes: moves them to the front, or doubles the buffer.
    private func makeRoom() {
        if unparsed.lowerBound > 0 {
            let moved = unsafe UnsafeRawBufferPointer(rebasing: buffer[unparsed])
            unsafe buffer.copyMemory(from: moved)
            unparsed = 0..<unparsed.count
        } else {
            // The parser's limits bound this: it refuses a head that is too long before it asks for more
            // bytes.
            unsafe reserve(buffer.count * 2)
        }
    }

    /// Runs the body under the lock for two tasks, if there are two.
    private func exclusively<Result>(_ body: () -> Result) -> Result {
        guard let duplex else { return body() }
        return duplex.withLock(body)
    }

    /// Enough for almost every head. Larger bodies are read into memory of their own.
    private static let smallBuffer = 4096
}

extension Connection {
    /// Waits until an attempt to move bytes that returned this step may be repeated.
    ///
    /// The reading task and the writing task wait at points of their own, for either direction: TLS may want
    /// the other direction, for example when keys are changed.
    ///
    /// - Throws: If the step was an end or a failure, or if the deadline passes or the task is cancelled.
    package func wait(
        for step: Step,
        as side: LoopHandle.Side,
        _ deadline: Deadline
    ) async throws(TransportError) {
        switch step {
        case .moved: return
        case .again:
            try await deadline.yield(on: loop)
        case .wantsRead:
            let wake = await socket.waitForInput(side, until: deadline.instant)
            // The next attempt to write may take bytes from the socket that the reader waits for.
            if case .writer = side { socket.wakeReader() }
            try deadline.check(wake)
        case .wantsWrite: try deadline.check(await socket.waitForOutput(side, until: deadline.instant))
        case .ended: throw .failed(deadline.phase, .connectionClosed)
        case .failed(let reason): throw .failed(deadline.phase, reason)
        }
    }

    /// Writes all bytes and flushes the last TLS record. The memory must not move meanwhile.
    package func writeAll(
        _ bytes: UnsafeRawBufferPointer,
        deadline: Deadline
    ) async throws(TransportError) {
        var deadline = deadline
        var sent = 0
        while sent < bytes.count {
            let step = unsafe write(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            if case .moved(let count) = step {
                sent += count
                deadline.extend(from: loop.now)
            } else {
                try await wait(for: step, as: .writer, deadline)
            }
        }
        try await flushAll(deadline)
    }

    /// Sends the bytes that the layers have accepted and not passed on yet.
    package func flushAll(_ deadline: Deadline) async throws(TransportError) {
        while hasUnsentBytes {
            let step = flush()
            if case .moved = step { continue }
            try await wait(for: step, as: .writer, deadline)
        }
    }
}
