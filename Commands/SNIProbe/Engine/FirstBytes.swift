internal import DirectCore
internal import DirectHTTP

/// The first bytes that a socket receives. If the server does not use TLS, they identify its protocol.
///
/// They are recorded between the socket and TLS, because OpenSSL does not return what it could not read. One
/// task uses the recorder at a time, as it does the socket, so `@unchecked Sendable` is safe.
final class FirstBytes: @unchecked Sendable {
    private let socket: Socket
    private let signs: SignsOfLife
    private(set) var bytes: [UInt8] = []

    /// Creates a recorder, which counts the pieces that it receives.
    init(of socket: Socket, _ signs: SignsOfLife) {
        self.socket = socket
        self.signs = signs
    }

    /// The transport for TLS over the socket.
    var transport: TLSTransport {
        TLSTransport(owner: self, read: receiveAndRecord, write: sendUnchanged)
    }

    fileprivate func receive(into target: UnsafeMutableRawPointer, count: Int) -> Int {
        let outcome = socket.receive(into: target, count: count)
        if case .moved(let count) = outcome {
            signs.add()
            if bytes.count < Self.limit {
                let received = UnsafeRawBufferPointer(start: target, count: count)
                bytes += received.prefix(Self.limit - bytes.count)
            }
        }
        return outcome.transportResult
    }

    fileprivate func send(_ source: UnsafeRawPointer, count: Int) -> Int {
        socket.send(source, count: count).transportResult
    }

    /// Receives what else has arrived of a banner. OpenSSL reads no more than it needs to see that something
    /// is not TLS, which is the header of a record since version 3.2.
    func receiveRest() {
        guard !bytes.isEmpty, bytes.count < Self.limit else { return }
        withUnsafeTemporaryAllocation(byteCount: Self.limit, alignment: 1) { buffer in
            if let target = buffer.baseAddress { _ = receive(into: target, count: buffer.count) }
        }
    }

    /// Enough for a banner.
    private static let limit = 64
}

// These are globals, because closures inside the class crash the compiler (Swift 6.3.1).
private let receiveAndRecord: TLSTransport.Read = { owner, target, count in
    Unmanaged<FirstBytes>.fromOpaque(owner)._withUnsafeGuaranteedRef {
        $0.receive(into: target, count: count)
    }
}

private let sendUnchanged: TLSTransport.Write = { owner, source, count in
    Unmanaged<FirstBytes>.fromOpaque(owner)._withUnsafeGuaranteedRef { $0.send(source, count: count) }
}
