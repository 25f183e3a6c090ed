internal import DirectCore

/// Decides when a body arrives so fast that the system may hold back small arrivals, which saves wake-ups.
///
/// The means is SO_RCVLOWAT: a socket with a mark reports input only when so many bytes have arrived. Three
/// rules keep that from delaying anything that matters:
///
/// - It begins after several waits that were short and brought much, so a slow server's bytes are never held
///   back.
/// - A wait under the mark ends after `patience`, and then the mark is removed. So the end of a burst is seen
///   that much later, once, and a mark that the receive buffer cannot reach does no harm.
/// - It ends long before the body does, where the length is known. Where it is not, it begins only when so
///   much has been received that one `patience` at the end is small beside the time the body took.
///
/// The time limits of the body are those of the caller throughout. The mark is removed when the parser sees
/// the end of the response, so the next request on the connection never meets it.
struct ReceiveBatching {
    /// The bytes that must have arrived. Of 64 to 400 KiB, less than this cost more wake-ups, and more
    /// brought little.
    static let mark = 256 * 1024
    /// The nanoseconds that a wait under the mark may take.
    static let patience: UInt64 = 4_000_000

    /// The number of waits in a row that were short and brought much.
    private var fastWaits = 0
    /// The bytes that had been received when the last wait began.
    private var receivedBefore: UInt64 = 0

    /// Whether the next wait may hold back small arrivals.
    ///
    /// - Parameter left: The number of bytes to come; `nil` if it is unknown.
    func isWorthwhile(received: UInt64, left: UInt64?) -> Bool {
        guard fastWaits >= Self.fastWaitsNeeded else { return false }
        guard let left else { return received >= Self.receivedIfUnknown }
        return left >= Self.leftIfKnown
    }

    /// Notes a wait that ended with input.
    mutating func noteWait(nanoseconds: UInt64, received: UInt64) {
        // A clock that stands still, as in tests, tells nothing about speed, and would never end a wait under
        // the mark.
        let isFast =
            nanoseconds > 0 && nanoseconds < Self.shortWait
            && received - receivedBefore >= Self.bytesOfFastWait
        fastWaits = isFast ? min(fastWaits + 1, Self.fastWaitsNeeded) : 0
        receivedBefore = received
    }

    /// Notes that less than the mark arrived in time.
    mutating func noteSlowness() {
        fastWaits = 0
    }

    private static let fastWaitsNeeded = 4
    private static let shortWait: UInt64 = 1_000_000
    private static let bytesOfFastWait: UInt64 = 16 * 1024
    private static let leftIfKnown: UInt64 = 1024 * 1024
    private static let receivedIfUnknown: UInt64 = 16 * 1024 * 1024
}
