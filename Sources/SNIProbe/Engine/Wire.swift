internal import DirectCore
internal import DirectHTTP

/// One TCP connection of a probe, with its deadline and the first bytes that it received.
///
/// It is not synchronized: one task uses it at a time, which is why `@unchecked Sendable` is safe.
final class Wire: @unchecked Sendable {
    let socket: Socket
    let deadline: Instant
    /// The first bytes received. If the server does not use TLS, they identify its protocol.
    private(set) var firstBytes: [UInt8] = []

    private init(socket: Socket, deadline: Instant) {
        self.socket = socket
        self.deadline = deadline
    }

    /// Connects, and returns the connection or the reason why it failed.
    static func open(_ address: IPAddress, port: UInt16, on loop: EventLoop, by deadline: Instant) async
        -> Result<Wire, Refusal>
    {
        let socket: Socket
        do throws(Socket.StartFailure) {
            socket = try Socket.connecting(to: address, port: port, on: loop)
        } catch {
            switch error {
            case .address(let fault): return .failure(.badAddress("\(fault)"))
            case .system(let error): return .failure(.notConnected(error))
            }
        }
        let wire = Wire(socket: socket, deadline: deadline)
        let wake = await socket.output.wait(until: deadline, on: loop)
        if wake == .cancelled { return wire.gaveUp(.dropped) }
        do throws(SystemError) {
            try socket.finishConnecting()
        } catch {
            return wire.gaveUp(.notConnected(error))
        }
        // On a busy machine the server may have answered in time although this task runs after the deadline.
        if wake == .expired, !socket.isConnected { return wire.gaveUp(.silentTCP) }
        return .success(wire)
    }

    /// Closes the descriptor. The connection must not be used after this.
    func close() {
        socket.close()
    }

    /// Waits until the socket is readable or writable. Returns the reason to stop if the deadline has passed or the
    /// task was cancelled, otherwise `nil`.
    func wait(for point: WaitPoint) async -> Refusal? {
        switch await point.wait(until: deadline, on: socket.loop) {
        case .ready: nil
        case .expired: .silentTLS
        case .cancelled: .dropped
        }
    }

    /// Lets other probes run before the next step. Returns the reason to stop if the deadline has passed or the task
    /// was cancelled, otherwise `nil`.
    func takeTurn() async -> Refusal? {
        await Task.yield()
        if Task.isCancelled { return .dropped }
        return deadline <= socket.loop.now ? .silentTLS : nil
    }

    /// The transport for TLS over this socket. It holds an unretained reference: this object must outlive the TLS
    /// connection.
    var transport: TLSTransport {
        TLSTransport(
            context: Unmanaged.passUnretained(self).toOpaque(),
            read: receiveFromWire,
            write: sendToWire
        )
    }

    fileprivate func receive(into target: UnsafeMutableRawPointer, count: Int) -> Int {
        let outcome = socket.receive(into: target, count: count)
        if case .moved(let count) = outcome, firstBytes.count < Self.noted {
            let bytes = UnsafeRawBufferPointer(start: target, count: count)
            firstBytes += bytes.prefix(Self.noted - firstBytes.count)
        }
        return answer(outcome)
    }

    private func gaveUp(_ refusal: Refusal) -> Result<Wire, Refusal> {
        close()
        return .failure(refusal)
    }

    /// The number of first bytes that are kept: enough for a banner.
    private static let noted = 64
}

// These are globals, because closures inside the class crash the compiler (Swift 6.3.1).
private let receiveFromWire: TLSTransport.Read = { context, target, count in
    guard let context else { return TLSTransport.failure(errno: 0) }
    return Unmanaged<Wire>.fromOpaque(context)._withUnsafeGuaranteedRef { wire in
        wire.receive(into: target, count: count)
    }
}

private let sendToWire: TLSTransport.Write = { context, source, count in
    guard let context else { return TLSTransport.failure(errno: 0) }
    return Unmanaged<Wire>.fromOpaque(context)._withUnsafeGuaranteedRef { wire in
        answer(wire.socket.send(source, count: count))
    }
}

private func answer(_ outcome: Socket.Outcome) -> Int {
    switch outcome {
    case .moved(let count): count
    case .endOfStream: TLSTransport.endOfStream
    case .wouldBlock: TLSTransport.wouldBlock
    case .failed(let code): TLSTransport.failure(errno: code)
    }
}
