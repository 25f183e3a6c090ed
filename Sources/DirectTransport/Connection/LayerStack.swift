internal import DirectCore
package import DirectIO
package import DirectTLS

/// The layers that bytes to a server pass through: a socket, and each TLS connection on it, established and,
/// except in a survey, verified.
///
/// Bytes are read and written only at the top, so no layer can be left out. A layer is put on top of the
/// others and never removed.
struct LayerStack: Sendable {
    let socket: Socket
    /// The uppermost TLS connection; `nil` if bytes go over the socket as they are.
    private(set) var top: TLSLayer?
    /// The TLS connections below it, the lowest first: the one to a proxy.
    private var lower: [TLSLayer] = []

    init(_ socket: Socket) {
        self.socket = socket
    }

    /// Makes the layers of a connection that examines its server.
    init(_ socket: Socket, surveyed layer: SurveyConnection) {
        self.socket = socket
        top = layer
    }

    /// The transport that the next layer sends and receives over.
    var transport: TLSTransport { top?.transport ?? socket.transport }

    /// Puts a layer on top. Its transport must be that of this stack.
    mutating func push(_ layer: TLSConnection) {
        if let top { lower.append(top) }
        top = layer
    }

    /// Whether bytes have been taken from the socket that no read has returned yet.
    var hasPending: Bool {
        guard let top else { return false }
        return top.hasPending || lower.contains { $0.hasPending }
    }

    /// Whether a layer has accepted bytes that it could not pass on yet.
    var hasUnsentBytes: Bool {
        guard let top else { return false }
        return top.hasUnsentBytes || lower.contains { $0.hasUnsentBytes }
    }

    /// Receives and decrypts the bytes that are available.
    func read(into target: UnsafeMutableRawBufferPointer) -> Connection.Step {
        guard let top else { return unsafe socket.step(readingInto: target) }
        return unsafe Self.step(top.read(into: target))
    }

    /// Encrypts and sends as much as there is room for.
    func write(_ source: UnsafeRawBufferPointer) -> Connection.Step {
        guard let top else { return unsafe socket.step(writing: source) }
        return unsafe Self.step(top.write(source))
    }

    /// Sends the bytes that the layers hold, the uppermost first: the layers below send what it passes on.
    func flush() -> Connection.Step {
        guard let top else { return .moved(0) }
        for layer in [top] + lower.reversed() {
            let step = Self.step(layer.flush())
            guard case .moved = step else { return step }
        }
        return .moved(0)
    }

    /// Ends the sending direction. The peer may still send.
    func finishSending() -> Connection.Step {
        guard let top else {
            socket.finishSending()
            return .moved(0)
        }
        let step = Self.step(top.finishSending())
        guard case .moved = step else { return step }
        return flush()
    }

    /// Releases memory that an idle connection does not need.
    func releaseBuffers() {
        top?.releaseBuffers()
        for layer in lower { layer.releaseBuffers() }
    }

    /// Sends `close_notify` on each layer if the peer still listens, and closes the descriptor.
    @inline(never)
    func close() {
        top?.close()
        for layer in lower.reversed() { layer.close() }
        socket.close()
    }

    private static func step(_ step: TLSStep) -> Connection.Step {
        switch step {
        case .moved(let count): .moved(count)
        case .again: .again
        case .ended(let isClean): .ended(clean: isClean)
        case .wantsRead: .wantsRead
        case .wantsWrite: .wantsWrite
        case .failed(let error): .failed(.tls(error))
        // Only handshakes return it.
        case .wantsVerdict: .failed(.tls(.notOpen))
        }
    }
}

extension Socket {
    /// The transport of TLS over the socket.
    package var transport: TLSTransport {
        unsafe TLSTransport(
            owner: self,
            read: { owner, target, count in
                unsafe Unmanaged<Socket>.fromOpaque(owner)._withUnsafeGuaranteedRef { socket in
                    unsafe socket.receive(into: target, count: count).transportResult
                }
            },
            write: { owner, source, count in
                unsafe Unmanaged<Socket>.fromOpaque(owner)._withUnsafeGuaranteedRef { socket in
                    unsafe socket.send(source, count: count).transportResult
                }
            }
        )
    }
}

extension TLSLayer {
    /// The transport of TLS over this TLS connection, which is the one to a proxy.
    package var transport: TLSTransport {
        unsafe TLSTransport(
            owner: self,
            read: { owner, target, count in
                unsafe Unmanaged<TLSLayer>.fromOpaque(owner)._withUnsafeGuaranteedRef { below in
                    switch unsafe below.read(into: UnsafeMutableRawBufferPointer(start: target, count: count))
                    {
                    case .moved(let count): count
                    case .again: TLSTransport.again
                    // The bytes waited for may answer something that has not been sent yet.
                    case .wantsRead:
                        below.isFlushed ? TLSTransport.wouldBlock : TLSTransport.wouldBlockCrosswise
                    case .wantsWrite: TLSTransport.wouldBlockCrosswise
                    case .ended: TLSTransport.endOfStream
                    case .failed(let error): TLSTransport.failure(errno: error.errno)
                    case .wantsVerdict: TLSTransport.failure(errno: 0)
                    }
                }
            },
            write: { owner, source, count in
                unsafe Unmanaged<TLSLayer>.fromOpaque(owner)._withUnsafeGuaranteedRef { below in
                    switch unsafe below.write(UnsafeRawBufferPointer(start: source, count: count)) {
                    case .moved(let count): count
                    case .wantsWrite: TLSTransport.wouldBlock
                    case .wantsRead, .again: TLSTransport.wouldBlockCrosswise
                    case .ended, .wantsVerdict: TLSTransport.failure(errno: 0)
                    case .failed(let error): TLSTransport.failure(errno: error.errno)
                    }
                }
            }
        )
    }
}

extension TLSLayer {
    /// Whether everything has been passed on, after another attempt to do so.
    fileprivate var isFlushed: Bool {
        if case .moved = flush() { true } else { false }
    }
}

extension TLSError {
    /// The error number for the layer above; 0 if the error did not come from a system call.
    fileprivate var errno: Int32 {
        if case .connectionLost(let errno) = self { errno } else { 0 }
    }
}

extension Socket.Outcome {
    /// The number that stands for this result in a ``TLSTransport``.
    package var transportResult: Int {
        switch self {
        case .moved(let count): count
        case .endOfStream: TLSTransport.endOfStream
        case .wouldBlock: TLSTransport.wouldBlock
        case .failed(let code): TLSTransport.failure(errno: code)
        }
    }
}

extension Socket {
    /// Whether the loop has reported an event on the socket that has not been handled yet.
    var hasNews: Bool { input.isReady || isHungUp }

    /// Receives bytes from the socket.
    package func step(readingInto target: UnsafeMutableRawBufferPointer) -> Connection.Step {
        guard let base = target.baseAddress else { return .moved(0) }
        return switch unsafe receive(into: base, count: target.count) {
        case .moved(let count): .moved(count)
        case .endOfStream: .ended(clean: true)
        case .wouldBlock: .wantsRead
        case .failed(let code): .failed(.system(SystemError("recv", code: code)))
        }
    }

    /// Sends bytes on the socket.
    package func step(writing source: UnsafeRawBufferPointer) -> Connection.Step {
        guard let base = source.baseAddress else { return .moved(0) }
        return switch unsafe send(base, count: source.count) {
        case .moved(let count): .moved(count)
        case .endOfStream, .wouldBlock: .wantsWrite
        case .failed(let code): .failed(.system(SystemError("send", code: code)))
        }
    }
}
