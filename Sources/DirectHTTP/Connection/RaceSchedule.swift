internal import DirectIO

/// Says when to begin with which address: the next one a while after the one before, and at once when one
/// has failed (RFC 8305, section 5). A machine without sockets or a clock.
struct RaceSchedule {
    enum Step: Equatable {
        case begin(Int)
        /// Until then, or until one has ended.
        case wait(until: Instant)
        case over
    }

    private let count: Int
    /// How many of them, from the beginning, are not begun late.
    private let early: Int
    private let stagger: UInt64
    /// When the call has to be over: nothing begins after that.
    private let end: Instant
    private var begun = 0
    private var running = 0
    private var due = Instant(nanoseconds: 0)
    private var isDecided = false

    /// - Parameter late: how many of them, from the end, are begun only when all others have failed, or have had so long
    ///   that they will hardly connect any more.
    init(count: Int, late: Int = 0, stagger: UInt64, end: Instant) {
        self.count = count
        early = count - late
        self.stagger = stagger
        self.end = end
    }

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

    /// One has ended: the others no longer matter, or the next one is due.
    mutating func noteEnd(isDecisive: Bool) {
        running -= 1
        if begun < early { due = Instant(nanoseconds: 0) }
        if isDecisive { isDecided = true }
    }

    /// The longest delay that RFC 8305, section 8, recommends.
    private static let headStart: UInt64 = 2_000_000_000
}
