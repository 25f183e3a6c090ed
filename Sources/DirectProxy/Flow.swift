internal import DirectIO
internal import DirectTransport

/// One direction of a tunnel: bytes of a source on their way to a sink.
///
/// A step sends the bytes that are held, reads, sends, and holds the bytes that found no room. At the end of
/// the source it sends the rest, and then passes the end on, once. Nothing is read while bytes are held: a
/// slow sink slows its source down, and a flow never holds more than one read. An idle flow holds no memory.
struct Flow {
    private enum State { case open, ended, done, refused }

    /// What one step has come to.
    enum Outcome {
        /// Nothing can be moved until an event of one of the sockets.
        case waits
        /// There may be more to move: others' turn first.
        case hasMore
        /// The source failed, or was reset.
        case sourceFailed
        /// The source says something that ends the tunnel.
        case refused
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
    init(first: ArraySlice<UInt8> = [], look: HelloLook? = nil) {
        (held, self.look) = (first, look)
        unsafe first.withUnsafeBytes { unsafe show($0) }
    }

    /// Whether the end of the source has been passed on.
    var isDone: Bool { state == .done }

    /// Whether the sink takes no more. It may have sent its last words: the other direction goes on.
    private(set) var isBroken = false

    private mutating func breakOff(_ core: ProxyCore) -> Outcome {
        isBroken = true
        abandon(core)
        return .waits
    }

    /// Gives the direction up.
    mutating func abandon(_ core: ProxyCore) {
        state = .done
        held = []
        #if os(Linux)
        if let pipe { core.pipes.give(pipe) }
        pipe = nil
        #endif
    }

    #if os(Linux)
    /// Moves bytes through the kernel, if the direction has many and both ends are plain sockets. Returns
    /// `nil` if they are to be copied, and `hasMore` if it has moved some.
    private mutating func splice(from source: any TunnelEnd, to sink: any TunnelEnd, _ core: ProxyCore)
        -> Outcome?
    {
        let (near, far) = (source.socket, sink.socket)
        guard isBulk, look == nil, near === source, far === sink,
            let pipe = pipe ?? core.pipes.take()
        else { return nil }
        self.pipe = pipe
        defer {
            if pipe.count == 0 {
                core.pipes.give(pipe)
                self.pipe = nil
            }
        }
        if pipe.count == 0 {
            guard near.input.isReady || near.isHungUp else { return .waits }
            switch pipe.fill(from: near) {
            case .moved: break
            case .endOfStream, .wouldBlock:
                // It stops for good at a byte of urgent data, and says that nothing is there, or that this is
                // the end (seen with Linux 6.18). recv(2) passes it over, and says how it is.
                near.input.signal()
                return nil
            case .failed: return .sourceFailed
            }
        }
        switch pipe.drain(to: far) {
        case .moved(let count):
            moved += UInt64(count)
            return .hasMore
        case .wouldBlock, .endOfStream: return .waits
        case .failed: return breakOff(core)
        }
    }
    #endif

    /// Moves all bytes that can be moved now.
    mutating func step(
        from source: any TunnelEnd,
        to sink: any TunnelEnd,
        _ core: ProxyCore
    ) -> Outcome {
        let scratch = unsafe core.scratch
        for _ in 0..<Self.roundsPerTurn {
            guard state != .done else { return .waits }
            guard state != .refused else { return .refused }
            switch sink.flush() {
            case .failed: return breakOff(core)
            // Bytes that TLS holds go before the end.
            case .wantsRead where state == .ended, .wantsWrite where state == .ended: return .waits
            default: break
            }
            if !held.isEmpty, !waits {
                let bytes = held
                held = []
                guard unsafe bytes.withUnsafeBytes({ unsafe send($0, to: sink) }) else {
                    return breakOff(core)
                }
                guard held.isEmpty else { return .waits }
            }
            if state == .ended {
                switch sink.endSending() {
                case .wantsRead, .wantsWrite: break
                default: state = .done
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
                } else if unsafe !send(bytes, to: sink) {
                    return breakOff(core)
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

    /// Shows bytes to the look, if there is one.
    private mutating func show(_ bytes: UnsafeRawBufferPointer) {
        guard let (answer, isDone) = unsafe look?.take(bytes) else { return }
        waits = answer == .waits
        if answer == .refuses { state = .refused }
        if isDone { look = nil }
    }

    /// Sends bytes, and holds those that find no room. Returns false if the sink takes no more.
    private mutating func send(_ bytes: UnsafeRawBufferPointer, to sink: any TunnelEnd) -> Bool {
        let (sent, takesMore) = unsafe sink.send(bytes)
        moved += UInt64(sent)
        if takesMore, sent < bytes.count { held = unsafe Array(bytes[sent...])[...] }
        return takesMore
    }

    /// Enough for a megabyte by a scratch buffer of 64 KiB. Other tunnels of the loop wait meanwhile.
    private static let roundsPerTurn = 16
}
