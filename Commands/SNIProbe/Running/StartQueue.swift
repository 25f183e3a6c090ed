internal import DirectCore
internal import DirectHTTP

/// Decides which probe may start, within four limits: `jobs` probes that work, `running` probes that work or
/// wait, a few at one server, and the start rate.
///
/// A slot is in one of five states:
/// - delayed: its next round has not come yet,
/// - queued: it starts when the limits allow, in order of arrival,
/// - parked: too many probes count at its server; it starts before those in the queue when one of them no
///   longer counts,
/// - working: from `next(at:)` until it has received nothing for half a second,
/// - waiting: from then until `ended(_:hasAnswer:)`.
///
/// A probe becomes a waiting one by `release(silentAt:now:)`, which the caller makes when it knows that the
/// event loops have processed everything that had arrived: on a busy machine a probe may have input that it
/// has not read. So a lack of processor time never makes more probes start.
///
/// Only the main thread uses this type, and the time is an argument.
final class StartQueue {
    /// The limits on running probes.
    struct Limits: Equatable {
        /// The maximum number of probes that work.
        var jobs: Int
        /// The maximum number of probes that work or wait.
        var running: Int
    }

    private let limits: Limits
    /// The nanoseconds between two starts.
    private let interval: UInt64
    private var queued: [Slot] = []
    /// The index of the first slot in `queued` that has not been taken.
    private var first = 0
    private var working = 0
    private var running = 0
    private var servers: [Endpoint: Server] = [:]
    private var parkedCount = 0
    /// The servers with parked slots and room for them.
    private var ready: [Endpoint] = []
    /// The working slots in the order of their last sight, and some that have ended.
    private var sightings: [Sighting] = []
    /// Whether the event loops are being asked for a release.
    private var isReleasing = false
    private var delayed: [(slot: Slot, moment: Instant)] = []
    private var nextStart = Instant(nanoseconds: 0)

    /// A server with running or parked probes.
    private struct Server {
        /// The probes that count here.
        var working = 0
        var running = 0
        var parked: [Slot] = []
        /// The number of probes that may count here.
        var limit = mostAtOneServer
        var hasAnswered = false

        var isIdle: Bool { running == 0 && parked.isEmpty }

        var hasRoom: Bool { working < limit && (!hasAnswered || running < mostWaitingAtOneServer) }
    }

    /// The last time at which a slot was known to work, and the number of pieces it had received then.
    private struct Sighting {
        let slot: Slot
        let moment: Instant
        let pieces: Int
    }

    /// The limit for one server. With more probes at the same time it answers slowly or considers them an
    /// attack.
    private static let mostAtOneServer = 8

    /// The limit for one server with the probes that wait there, and for those that count at a server that
    /// has not answered yet. There each probe that has waited in vain makes room for three.
    private static let mostWaitingAtOneServer = 64

    /// The nanoseconds without data after which a probe no longer counts.
    private static let patience: UInt64 = 500_000_000

    init(_ limits: Limits, rate: Double?) {
        self.limits = limits
        interval = rate.map { UInt64(1_000_000_000 / $0) } ?? 0
    }

    /// Adds a slot that may start now.
    func add(_ slot: Slot) {
        queued.append(slot)
    }

    /// Adds a slot that may not start before `moment`.
    func add(_ slot: Slot, notBefore moment: Instant) {
        delayed.append((slot, moment))
    }

    /// Returns the next slot that may start now, or `nil`. It works from then on.
    func next(at now: Instant) -> Slot? {
        wakeDelayed(now)
        guard hasRoom, nextStart <= now, let slot = takeParked() ?? takeQueued() else { return nil }
        begin(slot, now: now)
        return slot
    }

    /// Marks a running slot as ended.
    ///
    /// - Parameter hasAnswer: Whether its server has answered in any way, if only by refusing the connection.
    func ended(_ slot: Slot, hasAnswer: Bool = true) {
        guard slot.isRunning else { return }
        let didCount = slot.standing == .working
        slot.standing = .idle
        running -= 1
        if didCount { working -= 1 }
        change(slot.server) { server in
            server.running -= 1
            if didCount { server.working -= 1 }
            if hasAnswer { (server.hasAnswered, server.limit) = (true, Self.mostAtOneServer) }
        }
    }

