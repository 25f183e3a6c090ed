internal import DirectCore
internal import DirectHTTP

/// The handshakes of one probe with and without the name, in an order that several servers behind one address
/// cannot deceive.
///
/// The first two begin at the same time. If they differ, or the first is not what a client needs, each is
/// made once more, the second before the first. A load balancer that sends connections to two servers in turn
/// then shows both to each kind of handshake: with, without, without, with. A probe that fails makes the
/// first once more still, which lets a third server be seen.
///
/// All offer the same but the name. The comparison takes no longer after the end of the first handshake than
/// a second, or three times as long as that took; what has not ended then counts as no answer.
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

    /// How the handshakes are made.
    struct Plan: Sendable {
        let loop: EventLoop
        /// The end of the probe.
        let end: Instant
        /// The nanoseconds that the comparison may take after a first handshake that took less than a third.
        let patience: UInt64
        let first: @Sendable () async -> Lead
        let second: @Sendable () async -> Handshake
        /// Makes the first or the second handshake again, until this moment at most.
        let again: @Sendable (Side, Instant) async -> Handshake
        /// How often each is to be made again after these results.
        let confirmations: @Sendable (Handshake?, Handshake?) -> (first: Int, second: Int)
    }

    enum Side: Sendable {
        case first, second
    }

    private enum Event: Sendable {
        case lead(Lead)
        case second(Handshake)
        case again(Side, Handshake)
        /// One of the first two has not ended for a while, and the other has.
        case doubt
        /// The comparison has had its time.
        case end
    }

    private let plan: Plan
    private var pending = 0
    private var hasConfirmed = false
    private var limit: Instant
    private var isOver = false

    init(_ plan: Plan) {
        self.plan = plan
        limit = plan.end
    }

    /// Makes the handshakes.
    mutating func run() async {
        await withTaskGroup(of: Event.self) { group in
            let plan = plan
            // In this order: each connects before it waits for the first time.
            group.addTask(executorPreference: plan.loop) { .lead(await plan.first()) }
            group.addTask(executorPreference: plan.loop) { .second(await plan.second()) }
            while let event = await group.next() {
                take(event, in: &group)
                guard !isOver, isDone else { continue }
                isOver = true
                group.cancelAll()
            }
        }
    }

    private func patience(after handshake: Handshake) -> UInt64 {
        max(
            plan.patience,
            3 * ((handshake.tcpTime ?? .zero) + (handshake.tlsTime ?? .zero)).clampedNanoseconds
        )
    }

    private var isDone: Bool { lead != nil && second != nil && pending == 0 }

    private mutating func take(_ event: Event, in group: inout TaskGroup<Event>) {
        switch event {
        case .lead(let result):
            lead = result
            guard !isOver else { return }
            limit = min(plan.end, plan.loop.now.advanced(byNanoseconds: patience(after: result.handshake)))
            wake(at: limit, with: .end, in: &group)
            settle(after: result.handshake, in: &group)
        case .second(let handshake):
            // What was cancelled has not answered in its time.
            second = isOver ? handshake.asSilent : handshake
            if !isOver { settle(after: handshake, in: &group) }
        case .again(let side, let handshake):
            pending -= 1
            if side == .first { firstAgain.append(handshake) } else { secondAgain.append(handshake) }
        case .doubt: if !isOver, lead == nil || second == nil { confirm(in: &group) }
        case .end:
            guard !isOver else { return }
            isOver = true
            group.cancelAll()
        }
    }

    /// Confirms results that are surprising. While one is missing, waits for it half of the time.
    private mutating func settle(after handshake: Handshake, in group: inout TaskGroup<Event>) {
        if lead != nil, second != nil { return confirm(in: &group) }
        let moment = plan.loop.now.advanced(byNanoseconds: patience(after: handshake) / 2)
        if moment < plan.end { wake(at: moment, with: .doubt, in: &group) }
    }

    private mutating func confirm(in group: inout TaskGroup<Event>) {
        guard !hasConfirmed else { return }
        let (plan, limit) = (plan, limit)
        let counts = plan.confirmations(lead?.handshake, second)
        let sides =
            Array(repeating: Side.second, count: counts.second)
            + Array(repeating: .first, count: counts.first)
        hasConfirmed = !sides.isEmpty
        pending += sides.count
        for side in sides {
            group.addTask(executorPreference: plan.loop) {
                let handshake = await plan.again(side, limit)
                // Cut short, it says nothing.
                return .again(side, limit < plan.end ? handshake.unlessSilent : handshake)
            }
        }
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

    /// This handshake, which counts as not made if it was not answered.
    fileprivate var unlessSilent: Handshake {
        guard failure == .silentTCP || failure == .silentTLS else { return self }
        var handshake = self
        handshake.outcome = .failure(.cancelled)
        return handshake
    }
}
