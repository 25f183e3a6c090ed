/// The result of one attempt of a TLS connection to perform its handshake, to read or to write. It never
/// waits, and says what to wait for.
///
/// Not the same type as a socket's or a connection's result, which have other errors: as one generic enum it
/// cost a small request 1,000 instructions more.
package enum TLSStep: Equatable {
    /// This many bytes were read, or accepted; 0 when a handshake is complete.
    case moved(Int)
    /// Input was used without a result so far, and there may be more. The caller checks its limits, lets
    /// other tasks run, and tries again. It must not wait for the transport.
    case again
    /// More input is needed from the transport.
    case wantsRead
    /// The transport has no room for output, which must be sent first.
    case wantsWrite
    /// The handshake waits for a verdict about the server's chain: ``TLSLayer/trial`` has to be held, off the
    /// event loop. Only a handshake returns this.
    case wantsVerdict
    /// The server sends no more bytes. The end is not clean without `close_notify`: data may be missing.
    case ended(clean: Bool)
    /// The attempt failed. After a handshake that failed, every later call fails with the same error.
    case failed(TLSError)
}
