internal import DirectHTTP

/// Decides what may start: so many at once, not too many at one address, not too fast.
final class StartQueue {
    private let jobs: Int
    /// Nanoseconds between two starts.
    private let interval: UInt64
    private var waiting: [Slot] = []
    private var first = 0
    /// Waiting for a turn at their address.
    private var parked: [IPAddress: [Slot]] = [:]
    private var running: [IPAddress: Int] = [:]
    private var runningCount = 0
    private var delayed: [(slot: Slot, moment: Instant)] = []
    private var nextStart = Instant(nanoseconds: 0)

    /// A server that is asked more at once answers slowly, or takes it for an attack.
    private static let mostAtOneAddress = 8

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
    func next() -> Slot? {
        wakeDelayed()
        while runningCount < jobs, first < waiting.count {
            let now = Instant.now
            guard nextStart <= now else { return nil }
            let slot = waiting[first]
            first += 1
            if first > 1024 {
                waiting.removeFirst(first)
                first = 0
            }
            if let address = slot.address {
                guard running[address, default: 0] < Self.mostAtOneAddress else {
                    parked[address, default: []].append(slot)
                    continue
                }
                running[address, default: 0] += 1
            }
            runningCount += 1
            // Time that nobody used is lost: the rate holds for every stretch of time.
            if interval > 0 { nextStart = max(nextStart, now).advanced(byNanoseconds: interval) }
            return slot
        }
        return nil
    }

    func ended(_ slot: Slot) {
        runningCount -= 1
        guard let address = slot.address else { return }
        running[address] = running[address].flatMap { $0 > 1 ? $0 - 1 : nil }
        guard var others = parked[address], let next = others.first else { return }
        others.removeFirst()
        parked[address] = others.isEmpty ? nil : others
        waiting.insert(next, at: first)
    }

    /// How long until something may start that cannot yet; nothing where only an end can bring that about.
    var timeUntilNext: Duration? {
        var moment = Instant.never
        if interval > 0, runningCount < jobs, first < waiting.count { moment = nextStart }
        for (_, due) in delayed { moment = min(moment, due) }
        guard moment < .never else { return nil }
        return moment.since(Instant.now)
    }

    private func wakeDelayed() {
        guard !delayed.isEmpty else { return }
        let now = Instant.now
        for (slot, moment) in delayed where moment <= now { waiting.append(slot) }
        delayed.removeAll { $0.moment <= now }
    }
}

extension Slot {
    fileprivate var address: IPAddress? {
        if case .probe(let probe) = job { probe.address } else { nil }
    }
}
