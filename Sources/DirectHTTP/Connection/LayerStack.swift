internal import DirectIO
internal import DirectTLS

/// What bytes to a server pass through: a socket, and each TLS on it, agreed and checked.
///
/// Bytes are read and written at the top and nowhere else, so no layer can be left out. A layer is put on top of the
/// others and never taken away.
struct LayerStack: Sendable {
    let socket: Socket
    /// The uppermost TLS; `nil` where bytes go over the socket as they are.
    private(set) var top: TLSConnection?
    /// The TLS below it, the lowest first: that to a proxy.
    private var lower: [TLSConnection] = []

    init(_ socket: Socket) {
        self.socket = socket
    }

    /// What the next layer has to send and receive over.
    var transport: TLSTransport { top?.transport ?? socket.transport }

    /// Puts a layer on top, whose transport is that of this stack.
    mutating func push(_ layer: TLSConnection) {
        if let top { lower.append(top) }
        top = layer
    }

    /// Whether bytes have been taken from the socket that no read has returned yet.
    var hasPending: Bool {
        guard let top else { return false }
        return top.hasPending || lower.contains { $0.hasPending }
    }

    /// Whether a layer has taken bytes that it could not pass on yet.
    var hasUnsentBytes: Bool {
        guard let top else { return false }
        return top.hasUnfinishedRecord || lower.contains { $0.hasUnfinishedRecord }
    }

    /// Receives, and decrypts, what is there.
    func read(into target: UnsafeMutableRawBufferPointer) -> Connection.Step {
        guard let top else { return unsafe socket.step(readingInto: target) }
        return switch unsafe top.read(into: target) {
        case .bytes(let count): .moved(count)
        case .again: .again
        case .wantsRead: .wantsInput
        case .wantsWrite: .wantsRoom
        case .closeNotify: .ended(clean: true)
        case .truncated: .ended(clean: false)
        case .failed(let error): .failed(.tls(error))
        }
    }

    /// Encrypts, and sends, as much as there is room for.
    func write(_ source: UnsafeRawBufferPointer) -> Connection.Step {
        guard let top else { return unsafe socket.step(writing: source) }
        return unsafe Self.step(top.write(source))
    }

    /// Sends what the layers hold, the uppermost first: what it passes on, those below have to send.
    func flush() -> Connection.Step {
        guard let top else { return .moved(0) }
        for layer in [top] + lower.reversed() {
            let step = Self.step(layer.flush())
            guard case .moved = step else { return step }
        }
        return .moved(0)
    }

    /// Tells the peer that nothing more will be sent; it may still be heard.
    func finishSending() -> Connection.Step {
        guard let top else {
            socket.finishSending()
            return .moved(0)
        }
        let step = Self.step(top.finishSending())
        guard case .moved = step else { return step }
        return flush()
    }

    /// Gives back memory that is not needed while the connection idles.
    func releaseBuffers() {
        top?.releaseBuffers()
        for layer in lower { layer.releaseBuffers() }
    }

    /// Says goodbye if the peer still listens, and closes the descriptor.
    func close() {
        top?.close()
        for layer in lower.reversed() { layer.close() }
        socket.close()
    }

    private static func step(_ step: WriteStep) -> Connection.Step {
        switch step {
        case .bytes(let count): .moved(count)
        case .wantsRead: .wantsInput
        case .wantsWrite: .wantsRoom
        case .failed(let error): .failed(.tls(error))
        }
    }
}
