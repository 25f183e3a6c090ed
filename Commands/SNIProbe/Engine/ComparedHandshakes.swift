internal import DirectCore
internal import DirectHTTP

/// The handshakes of one probe with and without the name, in an order that several servers behind one address
/// cannot deceive.
///
/// The first two begin at the same time. If they differ, or the first is not what a client needs, six more
/// follow, each after the one before it: three without the name, then three with it. It is the one order in
/// which a load balancer shows all of two, three and four servers in turn to each kind of handshake; if it
/// takes the second of the first two before the first, all but one of four. As soon as the first has had two
/// answers, no cause is to be proved any more, and the series ends. No other probe of the process connects to
/// the address meanwhile.
///
/// If neither of the first two is answered for a second, both are made once more: of several servers they may
/// have met two that are silent.
///
/// All offer the same but the name. After the end of the first handshake the second has a second, or six
/// times as long as that took; what has not ended then counts as no answer. Where others of its kind were
/// answered, even later, one of the series has the time of the probe, and says nothing by a silence of less
/// than twice the slowest answer. One that is silent for a quarter of a second does not delay the next.
struct ComparedHandshakes {
    /// The result of the first handshake, with that of the request over its connection.
    struct Lead: Sendable {
        let handshake: Handshake
        var exchange: ExchangeOutcome?
        var total: Duration?
    }

    private(set) var lead: Lead?
    private(set) var second: Handshake?
    private(set) var firstAgain: [Handshake] = []
    private(set) var secondAgain: [Handshake] = []
    /// Whether there was too little time for the whole series.
    private(set) var isCutShort = false
    /// The nanoseconds that the series waited for the address, and took, which do not count.
    private(set) var waited: UInt64 = 0

    /// How the handshakes are made.
    struct Plan: Sendable {
        let loop: EventLoop
        /// The end of the probe.
        let end: Instant
        /// The nanoseconds that the series has beside: on a busy machine the first two may take all of it.
        let more: UInt64
        /// The nanoseconds that the comparison may take after a first handshake that took less than a sixth.
        let patience: UInt64
        /// The nanoseconds of the slowest answer of the address in this run.
        let slowest: @Sendable () -> UInt64
        /// The probe's share in the address, which has begun.
        let turn: AddressTurns.Turn
        let first: @Sendable () async -> Lead
        let second: @Sendable () async -> Handshake
        /// Makes the first or the second handshake again, until this moment at most.
        let again: @Sendable (Side, Instant) async -> Handshake
        /// Which are to be made again after these results.
        let confirmations: @Sendable (Handshake?, Handshake?) -> [Side]
        /// Whether handshakes of one kind had different answers.
        let vary: @Sendable ([Handshake]) -> Bool
        /// Gets all handshakes like the second, and whether those like the first vary, before another probe
        /// begins its series.
        let note: @Sendable ([Handshake], Bool) -> Void
    }

    enum Side: Sendable {
        case first, second
    }

    private enum Event: Sendable {
        case lead(Lead)
        case second(Handshake)
        /// No other probe connects, after so many nanoseconds.
        case alone(UInt64)
        /// The next of the series may begin.
        case quiet
        case again(Side, Int, Handshake)
        /// The handshake of this number has been silent for a while, or has ended.
        case silence(Int)
        /// The handshake of this number has had its time, if none of its kind was answered.
        case overdue(Int)
        /// One of the first two has not ended for a while. The last of these counts.
        case doubt(Int)
        /// The second has had its time.
        case end
    }

    private struct Pending {
        let begin: Instant
        var isOverdue = false
    }

    private let plan: Plan
    /// The handshakes of the series that have not begun.
    private var queue: [Side] = []
    /// Those that have not ended, by their numbers.
    private var pending: [Int: Pending] = [:]
    private var started = 0
    private var seriesStart: Instant?
    /// Until when one of the series may be answered.
    private var latest: Instant { max(ownEnd, seriesStart?.advanced(byNanoseconds: plan.more) ?? ownEnd) }
    private var ownEnd: Instant { plan.end.advanced(byNanoseconds: waited) }
    private var doubts = 0
    private var hasConfirmed = false
    /// Whether the second handshake has had its time.
    private var hasGivenUp = false
    private var isOver = false

