internal import DirectHTTP

extension World {
    /// Judges what can be told at the end only.
    func judgeAtTheEnd() {
        for number in calls.indices {
            judgeUpload(number)
            judgeRepetition(number)
            judgeAddresses(number)
        }
        for number in tunnels.programs.indices { TunnelJudge(self, number: number)?.judgeAtTheEnd() }
        Reasons.judgeAll(self)
        PoolJudge(world: self).judgeAtTheEnd()
        HedgeJudge.judgeAtTheEnd(self)
        judgeFolders()
        judgeYielding()
        for jar in smallJars {
            kernel.count("judge: cookies of a jar")
            let ours = jar.cookies.filter { "\($0.host)".hasSuffix(Material.name(0)) }
            if ours.count > Plan.cookiesOfSite || jar.cookies.count > Plan.cookiesOfAll {
                fault("limit", "a jar has \(jar.cookies.count) cookies, \(ours.count) of one site")
            }
        }
        kernel.count("judge: descriptors")
        kernel.count("judge: leaks")
    }

    /// However fast bytes come, a task lets others run after 256 KiB and what is then in its buffers.
    private func judgeYielding() {
        // A tunnel moves a megabyte in each direction.
        let mostActiveCalls = plan.tunnels == nil ? mostActiveCalls : 6
        kernel.count("judge: bytes at a time")
        if kernel.mostBytesAtATime > 400_000 * mostActiveCalls {
            fault("busy", "\(kernel.mostBytesAtATime) bytes were read without letting others run")
        }
    }

    /// The folder of a cache keeps its limits, except where files cannot be removed, or a power failure
    /// brings some back.
    private func judgeFolders() {
        guard let limits = plan.keeping?.cache, plan.disk?.failures ?? 0 == 0 else { return }
        for run in runs {
            for fault in run.cacheFaults {
                kernel.count("client: cache reports \(fault.kind)")
            }
        }
        guard plan.keeping?.ends.allSatisfy({ !$0.isPowerFailure }) == true else { return }
        for prefix in Set(runs.map(\.cachePath)) {
            let sizes = kernel.disk.names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".r") }.map {
                kernel.disk.bytes(of: $0)?.count ?? 0
            }
            kernel.count("judge: size of a cache folder")
            let sum = sizes.reduce(0, +)
            // A file has a head before its content.
            if sum > limits.bytes || sizes.count > limits.objects
                || sizes.contains(where: { $0 > limits.objectBytes + 4096 })
            {
                fault("size", "\(sizes.count) responses in \(sum) bytes in the cache's folder")
            }
        }
    }

    /// A success means that the server has got the whole upload, or gave its final answer before.
    private func judgeUpload(_ number: Int) {
        let (call, state) = (plan.calls[number], calls[number])
        // After a hedge the reply may be that to a later request, whose number the loser had; and a busy
        // server may see the loser only after the call. A POST is not hedged.
        guard plan.client.hedging == nil || call.kind == .post, let place = state.reply,
            let received = state.received[place]
        else { return }
        kernel.count("judge: upload")
        let reply = call.replies[place]
        if received == call.upload { return }
        if !reply.isEarly {
            fault("upload", "call \(number) succeeded after \(received) of \(call.upload) bytes")
        } else if isReadToItsEnd(reply), !state.excusedUploads.contains(place), !call.expectsContinue,
            // A connection whose upload has been sent whole is idle, and is closed for its descriptor.
            kernel.lastShortage == 0
        {
            fault("upload", "call \(number) gave up its upload after \(received) of \(call.upload) bytes")
        } else if asksForAll(call, reply), received + mostBetween < call.upload {
            fault("upload", "call \(number) succeeded, and cannot have sent more than \(received) bytes")
        }
    }

    /// Whether a call may succeed only when its upload is sent to the end, wherever its connection breaks:
    /// the server has not refused the rest, and the caller reads the response to its end.
    private func asksForAll(_ call: CallPlan, _ reply: ReplyPlan) -> Bool {
        reply.status < 300 && !reply.isLast && reply.framing != .untilClose && !call.expectsContinue
            && [.fetch, .pieces, .slowly].contains(call.reading)
    }

    /// What the client may have sent of an upload that its server has not taken: in the buffers of the
    /// socket, of the server, and of its TLS and that of a proxy.
    private var mostBetween: Int { 2 * plan.network.sendBuffer + 4 * 16_640 }

    /// Whether a server that answers early reads the whole upload afterwards if the client sends it.
    ///
    /// Not if the client may close the connection as idle, with all of the upload on its way: what then
    /// arrives from the server is answered with a reset, which destroys what the server has not read yet.
    private func isReadToItsEnd(_ reply: ReplyPlan) -> Bool {
        let client = plan.client
        return reply.status < 300 && reply.ending == .complete && reply.framing != .untilClose
            && client.idleTimeout == nil && client.usesPerConnection == nil && client.connections == nil
            && plan.network.resets == 0
            // A program that ends closes its connections, with all of the upload on its way.
            && plan.keeping == nil
            && !plan.hosts.contains { $0.addresses.contains { $0.fate == .dies || $0.fate == .stops } }
    }

    /// A request that must not be repeated is executed once.
    private func judgeRepetition(_ number: Int) {
        let (call, state) = (plan.calls[number], calls[number])
        guard [.post, .stream, .streamOfKnownLength].contains(call.kind), !plan.client.repeatsAnyMethod else {
            return
        }
        kernel.count("judge: executed once")
        // These replies ask for another request.
        let again: Set<Int> = [301, 302, 303, 307, 308, 408, 417, 421]
        let final = state.executedPosts.filter { !again.contains(call.replies[$0].status) }
        if final.count > 1 { fault("twice", "call \(number) was executed \(final.count) times") }
    }

    /// After a failure at one address, the next attempt is made at another one if there is any.
    private func judgeAddresses(_ number: Int) {
        guard plan.client.retries, plan.client.hedging == nil, plan.network.resets == 0,
            plan.network.socketFailures == 0,
            plan.network.descriptors == nil
        else { return }
        // A resolver may have named one address only. Of datagrams, those for one family may be late or lost.
        guard plan.resolvers.map({ $0.isGood && $0.moves.isEmpty && !$0.asksByDatagram }) ?? true else {
            return
        }
        // The system's resolver may have had addresses of one family only.
        guard plan.kernel?.lookups == nil || plan.client.resolving != .system else { return }
        // An attempt on a connection that its server has closed arrives nowhere, and counts.
        guard !kernel.hasLostRequests else { return }
        let tries = calls[number].tries
        // A server that does not serve the name is worse than one that fails.
        guard !tries.contains(where: { $0.reply.status == 421 }) else { return }
        for (first, second) in zip(tries, tries.dropFirst()) {
            guard let place = first.place, place.host == second.place?.host,
                plan.hosts[place.host].hasSocket != true, [502, 503, 504].contains(first.reply.status),
                first.reply.ending == .complete,
                plan.hosts[place.host].addresses.allSatisfy({ $0.fate == .works }),
                plan.hosts[place.host].addresses.count > 1
            else { continue }
            kernel.count("judge: address of a retry")
            if second.place == place {
                fault("address", "call \(number) was retried at the address that failed")
            }
        }
    }
}

