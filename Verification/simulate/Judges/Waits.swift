/// What makes a call take long.
extension Reasons {
    static let shortestTime: UInt64 = 500_000_000

    /// The longest time that the call may take, in nanoseconds: as long as it and all calls under way beside
    /// it one after the other, where everything works, and the waits for what does not.
    var longestTime: UInt64 {
        let beside = [self] + others
        return Self.shortestTime + beside.map(\.ownTime).reduce(0, +)
            + beside.map { $0.waits(during: time) }.reduce(0, +)
            + UInt64(plan.kernel?.stop?.length ?? 0) * 1000 + 3_000_000 * UInt64(beside.count)
    }

    /// The time for which the call has waited for a peer that was silent, in nanoseconds.
    var waits: UInt64 { ([self] + sharers).map { $0.waits(during: time) }.reduce(0, +) }

    /// The calls that were under way beside it, or had ended just before.
    var others: [Reasons] {
        world.calls.indices.filter { $0 != number && world.calls[$0].start != nil }
            .map { Reasons(world: world, number: $0) }
            .filter { $0.start <= end && $0.end + lateness >= start }
    }

    /// Those of them that could keep a connection from it.
    var sharers: [Reasons] {
        let client = plan.client
        guard client.connections != nil || client.perOrigin != nil else { return [] }
        return others.filter { client.connections != nil || !$0.hosts.isDisjoint(with: hosts) }
    }

    // MARK: Silent peers

    /// The time in which the call was under way.
    private var time: Range<UInt64> { start..<max(start, end) }

    /// The part of the call's waits that has passed in a time.
    private func waits(during time: Range<UInt64>) -> UInt64 {
        connections.map { wait(for: $0, during: time) }.reduce(0, +) + waitForNames
    }

    /// How long the peer of a connection has been silent in a time: until the client's limit, at most.
    private func wait(for connection: SimulatedConnection, during time: Range<UInt64>) -> UInt64 {
        let life = connection.times.connect..<max(connection.times.connect, connection.times.closed ?? .max)
        let common = life.clamped(to: time)
        let absences = connection.absences.map { min(length($0.clamped(to: common)), longestSilence) }
        return absences.reduce(0, +) + waitByFate(connection, common)
    }

    /// The same for a peer whose address, or whose handshake, is at fault.
    private func waitByFate(_ connection: SimulatedConnection, _ time: Range<UInt64>) -> UInt64 {
        // Behind a proxy it may be a connection to any of them.
        let mayBeTo = connection.place.map { [$0.host] } ?? (plan.client.proxy == .none ? [] : hosts)
        if mayBeTo.contains(where: { hasHalfTickets(plan.hosts[$0]) }) {
            return min(length(time), longestSilence)
        }
        guard let place = connection.place else { return 0 }
        let host = plan.hosts[place.host]
        let address = host.addresses[place.address]
        switch address.fate {
        case .silent, .fails: return min(length(time), openingLimit)
        case .freezes: return min(length(time), openingLimit + longestSilence)
        case .stops:
            let stopped = 1_000_000_000 + UInt64(address.changeTime) * 1000
            guard stopped < time.upperBound else { return 0 }
            return min(time.upperBound - max(stopped, time.lowerBound), openingLimit + longestSilence)
        case .works, .refuses, .closes, .wrongCertificate, .unknownIssuer, .dies, .appears: return 0
        }
    }

    private func length(_ time: Range<UInt64>) -> UInt64 { time.upperBound - time.lowerBound }

    private func hasHalfTickets(_ host: HostPlan) -> Bool {
        host.isSecure && (host.ticketPause ?? 0) > 1_000_000
    }

    /// The limits of connecting, and of a peer that must send or take bytes, in nanoseconds.
    private var openingLimit: UInt64 { UInt64(plan.client.connectLimit ?? 10_000_000) * 1000 + 20_000_000 }
    private var longestSilence: UInt64 {
        let read = UInt64(plan.client.readLimit ?? 60_000_000)
        return (60_000_000 + UInt64(plan.client.responseLimit ?? 60_000_000) + read) * 1000
    }

