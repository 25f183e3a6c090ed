internal import DirectCore
internal import DirectHTTP

/// The handshakes of one probe with and without the name, in an order that several servers behind one address
/// cannot deceive.
///
/// The first two begin at the same time. If they differ, or the first is not what a client needs, three more
/// pairs follow, each handshake after the one before it: without, with, without, with, with, without. A load
/// balancer then shows both of two servers in turn to each kind of handshake, whichever of the first two it
/// takes first, and all of four unless it takes them the other way round. As soon as the first has had two
/// answers, no cause is to be proved any more, and the series ends. No other probe of the process connects to
/// the address meanwhile.
///
/// All offer the same but the name. After the end of the first handshake the second has a second, or six
/// times as long as that took; what has not ended then counts as no answer. Where others of its kind were
/// answered, one has the time of the probe. One that is silent for a quarter of a second does not delay the
/// next.
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
    /// The nanoseconds that the series waited for the address, which do not count.
    private(set) var waited: UInt64 = 0

    /// How the handshakes are made.
    struct Plan: Sendable {
        let loop: EventLoop
        /// The end of the probe.
        let end: Instant
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
        /// One of the first two has not ended for a while, and the other has.
        case doubt
        /// So much time has passed since they began.
        case stillness
        /// The second has had its time.
        case end
    }

    private let plan: Plan
    /// The handshakes of the series that have not begun.
    private var queue: [Side] = []
    private var pending = 0
    private var started = 0
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
            doubt(after: plan.patience / 2, with: .stillness, in: &group)
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
        max(plan.patience, 6 * handshake.nanoseconds)
    }

    private var isDone: Bool {
        lead != nil && (second != nil || hasGivenUp) && queue.isEmpty && pending == 0
    }

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
            waited = nanoseconds
            goOn(in: &group)
        case .quiet: if !isOver { beginNext(in: &group) }
        case .again(let side, let number, let handshake):
            pending -= 1
            if side == .first { firstAgain.append(handshake) } else { secondAgain.append(handshake) }
            if !isOver, number == started { goOn(in: &group) }
        case .silence(let number): if !isOver, number == started { goOn(in: &group) }
        case .doubt: if !isOver, lead == nil || second == nil { confirm(in: &group) }
        case .stillness: if !isOver, lead == nil, second == nil { confirm(in: &group) }
        case .end: hasGivenUp = true
        }
    }

    /// Confirms results that are surprising. While one is missing, waits for it half of the time.
    private mutating func settle(after handshake: Handshake, in group: inout TaskGroup<Event>) {
        if lead != nil, second != nil { return confirm(in: &group) }
        doubt(after: patience(after: handshake) / 2, with: .doubt, in: &group)
    }

    /// Waits for an answer so long, or twice as long as the slowest one has taken.
    private func doubt(after time: UInt64, with event: Event, in group: inout TaskGroup<Event>) {
        let moment = plan.loop.now.advanced(byNanoseconds: max(time, 2 * plan.slowest()))
        if moment < plan.end { wake(at: moment, with: event, in: &group) }
    }

    private mutating func confirm(in group: inout TaskGroup<Event>) {
        guard !hasConfirmed else { return }
        let plan = plan
        queue = plan.confirmations(lead?.handshake, second)
        hasConfirmed = !queue.isEmpty
        guard hasConfirmed else { return }
        let silence = max(plan.patience / 2, 2 * plan.slowest())
        group.addTask(executorPreference: plan.loop) {
            .alone(await plan.turn.takeAlone(afterSilenceOf: silence))
        }
    }

    /// Goes on with the series. At its end others may connect again.
    private mutating func goOn(in group: inout TaskGroup<Event>) {
        started += 1
        if plan.vary((lead.map { [$0.handshake] } ?? []) + firstAgain) { queue = [] }
        // What begins after the end would say that it was silent.
        if plan.loop.now >= plan.end.advanced(byNanoseconds: waited) { queue = [] }
        guard !queue.isEmpty else { return plan.turn.end() }
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
        var end = plan.end.advanced(byNanoseconds: waited)
        let others = (second.map { [$0] } ?? []) + secondAgain
        if side == .second, !others.contains(where: { $0.answer != nil }) {
            end = min(end, now.advanced(byNanoseconds: time))
        }
        pending += 1
        group.addTask(executorPreference: plan.loop) { [end] in
            .again(side, number, await plan.again(side, end))
        }
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
}
