internal import DirectCore
internal import DirectHTTP

/// Judges the outcome of one call: its bytes, its time, and whether it had a reason to fail.
struct CallJudge {
    private let world: World
    private let number: Int
    private let start: UInt64
    private var plan: Plan { world.plan }
    private var call: CallPlan { plan.calls[number] }

    init(_ world: World, number: Int, start: UInt64) {
        self.world = world
        self.number = number
        self.start = start
    }

    func note(_ outcome: String) {
        world.calls[number].outcome = outcome
        world.kernel.note("outcome", place: number, amount: outcome.utf8.count)
        world.kernel.explain("  call \(number): \(outcome)")
    }

    /// Judges a response.
    func judge(_ response: ReceivedResponse) {
        note("\(response.status), \(response.body.count) bytes")
        world.kernel.count("caller: response")
        judgeTime(isSuccess: true)
        guard let place = response.headers["X-Reply"].flatMap({ Int($0) }),
            call.replies.indices.contains(place)
        else { return world.fault("response", "call \(number) got a response that no server has sent") }
        let reply = call.replies[place]
        world.kernel.count("judge: bytes of a response")
        if response.status != UInt16(reply.status) {
            world.fault("response", "call \(number) got \(response.status) instead of \(reply.status)")
        }
        if !Pattern.matches(response.body, body: Pattern.reply(place, ofCall: number), from: 0) {
            world.fault("response bytes", "call \(number) got other bytes")
        }
        guard response.isWhole else { return }
        world.calls[number].reply = place
        let expected = call.kind == .head ? 0 : reply.size
        if response.body.count != expected, !mayBeCut(reply) {
            world.fault("response bytes", "call \(number) got \(response.body.count) bytes of \(expected)")
        }
    }

    /// Whether a cut body cannot be told from a whole one: only its end of the connection ends it, and without TLS, or
    /// after a close_notify, nothing shows that it came too early.
    private func mayBeCut(_ reply: ReplyPlan) -> Bool {
        guard reply.framing == .untilClose else { return false }
        return reply.ending == .breaksOff || plan.network.resets > 0 || reply.ending == .stalls
    }

    /// Judges an error.
    func judge(_ error: any Error) {
        note("\(error)")
        world.kernel.count("caller: error")
        judgeTime(isSuccess: false)
        let text = "\(error)"
        for host in plan.hosts.indices where text.contains(world.secret(ofHost: host)) {
            world.fault("secrets", "the error of call \(number) has a secret: \(text)")
        }
        if text.contains(World.proxySecret) { world.fault("secrets", "an error has the proxy's: \(text)") }
        if !(error is HTTPError), !(error is CancellationError) {
            world.fault("error", "call \(number) ended with \(type(of: error)): \(error)")
        }
        if error is CancellationError, call.cancellation == nil {
            world.fault("error", "call \(number) was never cancelled")
        }
        guard !Reasons(plan, number).mayFail else { return }
        world.fault("no reason", "call \(number) ended with \(error)")
    }

    /// Judges the call's time against its deadline and its cancellation.
    private func judgeTime(isSuccess: Bool) {
        let elapsed = world.kernel.now - start
        // The loop looks for passed deadlines each millisecond, and the poller rounds up to the next; then some jobs
        // have to run, and a record of 64 KiB may be under way.
        let own = 3_000_000 + UInt64(plan.network.jobCost * 30 + plan.network.byteCost * 70_000)
        let others = UInt64((plan.network.jobCost * 30 + plan.network.byteCost * 70_000) * plan.calls.count)
        let pauses = UInt64(call.reading == .slowly ? 5_000_000 : 0) + UInt64(call.uploadPause * 1000)
        let slack = own + others + pauses
        if let total = call.total {
            world.kernel.count("judge: deadline")
            if elapsed > UInt64(total) * 1000 + slack {
                world.fault("deadline", "call \(number) took \(elapsed / 1000) of \(total) microseconds")
            }
        }
        if let cancellation = call.cancellation, !isSuccess {
            world.kernel.count("judge: cancellation")
            if elapsed > UInt64(cancellation) * 1000 + slack {
                world.fault(
                    "cancellation",
                    "call \(number) took \(elapsed / 1000), not \(cancellation) microseconds"
                )
            }
        }
    }
}

