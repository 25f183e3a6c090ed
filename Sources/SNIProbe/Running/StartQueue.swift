internal import DirectCore
internal import DirectHTTP

/// Decides which probe may start, within three limits: `jobs` running probes, 8 at one server, and the start rate.
///
/// A slot is in one of four states:
/// - delayed: its next round has not come yet,
/// - waiting: it starts when the limits allow, in order of arrival,
/// - parked: 8 probes count at its server; it returns to the front of the queue when one of them no longer counts,
/// - running: from `next(at:)` until `ended(_:)`.
///
/// A running probe counts at its server for half a second at most: a server that is silent for so long is not
/// working on the answer, and its other probes should not wait. Only the main thread uses this type, and the time
/// is an argument.
final class StartQueue {
    private let jobs: Int
    /// The nanoseconds between two starts.
    private let interval: UInt64
    private var waiting: [Slot] = []
    /// The index of the first slot in `waiting` that has not been taken.
    private var first = 0
    private var runningCount = 0
    /// The slots that wait for their server, by server.
    private var parked: [Endpoint: [Slot]] = [:]
    private var parkedCount = 0
    /// The number of running probes that count at each server.
    private var atServer: [Endpoint: Int] = [:]
    /// The slots that count at their server with the time of their start, the oldest first.
    private var recent: [(slot: Slot, start: Instant)] = []
    private var delayed: [(slot: Slot, moment: Instant)] = []
    private var nextStart = Instant(nanoseconds: 0)

    /// The limit for one server. With more probes at the same time it answers slowly or considers them an attack.
    private static let mostAtOneServer = 8

    /// The time for which a running probe counts at its server, in nanoseconds.
    private static let countingTime: UInt64 = 500_000_000

    init(jobs: Int, rate: Double?) {
        self.jobs = jobs
        interval = rate.map { UInt64(1_000_000_000 / $0) } ?? 0
    }

    /// Adds a slot that may start now.
    func add(_ slot: Slot) {
        waiting.append(slot)
    }

    /// Adds a slot that may not start before `moment`.
    func add(_ slot: Slot, notBefore moment: Instant) {
        delayed.append((slot, moment))
    }

    /// Returns the next slot that may start now, or `nil`. It counts as running from then on.
    func next(at now: Instant = .now) -> Slot? {
        wakeDelayed(now)
        forgetOverdue(now)
        while runningCount < jobs, first < waiting.count, nextStart <= now {
            let slot = takeFirst()
            guard hasTurn(slot, now: now) else { continue }
            runningCount += 1
            // Unused time is not saved up, so the rate holds in every period.
            if interval > 0 { nextStart = max(nextStart, now).advanced(byNanoseconds: interval) }
            return slot
        }
        return nil
    }

    /// Marks a running slot as ended.
    func ended(_ slot: Slot) {
        runningCount -= 1
        leave(slot)
    }

    /// Returns the time until another slot may start. `nil` if that depends only on a running probe's end.
    func timeUntilNext(at now: Instant = .now) -> Duration? {
        guard runningCount < jobs else { return nil }
        var moment = Instant.never
        if interval > 0, first < waiting.count { moment = nextStart }
        if parkedCount > 0, let oldest = recent.first {
            moment = min(moment, oldest.start.advanced(byNanoseconds: Self.countingTime))
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

    /// Whether the slot's server is below its limit. Parks the slot if it is not.
    private func hasTurn(_ slot: Slot, now: Instant) -> Bool {
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

    /// Stops counting the slot at its server, and moves the server's next parked slot to the front of the queue.
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
            // Slots that have ended are removed here as well, regardless of their start.
            guard !slot.countsAtServer || start.advanced(byNanoseconds: Self.countingTime) <= now else {
                break
            }
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
