/// The result of one call of `handshake`.
package enum HandshakeStep: Equatable {
    /// The server has proved its identity: data may be sent.
    case done
    /// More input is needed from the transport.
    case wantsRead
    /// The transport has no room for output.
    case wantsWrite
    /// More work without waiting, as `ReadStep.again`.
    case again
    /// The handshake failed. Every later call fails with the same error.
    case failed(TLSError)
}

/// The result of one call of `read`.
package enum ReadStep: Equatable {
    /// This many bytes were read.
    case bytes(Int)
    /// Input was used without data for the caller, and there may be more input. The caller checks its limits,
    /// lets other tasks run, and reads again. It must not wait for the transport.
    case again
    /// More input is needed from the transport.
    case wantsRead
    /// The transport has no room for output, which must be sent first.
    case wantsWrite
    /// The server announced that it has sent all of its data.
    case closeNotify
    /// The stream ended without that announcement: data may be missing.
    case truncated
    /// The read failed.
    case failed(TLSError)
}

/// The result of one call of `write`.
package enum WriteStep: Equatable {
    /// This many bytes were accepted.
    case bytes(Int)
    /// Input from the transport is needed first.
    case wantsRead
    /// The transport has no room for output.
    case wantsWrite
    /// The write failed.
    case failed(TLSError)
}