    /// How long the call may have waited for addresses.
    private var waitForNames: UInt64 {
        var wait = 0
        if plan.resolvers?.isGood == false { wait = 10_000_000 }
        if let lookups = plan.kernel?.lookups, !lookups.fails { wait += min(lookups.delay, 10_000_000) }
        return UInt64(wait * requests) * 1000
    }

    // MARK: Where everything works

    /// The number of requests that the call may make. A download makes more, as long as they bring bytes.
    private var requests: Int {
        max(call.replies.count + 3, call.download == nil ? 0 : state.requests + 2)
    }

    var slowestRate: Int? {
        [plan.client.transfers?.receivingRate, plan.client.transfers?.sendingRate].compactMap { $0 }.min()
    }

    /// The longest time of the call alone, in nanoseconds: with the waits of all retries and the limits that
    /// are there for other reasons.
    private var ownTime: UInt64 {
        let network = plan.network
        // A connection, its name and its handshakes; then each segment may have to wait for room.
        // Files of settings have a second where there are former ones, and 15 where not.
        let loading = world.settings?.mayHang == true ? (areSettingsUnclear ? 16_500_000 : 1_500_000) : 0
        let opening = 60_000 + 12 * network.longestDelay + network.longestThreadStart * 4 + loading
        let file = call.download.flatMap { plan.files?[$0.file].size } ?? 0
        let bytes = (call.upload + file + (call.replies.map(\.size).max() ?? 0)) * requests
        let window = min(network.receiveBuffer, network.sendBuffer, network.segmentLimit)
        let moving = (bytes / max(1, window / 2) + 4) * 3 * network.longestDelay
        let work = bytes * network.byteCost / 1000 * 2 + 400 * network.jobCost / 1000
        let pauses = (call.upload / 10_000 + 1) * call.uploadPause * requests + bytes / 10
        let replies = call.replies.map { reply in
            let late =
                reply.isEarly && reply.lateReading > 0 ? call.upload / reply.lateReading * reply.latePause : 0
            return reply.delay + reply.parts * reply.pause + late
        }
        let isTriedAgain = plan.client.retries || call.download != nil || call.kind == .events
        let waits = isTriedAgain ? 5_000_000 * (call.download == nil ? 1 : requests) : 0
        let reading = (bytes / 1000 + 30) * call.pauseOfReader
        // A cache folder is found, read and written on threads.
        let disk =
            plan.keeping?.cache == nil && call.kind != .file ? 0 : 30 * network.longestThreadStart * requests
        // A service is connected to, and asked, for each request.
        let resending = plan.resolvers?.asksByDatagram == true ? 2_500_000 : 0
        // Addresses wait for records that are late, and for the names that these lead to.
        let isAwaited = plan.resolvers?.records == .awaited
        let records = isAwaited ? 2 * (plan.resolvers?.services.map(\.attemptLimit).max() ?? 0) : 0
        let asking = plan.resolvers == nil ? 0 : (2 * opening + 400_000 + resending + records) * requests
        let proxy = (plan.client.proxyPause ?? 0) * 60 * requests
        // A flood has up to four megabytes.
        let rated = slowestRate.map { ((bytes + (call.isFlooded ? 4_100_000 : 0)) / $0 + 2) * 1_000_000 } ?? 0
        let tickets = (plan.hosts.compactMap(\.ticketPause).filter { $0 <= 1_000_000 }.max() ?? 0) * requests
        let flood = call.isFlooded ? network.byteCost * 4000 : 0
        let sum =
            opening * requests + moving + work + pauses + (replies.max() ?? 0) * requests + waits + reading
            + proxy + disk + asking + tickets + rated + flood + call.work + call.start
            + (call.expectsContinue ? 1_100_000 * requests : 0)
        return UInt64(sum) * 1000
    }
}
