internal import DirectCore
internal import DirectHTTP
internal import DirectHTTPExtras
internal import Glibc

/// Judges the outcome of one call: its bytes, and its time.
struct CallJudge {
    let world: World
    let number: Int
    let start: UInt64
    private var plan: Plan { world.plan }
    private var call: CallPlan { plan.calls[number] }

    func note(_ outcome: String) {
        world.calls[number].outcome = outcome
        world.kernel.note("outcome", place: number, amount: outcome.utf8.count)
        world.kernel.explain("  call \(number): \(outcome)")
    }

    /// Judges a response.
    func judge(_ response: ReceivedResponse) {
        note("\(response.status), \(response.body.count) bytes")
        if let injection = call.injection {
            world.fault("injection", "call \(number) has been answered: \(injection)")
        }
        world.kernel.count("caller: response")
        judgeTime(isSuccess: true)
        ResponseJudge(world: world, number: number, start: start, response: response).judge()
    }

    /// Judges a download that has succeeded.
    func judge(_ result: DownloadResult) {
        note("\(result.size) bytes downloaded")
        judgeTime(isSuccess: true)
    }

    /// Judges an error.
    func judge(_ error: any Error) {
        note("\(error)")
        world.kernel.count("caller: error")
        judgeTime(isSuccess: false)
        let text = "\(error)"
        for host in plan.hosts.indices where text.reveals(world.secret(ofHost: host)) {
            world.fault("secrets", "the error of call \(number) has a secret: \(text)")
        }
        if text.reveals(World.clientSecret) { world.fault("secrets", "an error has the client's: \(text)") }
        if text.reveals(World.proxySecret) { world.fault("secrets", "an error has the proxy's: \(text)") }
        if !(error is HTTPError), !(error is CancellationError), !(error is PageError) {
            world.fault("error", "call \(number) ended with \(type(of: error)): \(error)")
        }
        if error is CancellationError, !plan.isCancelled(number) {
            world.fault("error", "call \(number) was never cancelled")
        }
        PoolJudge(world: world).judgeShortage(error, ofCall: number)
        judgeDisk(error)
        ResolverJudge(world: world).judge(error, ofCall: number)
        judgeStall()
        world.calls[number].error = error
    }

    /// No call notices a failing disk, except in the middle of content that is too large to be read at once.
    private func judgeDisk(_ error: any Error) {
        guard plan.keeping?.cache != nil else { return }
        world.kernel.count("judge: error beside a cache folder")
        guard let error = error as? HTTPError else { return }
        switch error.reason {
        case .cache(let reason):
            world.kernel.count("judge: damage in the middle of content")
            if !plan.mayFindDamage(number) { world.fault("disk", "call \(number) ended with \(reason)") }
        case .system(let reason)
        where reason.call != "connect" && [ENOSPC, EIO, EACCES].contains(reason.code):
            world.fault("disk", "call \(number) ended with \(reason)")
        default: break
        }
    }

    /// A server that stops in the middle of a response costs the limit of reading, and no more.
    private func judgeStall() {
        // A redirect or a retry may have followed.
        guard call.download == nil, plan.client.hedging == nil,
            plan.client.transfers?.receivingRate == nil,
            let stalled = world.calls[number].stalled,
            let last = world.calls[number].tries.last, last.reply.ending == .stalls, last.time <= stalled,
            let limit = limit(of: last.reply),
            last.reply.status == 200,
            ![.slowly, .firstPiece, .none].contains(call.reading), plan.network.resets == 0,
            // Until the upload has ended, its own limit counts.
            !last.reply.isEarly || call.upload == 0
        else { return }
        world.kernel.count("judge: stall")
        let passed = world.kernel.now - stalled
        // What was sent before may still be on its way.
        let onTheWay = UInt64(plan.network.longestDelay) * 1000 * 40
        if passed > UInt64(limit) * 1000 + onTheWay + world.slack {
            world.fault("stall", "call \(number) waited \(passed / 1000) microseconds for more of a body")
        }
    }

    /// The limit that a reply which stalls has reached; `nil` if another request may follow.
    private func limit(of reply: ReplyPlan) -> Int? {
        // A head that has begun is more of a response (`Timeouts.read`).
        reply.stop?.isInHead == true && plan.client.retries ? nil : plan.client.readLimit ?? 60_000_000
    }

    /// Judges the call's time against its deadline and its cancellation.
    private func judgeTime(isSuccess: Bool) {
        let elapsed = world.kernel.now - start
        // The one in which the call's time ends, and those behind what had arrived by then.
        let readersPauses = call.pauseOfReader * max(1, world.calls[number].latePauses)
        var pauses = UInt64((readersPauses + call.uploadPause) * 1000)
        // The disk works on threads, and what was begun is waited for.
        if call.download != nil { pauses += UInt64(plan.network.longestThreadStart) * 6000 }
        // A stop gives the waits for other threads up to a second more.
        if plan.kernel?.stop != nil { pauses += 1_000_000_000 }
        if let total = call.total {
            world.kernel.count("judge: deadline")
            if elapsed > UInt64(total) * 1000 + world.slack + pauses {
                world.fault("deadline", "call \(number) took \(elapsed / 1000) of \(total) microseconds")
            }
        }
        if let cancellation = call.cancellation, !isSuccess {
            world.kernel.count("judge: cancellation")
            if elapsed > UInt64(cancellation) * 1000 + world.slack + pauses {
                world.fault("cancellation", "call \(number) took \(elapsed / 1000), not \(cancellation)")
            }
        }
        // Without a deadline each wait has a limit, and none of them can be extended for so long. A download
        // goes on as long as its requests bring bytes. Between them, addresses that are silent may be tried.
        let requests = call.download == nil ? 0 : UInt64(world.calls[number].requests)
        let longest = 3600 + requests * 240
        if elapsed > longest * 1_000_000_000 {
            world.fault("hang", "call \(number) took more than \(longest) seconds")
        }
    }
}
