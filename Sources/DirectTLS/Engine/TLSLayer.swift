/// One TLS connection over a transport, from handshake to close.
///
/// It has one owner at a time: it may move between threads, but two threads must never use it at the same
/// time. No call blocks. Each call makes the progress that the transport allows, and returns whether it needs
/// the transport to be readable or writable.
///
/// A connection is handshaking, open, or closed. Reads and writes fail until it is open. It is closed after
/// the first fatal error or after `close`; from then on the handshake, reads and writes fail with that error,
/// or with `notOpen`.
///
/// The two subclasses differ in when the connection opens: a ``TLSConnection`` opens when the server has
/// proved its identity, a ``SurveyConnection`` after any successful handshake. Everything after that is the
/// same for both, and is `final`.
package class TLSLayer: @unchecked Sendable {
    final let driver: SSLDriver

    final private(set) var phase = Phase.handshaking
    /// Whether this side has sent its close_notify.
    private final var hasFinishedSending = false
    /// The largest number of bytes in one record, which is also what one call to OpenSSL sends with partial
    /// writes.
    private static let maximumRecordSize = 16384
    /// The question about the server's chain that the handshake waits for the answer to, or has waited for;
    /// `nil` if no judge is asked, and once the connection is open.
    package final var trial: ChainTrial?
    /// The first fatal error, returned by all later calls.
    private final var failure: TLSError?

    /// The state of the connection.
    enum Phase {
        case handshaking
        case open
        /// After a fatal error or `close`. The OpenSSL objects exist until `deinit` frees them.
        case closed
    }

    /// Prepares a connection with the settings of an `SSL_CTX`. No bytes are sent yet.
    init(context: OpaquePointer, transport: any TLSTransport) throws(TLSError) {
        driver = try SSLDriver(context: context, transport: transport)
        try driver.setOwner(self)
    }

    /// OpenSSL's object, which the driver owns.
    final var ssl: OpaquePointer { driver.ssl }

    /// Continues the handshake. After its end data may be sent.
    package func handshake() -> TLSStep {
        handshake(rejection: nil) { () throws(TLSError) in }
    }

    /// Called when a fatal error ends a connection that was open.
    func willClose(after error: TLSError) {}

    /// The name of the peer, for errors of the layer above.
    var peerName: String { "" }

    /// Continues the handshake, and opens the connection at its end.
    ///
    /// - Parameters:
    ///   - rejection: The error of a failed verification. It takes precedence over OpenSSL's errors.
    ///   - verify: The checks after a handshake that are not part of OpenSSL's.
    final func handshake(
        rejection: @autoclosure () -> TLSError?,
        verify: () throws(TLSError) -> Void
    ) -> TLSStep {
        guard phase == .handshaking else { return noStep }
        switch driver.handshake(rejection: rejection()) {
        case .moved: break
        case .failed(let error): return .failed(fail(with: error))
        case let step: return step
        }
        do throws(TLSError) {
            try verify()
        } catch {
            return .failed(fail(with: error))
        }
        driver.beginData()
        phase = .open
        return .moved(0)
    }

    /// Reads data that has arrived, at most one record of 16 KiB. The work of one call is bounded, however
    /// much data arrives.
    package final func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        guard phase == .open, buffer.count > 0 else { return noStep }
        switch driver.read(into: buffer) {
        case .failed(let error): return .failed(fail(with: error))
        case let step: return step
        }
    }

    /// Accepts some of the bytes, at most one record, and sends them if the transport has room.
    ///
    /// Accepted bytes are sent before any others, even if the caller gives up: they are encrypted already.
    /// `hasUnsentBytes` tells whether some of them have not been sent yet, and `flush` sends them.
    package final func write(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        guard phase == .open, bytes.count > 0 else { return noStep }
        if driver.holdsUnsent {
            let step = flush()
            guard case .moved = step else { return step }
        }
        switch driver.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.maximumRecordSize))) {
        // Not fatal for reads: a peer that no longer reads may have sent a response before, which can still
        // be read.
        case .failed(.connectionLost(let errno)): return .failed(.connectionLost(errno: errno))
        case .failed(let error): return .failed(fail(with: error))
        case let step: return step
        }
    }

    /// Sends accepted bytes that have not been sent yet. `.moved` means that none are left.
    package final func flush() -> TLSStep {
        guard driver.holdsUnsent else { return .moved(0) }
        return phase == .open ? driver.flush() : noStep
    }

    /// Tells the server that no more data will follow. Data from the server can still be read. After
    /// `.wantsWrite`, call again.
    package final func finishSending() -> TLSStep {
        guard phase == .open, !hasFinishedSending else { return noStep }
        let flushed = flush()
        guard case .moved = flushed else { return flushed }
        let step = driver.shutDown()
        // A second call would make OpenSSL look for the server's close_notify, and fail on data that the
        // server still sends.
        if case .moved = step { hasFinishedSending = true }
        return step
    }

    /// Tells the server that no more data will follow, if the transport accepts it immediately. Reads and
    /// writes fail afterwards.
    package final func close() {
        guard phase == .open else { return phase = .closed }
        phase = .closed
        // A close_notify would wait behind what has not been sent yet.
        if !hasFinishedSending, !driver.holdsUnsent { driver.close() }
    }

    /// Whether accepted bytes have not been sent yet.
    package final var hasUnsentBytes: Bool { driver.holdsUnsent }

    /// Frees the record buffers while the connection is idle (about 33 KiB). OpenSSL allocates them again
    /// when needed.
    package final func releaseBuffers() { driver.releaseBuffers() }

    /// Whether bytes have been read from the transport that no `read` has returned yet.
    package final var hasPending: Bool { phase == .open && driver.hasPending }

    /// The result of a read or a write that is not made: no bytes if the connection is open, else the error.
    private final var noStep: TLSStep {
        phase == .open ? .moved(0) : .failed(failure ?? .notOpen)
    }

    /// Closes the connection because of a fatal error, and returns the error.
    private final func fail(with error: TLSError) -> TLSError {
        if phase == .open { willClose(after: error) }
        phase = .closed
        failure = error
        return error
    }
}

/// As the transport of another TLS connection, this one is the connection to a proxy.
extension TLSLayer: TLSTransport {
    package final func receive(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        let step = read(into: buffer)
        guard case .wantsRead = step else { return below(step) }
        // The bytes waited for may answer something that has not been sent yet. If that fails, a response may
        // have been sent before.
        return switch flush() {
        case .wantsWrite: .wantsWrite
        case .again: .again
        default: step
        }
    }

    package final func send(_ bytes: UnsafeRawBufferPointer) -> TLSStep { below(write(bytes)) }

    /// Returns a step of this layer as the layer above has to see it: a failure says whose it is, unless only
    /// the connection is lost.
    package final func below(_ step: TLSStep) -> TLSStep {
        switch step {
        case .failed(.connectionLost), .failed(.proxyConnection): step
        case .failed(let error): .failed(.proxyConnection(name: peerName, error))
        default: step
        }
    }
}
