internal import DirectHTTP

/// The threads that probes share: a second one as soon as there are many.
///
/// A handshake is half a millisecond of arithmetic. Where dozens of answers come at once those behind wait for those before,
/// and what could start in their place waits behind them all.
struct Loops {
    private var started = 0
    private var second: EventLoop?

    /// So many are done sooner than a thread is started.
    private static let few = 16

    /// Where the next probe shall run.
    mutating func next() -> EventLoop {
        started += 1
        guard started > Self.few, started.isMultiple(of: 2) else { return .shared }
        if let second { return second }
        let loop = EventLoop()
        second = loop
        return loop
    }
}