    init(_ plan: Plan) {
        self.plan = plan
    }

    /// Makes the handshakes.
    mutating func run() async {
        await withTaskGroup(of: Event.self) { group in
            let plan = plan
            // In this order: each connects before it waits for the first time.
            group.addTask(executorPreference: plan.loop) { .lead(await plan.first()) }
            group.addTask(executorPreference: plan.loop) { .second(await plan.second()) }
            let isKnown = plan.slowest() > 0
            let rest = plan.end.since(plan.loop.now).clampedNanoseconds
            doubt(after: isKnown ? plan.patience / 2 : min(plan.patience, rest / 2), in: &group)
            while let event = await group.next() {
                take(event, in: &group)
                guard !isOver, isDone else { continue }
                isOver = true
                group.cancelAll()
            }
        }
        plan.turn.end()
    }

    private func patience(after handshake: Handshake) -> UInt64 {
        // A silence says nothing of how long an answer takes.
        handshake.isSilent ? plan.patience : max(plan.patience, 6 * handshake.nanoseconds)
    }

    private var isDone: Bool {
        guard lead != nil, second != nil || hasGivenUp, queue.isEmpty else { return false }
        return pending.values.allSatisfy(\.isOverdue) && (pending.isEmpty || !isSecondAnswered)
    }

    private var made: [Handshake] { [lead?.handshake, second].compactMap { $0 } + firstAgain + secondAgain }

    /// The nanoseconds of the slowest answer.
    private var slowest: UInt64 { made.filter { $0.answer != nil }.map(\.nanoseconds).max() ?? 0 }

    /// Whether any handshake like the second was answered.
    private var isSecondAnswered: Bool { second?.answer != nil || secondAgain.contains { $0.answer != nil } }

    private mutating func take(_ event: Event, in group: inout TaskGroup<Event>) {
        switch event {
        case .lead(let result):
            lead = result
            guard !isOver else { return }
            let limit = plan.loop.now.advanced(byNanoseconds: patience(after: result.handshake))
            wake(at: min(plan.end, limit), with: .end, in: &group)
            settle(after: result.handshake, in: &group)
        case .second(let handshake):
            // What was cancelled has not answered in its time.
            second = isOver ? handshake.asSilent : handshake
            if !isOver { settle(after: handshake, in: &group) }
        case .alone(let nanoseconds):
            guard !isOver else { return }
            waited += nanoseconds
            // What was confirmed meanwhile for another name need not be again.
            if hasConfirmed {
                (queue, seriesStart) = (plan.confirmations(lead?.handshake, second), plan.loop.now)
            }
            goOn(in: &group)
        case .quiet: if !isOver { beginNext(in: &group) }
        case .again(let side, let number, let handshake):
            let begin = pending.removeValue(forKey: number)?.begin ?? plan.loop.now
            var result = isOver ? handshake.asSilent : handshake
            // One server that is slow is none that is silent.
            let time = plan.loop.now.since(begin).clampedNanoseconds
            if result.isSilent, time < 2 * slowest { result.outcome = .failure(.cancelled) }
            if side == .first { firstAgain.append(result) } else { secondAgain.append(result) }
            if !isOver, number == started { goOn(in: &group) }
        case .silence(let number): if !isOver, number == started { goOn(in: &group) }
        case .overdue(let number): pending[number]?.isOverdue = true
        case .doubt(let number):
            if !isOver, number == doubts, lead == nil || second == nil { confirm(in: &group) }
        case .end: hasGivenUp = true
        }
    }

    /// Confirms results that are surprising. While one is missing, waits for it half of the time.
    private mutating func settle(after handshake: Handshake, in group: inout TaskGroup<Event>) {
        if lead != nil, second != nil { return confirm(in: &group) }
        doubt(after: patience(after: handshake) / 2, in: &group)
    }