    /// Whether it is time to look for probes that wait, because others would start in their place. If so, the
    /// caller must let the event loops process what has arrived until `now`, and then call
    /// ``release(silentAt:now:)``.
    func beginRelease(at now: Instant) -> Bool {
        guard let due = nextRelease, due <= now else { return false }
        isReleasing = true
        return true
    }

    /// Stops counting the probes that had received nothing for half a second at `moment`. What had arrived
    /// until then must have been processed.
    func release(silentAt moment: Instant, now: Instant) {
        isReleasing = false
        var count = 0
        var active: [Sighting] = []
        for sighting in sightings {
            let slot = sighting.slot
            if slot.standing == .working {
                guard sighting.moment.advanced(byNanoseconds: Self.patience) <= moment else { break }
                if slot.signs.count == sighting.pieces {
                    release(slot)
                } else {
                    active.append(Sighting(slot: slot, moment: now, pieces: slot.signs.count))
                }
            }
            count += 1
        }
        sightings.removeFirst(count)
        sightings += active
    }

    /// Returns the time until another slot may start, or until the next look for probes that wait. `nil` if
    /// that depends only on a running probe's end.
    func timeUntilNext(at now: Instant) -> Duration? {
        var moment = nextRelease ?? .never
        if hasRoom {
            if interval > 0, first < queued.count || !ready.isEmpty { moment = min(moment, nextStart) }
            for (_, due) in delayed { moment = min(moment, due) }
        }
        return moment < .never ? moment.since(now) : nil
    }

    private var hasRoom: Bool { working < limits.jobs && running < limits.running }

    /// The time at which a probe may turn out to wait; `nil` if none can start in its place, or the loops are
    /// being asked already.
    private var nextRelease: Instant? {
        guard !isReleasing, parkedCount > 0 || first < queued.count && running < limits.running else {
            return nil
        }
        let oldest = sightings.first { $0.slot.standing == .working }
        return oldest?.moment.advanced(byNanoseconds: Self.patience)
    }

    private func begin(_ slot: Slot, now: Instant) {
        slot.standing = .working
        (working, running) = (working + 1, running + 1)
        change(slot.server) { server in
            server.working += 1
            server.running += 1
        }
        let ended = sightings.prefix { $0.slot.standing != .working }.count
        if ended > 0 { sightings.removeFirst(ended) }
        sightings.append(Sighting(slot: slot, moment: now, pieces: slot.signs.count))
        // Unused time is not saved up, so the rate holds in every period.
        if interval > 0 { nextStart = max(nextStart, now).advanced(byNanoseconds: interval) }
    }

    private func release(_ slot: Slot) {
        slot.standing = .waiting
        working -= 1
        change(slot.server) { server in
            server.working -= 1
            // Three take its place at a server that has never answered: there are probably no answers to
            // come.
            if !server.hasAnswered { server.limit = min(server.limit + 2, Self.mostWaitingAtOneServer) }
        }
    }

    /// Removes a parked slot whose server has room.
    private func takeParked() -> Slot? {
        while let server = ready.first {
            if servers[server]?.hasRoom == true, servers[server]?.parked.isEmpty == false {
                parkedCount -= 1
                return servers[server]?.parked.removeFirst()
            }
            ready.removeFirst()
        }
        return nil
    }

    /// Removes the first slot of the queue whose server has room, and parks those before it.
    private func takeQueued() -> Slot? {
        while first < queued.count {
            let slot = queued[first]
            first += 1
            if first > 1024 {
                queued.removeFirst(first)
                first = 0
            }
            guard let server = slot.server, servers[server]?.hasRoom == false else { return slot }
            servers[server]?.parked.append(slot)
            parkedCount += 1
        }
        return nil
    }

    /// Changes the counts of a server.
    private func change(_ name: Endpoint?, _ change: (inout Server) -> Void) {
        guard let name else { return }
        // In place: a copy of a server would copy its parked slots.
        change(&servers[name, default: Server()])
        if servers[name]?.isIdle == true { servers[name] = nil }
        guard let server = servers[name], server.hasRoom, !server.parked.isEmpty, !ready.contains(name) else {
            return
        }
        ready.append(name)
    }

    private func wakeDelayed(_ now: Instant) {
        guard !delayed.isEmpty else { return }
        for (slot, moment) in delayed where moment <= now { queued.append(slot) }
        delayed.removeAll { $0.moment <= now }
    }
}

extension Slot {
    fileprivate var isRunning: Bool { standing == .working || standing == .waiting }
}
