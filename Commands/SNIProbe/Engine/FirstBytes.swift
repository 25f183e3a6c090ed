internal import DirectCore
internal import DirectHTTP

/// The first bytes that a socket receives. If the server does not use TLS, they identify its protocol.
///
/// They are recorded between the socket and TLS, because OpenSSL does not return what it could not read. One
/// task uses the recorder at a time, as it does the socket, so `@unchecked Sendable` is safe.
final class FirstBytes: TLSTransport, @unchecked Sendable {
    private let socket: Socket
    private let signs: SignsOfLife
    private(set) var bytes: [UInt8] = []
    /// The number of bytes that were sent before the first came.
    private(set) var sentFirst = 0

    /// Creates a recorder, which counts the pieces that it receives.
    init(of socket: Socket, _ signs: SignsOfLife) {
        self.socket = socket
        self.signs = signs
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        let step: TLSStep = socket.receive(into: buffer)
        if case .moved(let count) = step {
            signs.add()
            if bytes.count < Self.limit { bytes += buffer.prefix(min(count, Self.limit - bytes.count)) }
        }
        return step
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        let step: TLSStep = socket.send(bytes)
        if case .moved(let count) = step, self.bytes.isEmpty { sentFirst += count }
        return step
    }

    /// Receives what else has arrived of a banner. OpenSSL reads no more than it needs to see that something
    /// is not TLS, which is the header of a record since version 3.2.
    func receiveRest() {
        guard !bytes.isEmpty, bytes.count < Self.limit else { return }
        withUnsafeTemporaryAllocation(byteCount: Self.limit, alignment: 1) { buffer in
            _ = receive(into: buffer)
        }
    }

    /// Enough for a banner.
    private static let limit = 64
}
