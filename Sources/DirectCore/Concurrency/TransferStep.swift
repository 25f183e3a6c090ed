/// The result of one attempt to move bytes, on a socket or through TLS. It never waits, and says what to wait
/// for.
///
/// A handshake moves no bytes of the caller: when it is complete, it has moved 0.
package enum TransferStep<Failure> {
    /// This many bytes were read, or accepted.
    case moved(Int)
    /// Input was used without a result so far, and there may be more. The caller checks its limits, lets
    /// other tasks run, and tries again. There is nothing to wait for.
    case again
    /// Nothing can be moved until there is input.
    case wantsRead
    /// Nothing can be moved until there is room for output.
    case wantsWrite
    /// The peer sends no more bytes. The end is not clean if TLS ended without `close_notify`: data may be
    /// missing.
    case ended(clean: Bool)
    /// The attempt failed.
    case failed(Failure)

    /// Returns the same result with another error.
    @inlinable
    @inline(__always)
    package func mapFailure<Other>(_ transform: (Failure) -> Other) -> TransferStep<Other> {
        switch self {
        case .moved(let count): .moved(count)
        case .again: .again
        case .wantsRead: .wantsRead
        case .wantsWrite: .wantsWrite
        case .ended(let isClean): .ended(clean: isClean)
        case .failed(let failure): .failed(transform(failure))
        }
    }
}

extension TransferStep: Equatable where Failure: Equatable {}