extension World {
    /// Judges what can be told at the end only.
    func judgeAtTheEnd() {
        for number in calls.indices {
            judgeUpload(number)
            judgeRepetition(number)
        }
        kernel.count("judge: descriptors")
        kernel.count("judge: leaks")
    }

    /// A success means that the server has got the whole upload, or gave its final answer before.
    private func judgeUpload(_ number: Int) {
        let (call, state) = (plan.calls[number], calls[number])
        guard let place = state.reply, let received = state.received[place] else { return }
        kernel.count("judge: upload")
        let reply = call.replies[place]
        if received == call.upload { return }
        if !reply.isEarly {
            fault("upload", "call \(number) succeeded after \(received) of \(call.upload) bytes")
        } else if isReadToItsEnd(reply), !state.excusedUploads.contains(place), !call.expectsContinue {
            fault("upload", "call \(number) gave up its upload after \(received) of \(call.upload) bytes")
        }
    }

    /// Whether a server that answers early reads the whole upload afterwards if the client sends it.
    ///
    /// Not if the client may close the connection as idle, with all of the upload on its way: what then arrives from the
    /// server is answered with a reset, which destroys what the server has not read yet.
    private func isReadToItsEnd(_ reply: ReplyPlan) -> Bool {
        let client = plan.client
        return reply.status < 300 && reply.ending == .complete && reply.framing != .untilClose
            && client.idleTimeout == nil && client.usesPerConnection == nil && client.connections == nil
            && plan.network.resets == 0
            && !plan.hosts.contains { $0.addresses.contains { $0.fate == .dies } }
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
}

/// The reasons in a plan for which a call may fail.
struct Reasons {
    private let plan: Plan
    private let number: Int

    init(_ plan: Plan, _ number: Int) {
        self.plan = plan
        self.number = number
    }

    /// Whether there is any. When in doubt there is: this judge is about calls for which everything works.
    var mayFail: Bool {
        let call = plan.calls[number]
        let network = plan.network
        if call.total != nil || call.cancellation != nil || network.resets > 0 || network.socketFailures > 0 {
            return true
        }
        let client = plan.client
        if client.responseLimit != nil || client.queueLimit != nil { return true }
        if plan.hosts.contains(where: { $0.addresses.contains { $0.fate != .works } }) { return true }
        // A response that never ends keeps its connection from the other calls.
        if plan.calls.contains(where: readsForLong) { return true }
        // Bytes behind a response may arrive when the next request has been sent.
        if plan.calls.contains(where: { $0.replies.contains { [.stalls, .addsBytes].contains($0.ending) } }) {
            return true
        }
        // Without a close_notify the end of such a body cannot be told from a cut.
        if plan.hosts.contains(where: { ($0.isSecure || client.proxy == .https) && $0.isRude }),
            call.replies.contains(where: { $0.framing == .untilClose })
        {
            return true
        }
        if call.replies.contains(where: { ![.complete, .closes].contains($0.ending) }) { return true }
        return hasRedirectProblem(call) || hasUploadProblem(call)
    }

    /// Whether a server reads an upload for seconds after it has answered: the next request on that connection waits.
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
        let hosts = [call.host] + redirects.map(\.target)
        return hosts.contains { plan.hosts[$0].isSecure } && hosts.contains { !plan.hosts[$0].isSecure }
    }

    /// A request that was cut off while it was sent cannot be repeated.
    private func hasUploadProblem(_ call: CallPlan) -> Bool {
        guard ![.get, .head, .prewarm].contains(call.kind) else { return false }
        if plan.hosts.contains(where: { $0.idleClose != nil }) { return true }
        if plan.calls.contains(where: {
            $0.replies.contains { $0.ending != .complete || $0.framing == .untilClose }
        }) {
            return true
        }
        return call.replies.contains { $0.status != 200 || $0.isEarly }
    }
}
