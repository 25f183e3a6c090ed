internal import DirectHTTP

/// The event loops of a run. A second one is started if there are many probes.
///
/// A handshake takes half a millisecond of computation. If dozens of servers answer at the same time, their
/// handshakes are processed one after the other, and new probes cannot start before them.
struct Loops {
    private var started = 0
    private var second: EventLoop?

    /// The number of probes below which starting a thread takes longer than the probes.
    private static let few = 16

    /// Returns the loop for the next probe.
    mutating func next() -> EventLoop {
        started += 1
        guard started > Self.few, started.isMultiple(of: 2) else { return .shared }
        if let second { return second }
        let loop = EventLoop()
        second = loop
        return loop
    }
}