extension CacheError {
    /// What happened, for the report.
    fileprivate var kind: String {
        switch self {
        case .damaged: "damage"
        case .foreign: "a foreign file"
        default: "an error"
        }
    }
}

extension World {
    /// What a call may take beyond its limits, in nanoseconds: the loop looks for passed deadlines each
    /// millisecond, and the poller rounds up to the next; then some jobs have to run, a record of 64 KiB may
    /// be under way, and callers may keep the loop busy, one after the other.
    ///
    /// Calls that receive much yield after 256 KiB and what is then under way. Up to three jobs that follow
    /// each other end a call, and each may have to wait for all of these, and for a thread.
    var slack: UInt64 {
        let jobs = UInt64(plan.network.jobCost * 30 * (mostActiveCalls + 1))
        return 3_000_000 + jobs + bytesWork + callersWork + 3 * threadsWork
    }

    /// What received bytes keep the loop for, in nanoseconds: one buffer for each call, and for those with
    /// more all that a task takes between two yields.
    var bytesWork: UInt64 {
        let turns = 3 * min(largeCalls, mostActiveCalls)
        return UInt64(plan.network.byteCost * (70_000 * (mostActiveCalls + 1) + 330_000 * turns))
    }

    /// The longest time for which a job waits for a thread of the client, in nanoseconds.
    ///
    /// What an interceptor continues, hedged requests and resolvers of the program's run on these threads
    /// unless the caller prefers an executor, so each of their jobs may have to wait. A simulated thread that
    /// has nothing to do ends at once, so there is a new one for each job.
    private var threadsWork: UInt64 {
        let client = plan.client
        let usesThreads =
            client.rebuildsRequests || client.hasNetworkInterceptor || client.addsUserBelowCache
            || client.hedging != nil || client.resolving == .resolver
        return usesThreads ? UInt64(plan.network.longestThreadStart) * 1000 : 0
    }

    /// The number of calls that may receive more than a task takes between two yields.
    private var largeCalls: Int {
        plan.calls.filter(\.isLarge).map(\.count).reduce(0, +)
    }

    /// The longest time for which callers keep the loop from its sockets, one after the other, in
    /// nanoseconds.
    ///
    /// Where a task is cancelled, all calls that follow in it end at once, without a turn of the loop.
    var callersWork: UInt64 {
        let work = plan.calls.map(\.work)
        let atOnce = (work.max() ?? 0) * (mostActiveCalls + 1)
        let isCancelled = plan.calls.contains { $0.cancellation != nil }
        let stop = plan.kernel?.stop?.length ?? 0
        return UInt64((max(atOnce, isCancelled ? work.reduce(0, +) : 0) + stop) * 1000)
    }
}
