/// The reasons in a plan for which a call may fail.
struct Reasons {
    let plan: Plan
    let number: Int

    /// Whether there is any. When in doubt there is: this judge is about calls for which everything works.
    var mayFail: Bool {
        if plan.isRefused(number) { return true }
        let call = plan.calls[number]
        let network = plan.network
        if call.total != nil || call.cancellation != nil || network.resets > 0 || network.socketFailures > 0
            || network.descriptors != nil
        {
            return true
        }
        if let kernel = plan.kernel, plan.mayFailBySystem(kernel) { return true }
        let client = plan.client
        let limits = [client.responseLimit, client.queueLimit, client.readLimit, client.connectLimit]
        if limits.contains(where: { $0 != nil }) || client.slowestBytes != nil { return true }
        // A cancellation ends all calls of its task.
        if plan.isCancelled(number) { return true }
        if plan.hosts.contains(where: { ($0.ticketPause ?? 0) > 1_000_000 }) { return true }
        if plan.hosts.contains(where: { $0.addresses.contains { $0.fate != .works } }) { return true }
        // A response that never ends keeps its connection from the other calls.
        if plan.calls.contains(where: readsForLong) { return true }
        // Bytes behind a response may arrive when the next request has been sent.
        if plan.calls.contains(where: {
            $0.replies.contains { [.stalls, .addsBytes, .floods].contains($0.ending) }
        }) {
            return true
        }
        // Without a close_notify the end of such a body cannot be told from a cut.
        if plan.hosts.contains(where: { ($0.isSecure || client.proxy == .https) && $0.isRude }),
            call.replies.contains(where: { $0.framing == .untilClose })
        {
            return true
        }
        // A server that closes before it has read the client's new key resets the connection.
        if plan.hosts.contains(where: { ($0.isSecure || client.proxy == .https) && $0.updatesKeys }),
            call.replies.contains(where: { $0.framing == .untilClose || $0.ending == .closes })
        {
            return true
        }
        if call.replies.contains(where: { ![.complete, .closes].contains($0.ending) }) { return true }
        if let limit = client.transfers?.silentContent,
            plan.calls.contains(where: { other in
                // A cache may answer with what the other call has brought.
                let isOfResource = other.resource != nil && other.resource == call.resource
                return (other == call || isOfResource)
                    && other.replies.contains { ($0.emptyMembers ?? 0) * ReplyPlan.emptyMemberSize > limit }
            })
        {
            return true
        }
        if isLongInQueue { return true }
        if plan.mayFindDamage(number) || plan.resolvers?.isGood == false || plan.namesMayVanish {
            return true
        }
        return hasRedirectProblem(call) || hasUploadProblem(call) || hasDownloadProblem(call)
    }

    /// Whether servers disagree about a file, the disk fails, or another call may have the file.
    private func hasDownloadProblem(_ call: CallPlan) -> Bool {
        call.download != nil && (!plan.isFileSimple(number) || plan.sharesFile(number))
    }

    /// Whether a server reads an upload for seconds after it has answered: the next request on that
    /// connection waits.
    private func readsForLong(_ call: CallPlan) -> Bool {
        call.replies.contains { reply in
            reply.isEarly && reply.lateReading > 0
                && call.upload / reply.lateReading * reply.latePause > 5_000_000
        }
    }

    /// From https to http a redirect is refused. The last reply is repeated, so it must not be one.
    private func hasRedirectProblem(_ call: CallPlan) -> Bool {
        if let last = call.replies.last, (300..<400).contains(last.status) { return true }
        let redirects = call.replies.filter { (300..<400).contains($0.status) }
        // A redirect to itself that is kept in the cache never ends.
        if plan.client.caches, redirects.contains(where: { ($0.lifetime ?? 0) > 0 }) { return true }
        guard !redirects.isEmpty else { return false }
        if plan.hosts.contains(where: { $0.hasSocket == true }) { return true }
        let hosts = [call.host] + redirects.map(\.target)
        return hosts.contains { plan.hosts[$0].isSecure } && hosts.contains { !plan.hosts[$0].isSecure }
    }

    /// A request that was cut off while it was sent cannot be repeated.
    private func hasUploadProblem(_ call: CallPlan) -> Bool {
        guard ![.get, .head, .prewarm].contains(call.kind) else { return false }
        // Its redirect, or the refusal of a login, may cut it off.
        if call.isPlain == true || plan.hosts.contains(where: { $0.digest != nil }) { return true }
        if plan.hosts.contains(where: { $0.idleClose != nil }) { return true }
        if plan.calls.contains(where: {
            $0.replies.contains { $0.ending != .complete || $0.framing == .untilClose }
        }) {
            return true
        }
        return call.replies.contains { $0.status != 200 || $0.isEarly }
    }

    /// Whether slow bodies may keep all connections until the queue's own limit of 30 seconds.
    private var isLongInQueue: Bool {
        guard let rate = slowestRate else { return false }
        let bytes = plan.calls.map { call in
            (call.upload + (call.replies.map(\.size).max() ?? 0)) * (call.replies.count + 3)
        }
        return bytes.reduce(0, +) / rate > 25
    }

    private var slowestRate: Int? {
        [plan.client.transfers?.receivingRate, plan.client.transfers?.sendingRate].compactMap { $0 }.min()
    }

    /// The longest time that a call takes for which everything works, in nanoseconds: as long as all calls
    /// one after the other, with the waits of all retries and the limits that are there for other reasons.
    var longestTime: UInt64 {
        let calls = plan.calls.map(longestTime).reduce(0, +)
        return UInt64(500_000 + calls + (plan.kernel?.stop?.length ?? 0)) * 1000 + 3_000_000
            * UInt64(plan.calls.count)
    }

    /// The longest time of one call, in microseconds.
    private func longestTime(of call: CallPlan) -> Int {
        let network = plan.network
        // A connection, its name and its handshakes; then each segment may have to wait for room.
        let requests = call.replies.count + 3
        let opening = 60_000 + 12 * network.longestDelay + network.longestThreadStart * 4
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
        let waits = plan.client.retries || call.download != nil ? 5_000_000 : 0
        let reading = call.reading == .slowly ? (bytes / 1000 + 30) * 5000 : 0
        // A cache folder is found, read and written on threads.
        let disk = plan.keeping?.cache == nil ? 0 : 30 * network.longestThreadStart * requests
        // A service is connected to, and asked, for each request.
        let resending = plan.resolvers?.asksByDatagram == true ? 2_500_000 : 0
        let asking = plan.resolvers == nil ? 0 : (2 * opening + 400_000 + resending) * requests
        let proxy = (plan.client.proxyPause ?? 0) * 60 * requests
        let rated = slowestRate.map { (bytes / $0 + 2) * 1_000_000 } ?? 0
        let tickets = (plan.hosts.compactMap(\.ticketPause).max() ?? 0) * requests
        return opening * requests + moving + work + pauses + (replies.max() ?? 0) * requests + waits + reading
            + proxy + disk + asking + tickets + rated + call.work + call.start
            + (call.expectsContinue ? 1_100_000 * requests : 0)
    }
}
