package import DirectCore
package import DirectIO
package import DirectTLS

/// The layers that bytes to a server pass through: a socket, and each TLS connection on it, established and,
/// except in a survey, verified.
///
/// Bytes are read and written only at the top, so no layer can be left out. A layer is put on top of the
/// others and never removed.
package struct LayerStack: Sendable {
    package let socket: Socket
    /// The uppermost TLS connection; `nil` if bytes go over the socket as they are.
    private(set) var top: TLSLayer?
    /// The TLS connections below it, the lowest first: the one to a proxy.
    private var lower: [TLSLayer] = []

    package init(_ socket: Socket) {
        self.socket = socket
    }

    /// Makes the layers of a connection that examines its server.
    init(_ socket: Socket, surveyed layer: SurveyConnection) {
        self.socket = socket
        top = layer
    }

    /// The transport that the next layer sends and receives over.
    var transport: any TLSTransport { top ?? socket }

    /// Puts a layer on top. Its transport must be that of this stack.
    mutating func push(_ layer: TLSConnection) {
        if let top { lower.append(top) }
        top = layer
    }

    /// Whether there is no TLS, so that bytes may go by another call of the system.
    package var isPlain: Bool { top == nil }

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
    package func read(into target: UnsafeMutableRawBufferPointer) -> Connection.Step {
        guard let top else { return unsafe socket.step(readingInto: target) }
        return unsafe Self.step(top.read(into: target))
    }

    /// Encrypts and sends as much as there is room for.
    package func write(_ source: UnsafeRawBufferPointer) -> Connection.Step {
        guard let top else { return unsafe socket.step(writing: source) }
        return unsafe Self.step(top.write(source))
    }

    /// Sends the bytes that the layers hold, the uppermost first: the layers below send what it passes on.
    package func flush() -> Connection.Step {
        guard let top else { return .moved(0) }
        var step = top.flush()
        for layer in lower.reversed() {
            guard case .moved = step else { break }
            step = layer.below(layer.flush())
        }
        return Self.step(step)
    }

    /// Ends the sending direction. The peer may still send.
    package func finishSending() -> Connection.Step {
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
    package func close() {
        top?.close()
        for layer in lower.reversed() { layer.close() }
        socket.close()
    }

    /// Closes so that the peer does not take a part for the whole: without `close_notify`, whose absence
    /// tells of a cut where the reset does not arrive.
    package func reset() { socket.reset() }

    /// Sends as many bytes as there is room for, behind those that the layers hold. Returns their number, and
    /// the last step: `moved` if nothing waits any more.
    package func send(_ bytes: UnsafeRawBufferPointer) -> (count: Int, last: Connection.Step) {
        var sent = 0
        while true {
            var step = flush()
            if case .moved = step, sent < bytes.count {
                step = unsafe write(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
                if case .moved(let count) = step {
                    sent += count
                    continue
                }
            }
            if case .again = step { continue }
            return (sent, step)
        }
    }

    /// The same, and drops what was sent from the bytes.
    package func send(_ bytes: inout ArraySlice<UInt8>, counting moved: inout UInt64) -> Connection.Step {
        let (count, step) = unsafe bytes.withUnsafeBytes { unsafe send($0) }
        bytes = bytes.dropFirst(count)
        moved += UInt64(count)
        return step
    }

    /// Waits until the peer's system has all that was sent, or has taken nothing for so long: a reset would
    /// drop the rest. The system tells of no change; it is asked fifty times a second.
    ///
    /// - Parameter wait: Waits until that moment. Returns false if that is to end all.
    package func waitUntilDelivered(within limit: Duration, _ wait: (Instant) async -> Bool) async {
        var (left, deadline) = (Int.max, Instant.never)
        while true {
            let now = socket.loop.now
            // A record that a layer holds is on its way, too.
            let isHeld = if case .wantsWrite = flush() { true } else { false }
            let count = socket.countOnTheWay + (isHeld ? 1 : 0)
            if count < left {
                (left, deadline) = (count, now.advanced(byNanoseconds: limit.clampedNanoseconds))
            }
            let next = now.advanced(byNanoseconds: 20_000_000).atMost(deadline)
            guard count > 0, now < deadline, await wait(next) else { return }
        }
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

extension Connection.Step {
    /// Whether the system had no memory to send. The connection is as it was, and no event tells when there
    /// is some.
    package var isShort: Bool {
        if case .failed(.system(let error)) = self { error.leavesConnectionOpen } else { false }
    }

    /// Whether the peer takes no more.
    package var isOver: Bool {
        switch self {
        case .ended, .failed: !isShort
        case .moved, .again, .wantsRead, .wantsWrite: false
        }
    }
}

extension Socket: TLSTransport {
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        guard let base = buffer.baseAddress else { return .moved(0) }
        return switch unsafe receive(into: base, count: buffer.count) {
        case .moved(let count): .moved(count)
        case .endOfStream: .ended(clean: true)
        case .wouldBlock: .wantsRead
        case .failed(let code): .failed(.connectionLost(errno: code))
        }
    }

    package func send(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        guard let base = bytes.baseAddress else { return .moved(0) }
        return switch unsafe send(base, count: bytes.count) {
        case .moved(let count): .moved(count)
        case .endOfStream, .wouldBlock: .wantsWrite
        case .failed(let code): .failed(.connectionLost(errno: code))
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
        case .failed(let code): .failed(.system(.receiving(code: code)))
        }
    }

    /// Sends bytes on the socket.
    package func step(writing source: UnsafeRawBufferPointer) -> Connection.Step {
        guard let base = source.baseAddress else { return .moved(0) }
        return switch unsafe send(base, count: source.count) {
        case .moved(let count): .moved(count)
        case .endOfStream, .wouldBlock: .wantsWrite
        case .failed(let code): .failed(.system(.sending(code: code)))
        }
    }
}
