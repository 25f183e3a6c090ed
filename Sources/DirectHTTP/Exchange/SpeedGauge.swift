internal import DirectIO

/// Watches that a body keeps coming, or being taken.
///
/// Only time spent waiting for the peer counts: who reads slowly himself has no slow server.
struct SpeedGauge {
    private let watch: Timeouts.Speed.Watch
    /// Moved in all, and when the stretch began.
    private var moved: UInt64 = 0
    private var movedBefore: UInt64 = 0
    private var waited: UInt64 = 0

    init(_ watch: Timeouts.Speed.Watch) {
        self.watch = watch
    }

    /// Whether there is anything to watch for.
    var isOn: Bool { watch.nanoseconds != .max }

    /// How much longer to wait before the next look.
    var timeLeft: UInt64 { watch.nanoseconds - waited }

    mutating func count(_ more: Int) {
        moved &+= UInt64(more)
    }

    mutating func count(to total: UInt64) {
        moved = total
    }

    /// Enters a wait; an error if with it a stretch is over and has brought too little.
    mutating func enter(
        waitFrom start: Instant,
        to end: Instant,
        _ phase: HTTPError.Phase
    ) throws(CallFailure) {
        let (sum, overflow) = waited.addingReportingOverflow(end.nanoseconds &- start.nanoseconds)
        waited = overflow ? .max : sum
        guard waited >= watch.nanoseconds else { return }
        guard moved &- movedBefore >= watch.bytes else {
            let time = Duration.nanoseconds(Int64(clamping: watch.nanoseconds))
            throw .failed(phase, .tooSlow(Timeouts.Speed(bytes: Int(clamping: watch.bytes), in: time)))
        }
        (movedBefore, waited) = (moved, 0)
    }
}
