internal import DirectHTTP

/// Decides what may start: so many at once, not too many at one address, not too fast.
final class StartQueue {
    private let jobs: Int
    /// Nanoseconds between two starts.
    private let interval: UInt64
    private var waiting: [Slot] = []
    private var first = 0
    private var runningCount = 0
    /// Waiting for a turn at their server.
    private var parked: [Endpoint: [Slot]] = [:]
    private var parkedCount = 0
    private var atServer: [Endpoint: Int] = [:]
    /// Those that count at their server, in the order of their start, and since when.
    private var recent: [(slot: Slot, start: Instant)] = []
    private var delayed: [(slot: Slot, moment: Instant)] = []
    private var nextStart = Instant(nanoseconds: 0)

    /// A server that is asked more at once answers slowly, or takes it for an attack.
    private static let mostAtOneServer = 8

    /// One that has not answered for so long is not working on the answer, and must not hold up the others.
    private static let patience: UInt64 = 500_000_000

    init(jobs: Int, rate: Double?) {
        self.jobs = jobs
        interval = rate.map { UInt64(1_000_000_000 / $0) } ?? 0
    }

    func add(_ slot: Slot) {
        waiting.append(slot)
    }

    func add(_ slot: Slot, notBefore moment: Instant) {
        delayed.append((slot, moment))
    }

    /// The next that may start now; it counts as running from here on.
    func next(at now: Instant = .now) -> Slot? {
        wakeDelayed(now)
        forgetOverdue(now)
        while runningCount < jobs, first < waiting.count, nextStart <= now {
            let slot = takeFirst()
            guard hasTurn(slot, now) else { continue }
            runningCount += 1
            // Time that nobody used is lost: the rate holds for every stretch of time.
            if interval > 0 { nextStart = max(nextStart, now).advanced(byNanoseconds: interval) }
            return slot
        }
        return nil
    }

    func ended(_ slot: Slot) {
        runningCount -= 1
        leave(slot)
    }

    /// How long until something may start that cannot yet; nothing where only an end can bring that about.
    func timeUntilNext(at now: Instant = .now) -> Duration? {
        guard runningCount < jobs else { return nil }
        var moment = Instant.never
        if interval > 0, first < waiting.count { moment = nextStart }
        if parkedCount > 0, let oldest = recent.first {
            moment = min(moment, oldest.start.advanced(byNanoseconds: Self.patience))
        }
        for (_, due) in delayed { moment = min(moment, due) }
        guard moment < .never else { return nil }
        return moment.since(now)
    }

    private func takeFirst() -> Slot {
        let slot = waiting[first]
        first += 1
        if first > 1024 {
            waiting.removeFirst(first)
            first = 0
        }
        return slot
    }

    /// Whether its server can take one more; if not, it is parked.
    private func hasTurn(_ slot: Slot, _ now: Instant) -> Bool {
        guard let server = slot.server else { return true }
        guard atServer[server, default: 0] < Self.mostAtOneServer else {
            parked[server, default: []].append(slot)
            parkedCount += 1
            return false
        }
        atServer[server, default: 0] += 1
        slot.countsAtServer = true
        recent.append((slot, now))
        return true
    }

    /// It no longer counts at its server: another one may have its turn there.
    private func leave(_ slot: Slot) {
        guard slot.countsAtServer, let server = slot.server else { return }
        slot.countsAtServer = false
        atServer[server] = atServer[server].flatMap { $0 > 1 ? $0 - 1 : nil }
        guard var others = parked[server], !others.isEmpty else { return }
        waiting.insert(others.removeFirst(), at: first)
        parkedCount -= 1
        parked[server] = others.isEmpty ? nil : others
    }

    private func forgetOverdue(_ now: Instant) {
        var done = 0
        for (slot, start) in recent {
            // Those that have ended are no longer looked at, whenever they began.
            guard !slot.countsAtServer || start.advanced(byNanoseconds: Self.patience) <= now else { break }
            leave(slot)
            done += 1
        }
        recent.removeFirst(done)
    }

    private func wakeDelayed(_ now: Instant) {
        guard !delayed.isEmpty else { return }
        for (slot, moment) in delayed where moment <= now { waiting.append(slot) }
        delayed.removeAll { $0.moment <= now }
    }
}

extension Slot {
    fileprivate var server: Endpoint? {
        if case .probe(let probe) = job { Endpoint(probe.address, port: probe.port) } else { nil }
    }
}
