internal import DirectHTTP

/// The event loops of a run. A second one is started if there are many probes.
///
/// A handshake takes half a millisecond of computation. If dozens of servers answer at the same time, their
/// handshakes are processed one after the other, and new probes cannot start before them.
struct Loops {
    /// The loop of the first probes. All times of a run are those of its clock.
    let first: EventLoop
    private var started = 0
    /// The second loop of the process, which all runs share.
    private static let second = EventLoop()

    /// The number of probes below which starting a thread takes longer than the probes.
    private static let few = 16

    init(first: EventLoop) {
        self.first = first
    }

    /// Returns the loop for the next probe.
    mutating func next() -> EventLoop {
        started += 1
        guard usesSecond, started.isMultiple(of: 2) else { return first }
        return Self.second
    }

    /// The loops that have probes.
    var inUse: [EventLoop] { usesSecond ? [first, Self.second] : [first] }

    private var usesSecond: Bool {
        // A loop of the caller's may have a clock of its own, which a second one would not share.
        first === EventLoop.shared && started > Self.few
    }
}
