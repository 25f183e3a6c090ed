internal import DirectIO
internal import DirectTransport

/// One direction of a tunnel: bytes of a source on their way to a sink.
///
/// A step sends the bytes that are held, reads, sends, and holds the bytes that found no room. At the end of
/// the source it sends the rest, and then passes the end on, once. Nothing is read while bytes are held: a
/// slow sink slows its source down, and a flow never holds more than one read. An idle flow holds no memory.
struct Flow {
    enum State {
        case open
        /// The source has ended. The end is passed on once all is sent.
        case ended
        case done
        /// The sink takes no more. It may have sent its last words: the other direction goes on.
        case broken
        case refused
    }

    /// What one step has come to.
    enum Outcome: Int, Comparable {
        /// Nothing can be moved until an event of one of the sockets.
        case waits
        /// The system has no memory for more at the moment, and no event tells when it has.
        case isShort
        /// There may be more to move: others' turn first.
        case hasMore
        /// The source failed, or was reset.
        case sourceFailed
        /// The source says something that ends the tunnel.
        case refused

        static func < (one: Outcome, other: Outcome) -> Bool { one.rawValue < other.rawValue }
    }

    private var state = State.open
    /// Bytes that were read and found no room.
    private var held: ArraySlice<UInt8>
    /// Looks at the bytes; `nil` once it has seen enough, or if it is not wanted.
    private var look: HelloLook?
    /// Whether the held bytes wait for the look's answer.
    private var waits = false
    #if os(Linux)
    /// Bytes on their way through the kernel.
    private var pipe: SplicePipe?
    #endif
    /// Whether the source has filled a buffer at a time: then its bytes need not be copied.
    private var isBulk = false
    /// The number of bytes that were sent.
    private(set) var moved: UInt64 = 0

    /// - Parameters:
    ///   - first: Bytes that were read before.
    ///   - look: Looks at the bytes.
    init(first: ArraySlice<UInt8>, look: HelloLook? = nil) {
        (held, self.look) = (first, look)
        unsafe first.withUnsafeBytes { unsafe show($0) }
    }

    var isDone: Bool { state == .done || isBroken }
    var isBroken: Bool { state == .broken }

    /// Ends the direction, and frees what it holds.
    mutating func end(_ state: State, _ core: ProxyCore) {
        (self.state, held) = (state, [])
        #if os(Linux)
        if let pipe { core.pipes.give(pipe) }
        pipe = nil
        #endif
    }

    /// Moves all bytes that can be moved now.
    mutating func step(from source: LayerStack, to sink: LayerStack, _ core: ProxyCore) -> Outcome {
        let scratch = unsafe core.scratch
        for _ in 0..<Self.roundsPerTurn {
            guard !isDone else { return .waits }
            guard state != .refused else { return .refused }
            let bytes = waits ? [] : held
            if !waits { held = [] }
            if let outcome = unsafe bytes.withUnsafeBytes({ unsafe send($0, to: sink, core) }) {
                return outcome
            }
            if state == .ended {
                switch sink.finishSending() {
                case .wantsRead, .wantsWrite: break
                default: end(.done, core)
                }
                return .waits
            }
            #if os(Linux)
            switch splice(from: source, to: sink, core) {
            case nil: break
            case .hasMore?: continue
            case let outcome?: return outcome
            }
            #endif
            switch unsafe source.read(into: scratch) {
            case .moved(let count):
                if count == scratch.count { isBulk = true }
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: scratch[..<count])
                if look != nil {
                    unsafe show(bytes)
                    unsafe held += Array(bytes)
                } else if let outcome = unsafe send(bytes, to: sink, core) {
                    return outcome
                }
            case .again: continue
            case .wantsRead, .wantsWrite: return .waits
            case .ended(clean: true):
                // The beginning of a ClientHello, without its end.
                if waits { return .refused }
                (state, look) = (.ended, nil)
            case .ended(clean: false), .failed: return .sourceFailed
            }
        }
        return .hasMore
    }

    #if os(Linux)
    /// Moves bytes through the kernel, if the direction has many and both ends are plain sockets. Returns
    /// `nil` if they are to be copied, and `hasMore` if it has moved some.
    private mutating func splice(from source: LayerStack, to sink: LayerStack, _ core: ProxyCore) -> Outcome?
    {
        guard isBulk, look == nil, source.isPlain, sink.isPlain, let pipe = pipe ?? core.pipes.take() else {
            return nil
        }
        self.pipe = pipe
        defer {
            if pipe.count == 0 {
                core.pipes.give(pipe)
                self.pipe = nil
            }
        }
        if pipe.count == 0 {
            let socket = source.socket
            guard socket.input.isReady || socket.isHungUp else { return .waits }
            switch pipe.fill(from: socket) {
            case .moved: break
            case .endOfStream, .wouldBlock:
                // It stops for good at a byte of urgent data, and says that nothing is there, or that this is
                // the end (seen with Linux 6.18). recv(2) passes it over, and says how it is.
                socket.input.signal()
                return nil
            case .failed(let code):
                guard SystemError("splice", code: code).leavesConnectionOpen else { return .sourceFailed }
                socket.input.signal()
                return .isShort
            }
        }
        switch pipe.drain(to: sink.socket) {
        case .moved(let count):
            moved += UInt64(count)
            return .hasMore
        case .wouldBlock, .endOfStream: return .waits
        case .failed(let code): return outcome(of: .failed(.system(SystemError("splice", code: code))), core)
        }
    }
    #endif

    /// Shows bytes to the look, if there is one.
    private mutating func show(_ bytes: UnsafeRawBufferPointer) {
        guard let (answer, isDone) = unsafe look?.take(bytes) else { return }
        waits = answer == .waits
        if answer == .refuses { state = .refused }
        if isDone { look = nil }
    }

    /// Sends bytes, behind those that TLS holds, and holds those that find no room. Returns what that makes
    /// of the step; `nil` if nothing waits.
    private mutating func send(
        _ bytes: UnsafeRawBufferPointer,
        to sink: LayerStack,
        _ core: ProxyCore
    ) -> Outcome? {
        let (count, step) = unsafe sink.send(bytes)
        moved += UInt64(count)
        if count < bytes.count { held = unsafe Array(bytes[count...])[...] }
        return outcome(of: step, core)
    }

    private mutating func outcome(of sending: Connection.Step, _ core: ProxyCore) -> Outcome? {
        switch sending {
        case .moved: return nil
        case .again: return .hasMore
        case .wantsRead, .wantsWrite: return .waits
        case .ended, .failed:
            if sending.isOver { end(.broken, core) }
            return sending.isOver ? .waits : .isShort
        }
    }

    /// Enough for a megabyte by a scratch buffer of 64 KiB. Other tunnels of the loop wait meanwhile.
    private static let roundsPerTurn = 16
}