    /// Waits for an answer so long, or twice as long as the slowest one has taken.
    private mutating func doubt(after time: UInt64, in group: inout TaskGroup<Event>) {
        doubts += 1
        let moment = plan.loop.now.advanced(byNanoseconds: max(time, 2 * plan.slowest()))
        if moment < plan.end { wake(at: moment, with: .doubt(doubts), in: &group) }
    }

    private mutating func confirm(in group: inout TaskGroup<Event>) {
        guard !hasConfirmed, queue.isEmpty else { return }
        let plan = plan
        queue = plan.confirmations(lead?.handshake, second)
        guard !queue.isEmpty else { return }
        started += 1
        // Two that are asked for again prove nothing, and need not be alone.
        let proves = queue.count > 2
        hasConfirmed = proves
        let silence = max(plan.patience / 2, 2 * plan.slowest())
        group.addTask(executorPreference: plan.loop) {
            .alone(proves ? await plan.turn.takeAlone(afterSilenceOf: silence) : await plan.turn.join())
        }
    }

    /// Goes on with the series. At its end others may connect again.
    private mutating func goOn(in group: inout TaskGroup<Event>) {
        started += 1
        let varies = plan.vary((lead.map { [$0.handshake] } ?? []) + firstAgain)
        if varies { queue = [] }
        // What begins too late for an answer would say nothing.
        let again = (firstAgain + secondAgain).filter { $0.answer != nil }.map(\.nanoseconds)
        let last = plan.loop.now.advanced(byNanoseconds: again.min() ?? 0)
        if !queue.isEmpty, last >= latest { (queue, isCutShort) = ([], hasConfirmed) }
        guard !queue.isEmpty else {
            plan.note((second.map { [$0] } ?? []) + secondAgain, varies)
            plan.turn.end()
            if let seriesStart { waited += plan.loop.now.since(seriesStart).clampedNanoseconds }
            seriesStart = nil
            if !hasConfirmed, let one = lead?.handshake ?? second { settle(after: one, in: &group) }
            return
        }
        // What has ended a moment ago, a load balancer may still count.
        let times = [lead?.handshake, second].compactMap { $0?.nanoseconds }
        let pause = min(Self.longestPause, 2 * (times.min() ?? 0))
        wake(at: plan.loop.now.advanced(byNanoseconds: pause), with: .quiet, in: &group)
    }

    private static let longestPause: UInt64 = 50_000_000

    /// Makes the next handshake of the series.
    private mutating func beginNext(in group: inout TaskGroup<Event>) {
        let (plan, side, number) = (plan, queue.removeFirst(), started)
        let time = [lead?.handshake, second].compactMap { $0 }.map(patience).min() ?? plan.patience
        let now = plan.loop.now
        // One that is silent has no more time than the probe, or the second.
        let end = min(latest, max(ownEnd, now.advanced(byNanoseconds: time)))
        pending[number] = Pending(begin: now)
        group.addTask(executorPreference: plan.loop) { .again(side, number, await plan.again(side, end)) }
        // A first one that is silent has the time of the probe in any case.
        if side == .second { wake(at: now.advanced(byNanoseconds: time), with: .overdue(number), in: &group) }
        // One that is silent for a quarter of that does not delay the next.
        let silence = max(time / 4, 2 * plan.slowest())
        wake(at: now.advanced(byNanoseconds: silence), with: .silence(number), in: &group)
    }

    private func wake(at moment: Instant, with event: Event, in group: inout TaskGroup<Event>) {
        let loop = plan.loop
        group.addTask(executorPreference: loop) {
            try? await loop.sleep(until: moment)
            return event
        }
    }
}

extension Handshake {
    /// This handshake, whose cancellation says that it has had its time.
    fileprivate var asSilent: Handshake {
        guard failure == .cancelled else { return self }
        var silent = self
        silent.outcome = .failure(tcpTime == nil ? .silentTCP : .silentTLS)
        return silent
    }

    var isSilent: Bool { failure == .silentTCP || failure == .silentTLS }
}
