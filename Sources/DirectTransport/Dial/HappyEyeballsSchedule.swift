internal import DirectCore
internal import DirectIO

/// Decides when each connection attempt begins: a delay after the previous one, and immediately when one has failed
/// (RFC 8305, section 5). A state machine without sockets or a clock.
struct HappyEyeballsSchedule {
    /// The next thing to do.
    enum Step: Equatable {
        /// Begin with the endpoint at this index.
        case begin(Int)
        /// Wait until this moment, or until an attempt has ended.
        case wait(until: Instant)
        /// Stop: the race is decided, or no address is left to try.
        case over
    }

    private let count: Int
    /// The number of endpoints, from the beginning, that are not late.
    private let early: Int
    private let stagger: UInt64
    /// The end of the call: no attempt begins after it.
    private let end: Instant
    private var begun = 0
    private var running = 0
    private var due = Instant(nanoseconds: 0)
    private var isDecided = false

    /// - Parameters:
    ///   - count: The number of endpoints.
    ///   - late: The number of endpoints, from the end, that begin only when all others have failed, or have had so
    ///     long that they will hardly connect any more.
    ///   - stagger: The delay between two attempts in nanoseconds.
    ///   - end: The end of the call.
    init(count: Int, late: Int = 0, stagger: UInt64, end: Instant) {
        self.count = count
        early = count - late
        self.stagger = stagger
        self.end = end
    }

    /// Returns what to do at this moment.
    mutating func next(at now: Instant) -> Step {
        guard !isDecided else { return .over }
        let mayBegin = begun < count && now < end
        if mayBegin, running == 0 || due <= now {
            begun += 1
            running += 1
            due = now.advanced(byNanoseconds: begun < early ? stagger : max(stagger, Self.headStart))
            return .begin(begun - 1)
        }
        guard running > 0 else { return .over }
        return .wait(until: mayBegin ? due : .never)
    }

    /// Notes that an attempt has ended. The race is over if that was decisive; otherwise the next attempt is due,
    /// unless it is a late one.
    mutating func noteEnd(isDecisive: Bool) {
        running -= 1
        if begun < early { due = Instant(nanoseconds: 0) }
        if isDecisive { isDecided = true }
    }

    /// The longest delay that RFC 8305, section 8, recommends.
    private static let headStart: UInt64 = 2_000_000_000
}
