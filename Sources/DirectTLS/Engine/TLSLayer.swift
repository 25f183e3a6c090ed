/// One TLS connection over a transport, from handshake to close.
///
/// It has one owner at a time: it may move between threads, but must never be used by two at once. No call waits.
/// Each call makes the progress that the transport allows and returns what it needs.
///
/// A connection is handshaking, open, or over. Reads and writes are refused until it is open. It is over after the
/// first fatal error or after `close`, and then the handshake, reads and writes fail with that error, or with
/// `notOpen`.
///
/// When it opens is up to the two subclasses: a ``TLSConnection`` when the server has proved its identity, a
/// ``SurveyConnection`` after any handshake. All that comes later is the same for both, and cannot be overridden.
package class TLSLayer: @unchecked Sendable {
    final let driver: SSLDriver

    final private(set) var phase = Phase.handshaking
    /// Whether our close_notify has been sent.
    private final var hasFinishedSending = false
    /// Bytes that a write has taken and OpenSSL could not send. They are offered to it again, and no other bytes
    /// before they are sent.
    private final var unfinishedRecord: [UInt8] = []
    /// Whether there are such bytes. Kept separately because every request asks: looking at an array of an object
    /// costs more than that.
    @exclusivity(unchecked) private final var holdsBytes = false
    /// The largest number of bytes in one record, which is also what one call to OpenSSL sends with partial writes.
    private static let recordSize = 16384
    /// The first fatal error, returned by all later calls.
    private final var failure: TLSError?

    /// The state of the connection.
    enum Phase {
        case handshaking
        case open
        /// Failed or closed: the pointers only remain to be freed.
        case over
    }

    /// Prepares a connection with the settings of an `SSL_CTX`. No bytes are sent yet.
    init(context: OpaquePointer, transport: TLSTransport) throws(TLSError) {
        driver = try SSLDriver(context: context, transport: transport)
        try driver.setOwner(self)
    }

    /// Borrowed from the driver.
    final var ssl: OpaquePointer { driver.ssl }

    /// Continues the handshake. After `.done` data may be sent.
    package func handshake() -> HandshakeStep {
        handshake(rejection: nil) { () throws(TLSError) in }
    }

    /// Continues the handshake, and opens the connection at its end.
    ///
    /// - Parameters:
    ///   - rejection: The error of a failed verification. It takes precedence over OpenSSL's errors.
    ///   - verify: The checks that OpenSSL leaves to its caller after a handshake.
    final func handshake(
        rejection: @autoclosure () -> TLSError?,
        verify: () throws(TLSError) -> Void
    ) -> HandshakeStep {
        guard phase == .handshaking else { return phase == .open ? .done : .failed(failure ?? .notOpen) }
        switch driver.handshake(rejection: rejection()) {
        case .done: break
        case .failed(let error): return .failed(end(error))
        case let step: return step
        }
        do throws(TLSError) {
            try verify()
        } catch {
            return .failed(end(error))
        }
        driver.forgetMessages()
        phase = .open
        return .done
    }

    /// Reads data that has arrived, at most one record of 16 KiB. Returns after bounded work, however much arrives.
    package final func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadStep {
        guard phase == .open, buffer.count > 0 else { return nothingRead }
        switch driver.read(into: buffer) {
        case .failed(let error): return .failed(end(error))
        case let step: return step
        }
    }

    /// Takes some of the bytes, at most one record, and sends them if there is room.
    ///
    /// Bytes that were taken are sent before any others, even if the caller gives up: OpenSSL may have encrypted them
    /// already. `hasUnfinishedRecord` tells whether some of them still wait for room, and `flush` sends them.
    package final func write(_ bytes: UnsafeRawBufferPointer) -> WriteStep {
        guard phase == .open, bytes.count > 0 else { return nothingWritten }
        if holdsBytes {
            let step = flush()
            guard case .bytes = step else { return step }
        }
        let record = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.recordSize))
        switch writeOnce(record) {
        case .wantsRead, .wantsWrite:
            unfinishedRecord = [UInt8](record)
            holdsBytes = true
            return .bytes(record.count)
        case let step: return step
        }
    }

    /// Sends bytes that were taken and still wait for room. `.bytes` means that there are none left.
    package final func flush() -> WriteStep {
        while holdsBytes {
            guard phase == .open else { return nothingWritten }
            let step = unfinishedRecord.withUnsafeBytes { writeOnce($0) }
            guard case .bytes(let count) = step else { return step }
            // Fewer bytes if the peer has asked for smaller records.
            unfinishedRecord.removeFirst(min(count, unfinishedRecord.count))
            holdsBytes = !unfinishedRecord.isEmpty
        }
        return .bytes(0)
    }

    private final func writeOnce(_ bytes: UnsafeRawBufferPointer) -> WriteStep {
        switch driver.write(bytes) {
        // A peer that no longer reads may have responded before: data that has arrived can still be read.
        case .failed(.connectionLost(let errno)): return .failed(.connectionLost(errno: errno))
        case .failed(let error): return .failed(end(error))
        case let step: return step
        }
    }

    /// Tells the server that no more data will follow. Data from the server can still be read. After `.wantsWrite`,
    /// call again.
    package final func finishSending() -> WriteStep {
        guard phase == .open, !hasFinishedSending else { return nothingWritten }
        let flushed = flush()
        guard case .bytes = flushed else { return flushed }
        let step = driver.shutDown()
        // A second call would make OpenSSL look for the server's close_notify, and fail on data that the server still
        // sends.
        if case .bytes = step { hasFinishedSending = true }
        return step
    }

    /// Tells the server that no more data will follow, if the transport accepts it immediately. Reads and writes fail
    /// afterwards.
    package final func close() {
        guard phase == .open else { return phase = .over }
        phase = .over
        // A close_notify in the middle of a record would be a broken record.
        if !hasFinishedSending, !holdsBytes { driver.close() }
    }

    /// Whether bytes were taken that still wait for room.
    package final var hasUnfinishedRecord: Bool { holdsBytes }

    /// Frees the record buffers while the connection is idle (about 33 KiB). OpenSSL allocates them again when
    /// needed.
    package final func releaseBuffers() { driver.releaseBuffers() }

    /// Whether bytes were taken from the transport that no read has returned yet.
    package final var hasPending: Bool { phase == .open && driver.hasPending }

    private final var nothingRead: ReadStep {
        phase == .open ? .bytes(0) : .failed(failure ?? .notOpen)
    }

    private final var nothingWritten: WriteStep {
        phase == .open ? .bytes(0) : .failed(failure ?? .notOpen)
    }

    private final func end(_ error: TLSError) -> TLSError {
        phase = .over
        failure = error
        return error
    }
}
