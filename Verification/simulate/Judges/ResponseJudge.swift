internal import DirectCore
internal import DirectHTTP

/// Judges a response that a caller has got: its bytes, where it comes from, and what is reported of it.
struct ResponseJudge {
    let world: World
    let number: Int
    let start: UInt64
    let response: ReceivedResponse
    private var plan: Plan { world.plan }
    private var call: CallPlan { plan.calls[number] }

    func judge() {
        noteStrictness()
        if response.status == 401, response.headers.contains("WWW-Authenticate") { return judgeRefusal() }
        if response.status == 407, let login = plan.peers?.login { return judgeRefusal(of: login) }
        guard let place = field("X-Reply"), let owner = field("X-Call"),
            plan.calls.indices.contains(owner), plan.calls[owner].replies.indices.contains(place)
        else { return world.fault("response", "call \(number) got a response that no server has sent") }
        let reply = plan.calls[owner].replies[place]
        if owner != number { judgeCached(reply, at: place, ofCall: owner) }
        if owner == number { world.noteCookie(number, place: place) }
        judgeBytes(of: reply, place, ofCall: owner)
        judgeFields(of: place, ofCall: owner)
        judgeUser()
        // What is delivered from a cache is as fresh as a retry could get it.
        guard owner == number else { return }
        judgeRetries()
        judgeUnused()
        judgeSpeed(of: reply)
        judgeTransfer(of: reply, place)
        if let transaction = response.transaction { judge(transaction, of: reply) }
        noteCacheable(reply)
    }

    private func field(_ name: String) -> Int? { response.headers[name].flatMap { Int($0) } }

    // MARK: Logins and TLS only

    /// A server that asks for a digest gets one that it accepts, unless the body cannot be sent again.
    private func judgeRefusal() {
        world.kernel.count("caller: login refused")
        let isSimple = plan.hosts.allSatisfy { $0.digest?.uses == nil }
        let mayLogIn = plan.client.logsInPerRequest != true || call.replies.allSatisfy { $0.status == 200 }
        guard isSimple, mayLogIn, ![.stream, .streamOfKnownLength].contains(call.kind), !call.carriesSecrets,
            !plan.client.rebuildsRequests, !plan.client.rebuildsRedirects, call.isPlain != true
        else { return }
        world.fault("digest", "call \(number) was refused")
    }

    /// A proxy that knows the user forwards the request, unless its body cannot be sent again.
    private func judgeRefusal(of login: PeerPlan.Login) {
        world.kernel.count("caller: login at a proxy refused")
        guard login.isAccepted, login.digest.uses == nil, !call.kind.isOneShot else { return }
        world.fault("digest", "call \(number) was refused by the proxy")
    }

    /// Notes that the client knows by now that a host wants TLS only.
    private func noteStrictness() {
        guard response.headers.contains("Strict-Transport-Security"),
            plan.client.acceptsAnyCertificate != true,
            let name = response.transaction?.tls?.verifiedName, let host = world.host(named: name)
        else { return }
        // A server that confirms a stored response sends no policy, and that of the stored one counts once.
        if let owner = field("X-Call"), let place = field("X-Reply"),
            let time = world.confirmed[owner * 100 + place], time >= start
        {
            return
        }
        let policy = World.Policy(run: plan.run(ofCall: number), host: host)
        let now = world.kernel.now
        world.strictSince[policy] = world.strictSince[policy] ?? (world.calls[number].start ?? now, now)
    }

    // MARK: Bytes

    private func judgeBytes(of reply: ReplyPlan, _ place: Int, ofCall owner: Int) {
        world.kernel.count("judge: bytes of a response")
        if response.status != UInt16(reply.status) {
            world.fault("response", "call \(number) got \(response.status) instead of \(reply.status)")
        }
        if let limit = plan.client.bodyLimit, call.reading == .fetch, response.body.count > limit {
            world.fault("limit", "call \(number) got \(response.body.count) bytes of \(limit)")
        }
        guard reply.ending != .floods else { return }
        let pattern = Pattern.reply(place, ofCall: owner, isCoded: reply.isCoded)
        if !Pattern.matches(response.body, body: pattern, from: 0) {
            world.fault("response bytes", "call \(number) got other bytes")
        }
        guard response.isWhole else { return }
        if owner == number { world.calls[number].reply = place }
        let expected = call.kind == .head ? 0 : reply.size
        if response.body.count != expected, !mayBeCut(reply) {
            world.fault("response bytes", "call \(number) got \(response.body.count) bytes of \(expected)")
        }
    }

    /// All fields are those that the server has sent with the response, in their order. A cache adds the age,
    /// and the date that no server here sends; it leaves out what is for one connection.
    private func judgeFields(of place: Int, ofCall owner: Int) {
        guard let sent = world.calls[owner].sentFields[place] else { return }
        // A confirmation repeats some of the fields, which may change their places (RFC 9111, section 3.2).
        let isConfirmed = world.confirmed[owner * 100 + place] != nil
        world.kernel.count("judge: fields of a response")
        // RFC 9111, section 3.1.
        let free =
            owner == number
            ? []
            : ["Age", "Date", "Transfer-Encoding", "Connection", "Keep-Alive", "Trailer"].map { $0 + ": " }
        func fixed(_ fields: [String]) -> [String] {
            let fixed = fields.filter { field in
                // Cookies that a confirmation does not repeat are old.
                !(isConfirmed && field.hasPrefix("Set-Cookie: ")) && !free.contains { field.hasPrefix($0) }
            }
            return isConfirmed ? fixed.sorted() : fixed
        }
        let got = fixed(response.headers.map { "\($0.name): \($0.value)" })
        if !sent.map(fixed).contains(got) {
            world.fault("fields", "call \(number) got \(got) instead of \(sent)")
        }
    }

    /// Whether a cut body cannot be told from a whole one: only the end of the connection ends it, and
    /// without TLS nothing shows that it came too early.
    private func mayBeCut(_ reply: ReplyPlan) -> Bool {
        guard reply.framing == .untilClose, response.transaction?.tls == nil else { return false }
        return reply.ending == .breaksOff || plan.network.resets > 0 || reply.ending == .stalls
    }

    // MARK: The cache

    /// A response to another call may come from a cache only, and only as long as it is fresh.
    private func judgeCached(_ reply: ReplyPlan, at place: Int, ofCall owner: Int) {
        world.kernel.count("judge: cached response")
        let other = plan.calls[owner]
        let confirmed = world.confirmed[owner * 100 + place]
        if confirmed != nil { world.kernel.count("judge: confirmed response") }
        // The client counts from its request, which is no later than its arrival at the server.
        let asked = world.calls[owner].tries.last { $0.reply == reply && $0.time < start }
        let since = min(start, confirmed ?? asked?.time ?? start)
        let age = (start - since) / 1_000_000_000
        let isAllowed =
            plan.client.caches && call.resource != nil && call.resource == other.resource
            && call.host == other.host && [.get, .head].contains(call.kind) && other.kind == .get
        if !isAllowed || age > UInt64(reply.lifetime ?? 0) + plan.clockBehind / 1_000_000_000 {
            world.fault("cache", "call \(number) got the response of call \(owner), \(age) seconds old")
        }
        let (sender, owners) = (plan.sender(ofCall: number), plan.sender(ofCall: owner))
        if plan.hasUsers {
            world.kernel.count("judge: user of a cached response")
        }
        if sender != owners {
            world.fault(
                "cache",
                "call \(number) for \(sender) got the response of call \(owner) for \(owners)"
            )
        }
        judgeVariant(of: owner, reply)
        // What changes a resource invalidates what is stored of it (RFC 9111, section 4.4).
        for third in plan.calls.indices where plan.calls[third].mayChangeCaches {
            let state = world.calls[third]
            guard plan.calls[third].resource == call.resource, plan.calls[third].host == call.host,
                let place = state.reply, plan.calls[third].replies[place].status < 400,
                let begin = state.start, begin > since, let end = state.end, end < start
            else { continue }
            world.fault("cache", "call \(number) got what call \(owner) had got before call \(third)")
        }
    }

    /// What depends on fields of the request is for requests with the same ones, after a restart too.
    private func judgeVariant(of owner: Int, _ reply: ReplyPlan) {
        guard plan.keeping != nil else { return }
        if plan.run(ofCall: owner) != plan.run(ofCall: number) {
            world.kernel.count("judge: response that was kept")
        }
        guard reply.variesByUser, !plan.client.addsUserBelowCache else { return }
        world.kernel.count("judge: variant of a response")
        let other = plan.calls[owner]
        if other.variant != call.variant || other.carriesSecrets != call.carriesSecrets {
            world.fault("cache", "call \(number) got another variant, that of call \(owner)")
        }
    }

    /// The response is the one that was made for the user.
    private func judgeUser() {
        guard plan.client.addsUserBelowCache, let user = response.headers["X-User"], user.hasPrefix("User")
        else {
            return
        }
        world.kernel.count("judge: user of a response")
        if user != world.user(ofCall: number) {
            world.fault("cache", "call \(number) of \(world.user(ofCall: number)) got what is for \(user)")
        }
    }

    /// A fresh response in the cache makes a request needless.
    private func judgeUnused() {
        guard let resource = call.resource, [.get, .head].contains(call.kind), mayUseCache(call) else {
            return
        }
        world.kernel.count("judge: use of the cache")
        for other in plan.calls.indices where other != number {
            let earlier = plan.calls[other]
            guard earlier.resource == resource, earlier.host == call.host, mayUseCache(earlier),
                plan.sender(ofCall: other) == plan.sender(ofCall: number),
                plan.cacheLasts(from: plan.run(ofCall: other), to: plan.run(ofCall: number)),
                let kept = world.calls[other].cacheable, kept + 5_000_000 < start,
                let place = world.calls[other].reply, !isReplaced(other)
            else { continue }
            let lifetime = UInt64(earlier.replies[place].lifetime ?? 0)
            guard lifetime > 1, plan.kernel?.clock == nil,
                world.kernel.now - (world.calls[other].start ?? 0) < (lifetime - 1) * 1_000_000_000
            else { continue }
            world.fault("cache", "call \(number) was sent although the response of call \(other) is fresh")
        }
    }

    /// Whether another response may have taken the place of a call's.
    private func isReplaced(_ other: Int) -> Bool {
        let start = world.calls[other].start ?? 0
        return plan.calls.indices.contains { third in
            // Which of two responses is the later one is not known within a second.
            third != other && third != number && plan.calls[third].resource == call.resource
                && plan.calls[third].host == call.host && !world.calls[third].tries.isEmpty
                && world.calls[third].end.map { $0 + 1_000_000_000 > start } ?? true
        }
    }

    private func mayUseCache(_ call: CallPlan) -> Bool {
        plan.client.caches && plan.hosts[call.host].digest == nil && !call.carriesSecrets
            && call.logsIn != true
            && !plan.client.addsUserBelowCache
            && (call.user != nil || !plan.client.keepsCookies)
    }

    /// Notes that a cache may keep the response from now on.
    private func noteCacheable(_ reply: ReplyPlan) {
        let state = world.calls[number]
        guard response.isWhole, call.kind == .get, response.status == 200, !reply.variesByUser,
            reply.framing != .untilClose, reply.size <= 40_000, state.tries.count == 1,
            // A folder is written to within the time of the call.
            plan.keeping == nil || call.total == nil && !plan.isCancelled(number)
        else { return }
        world.calls[number].cacheable = world.kernel.now
    }

    // MARK: Retries

    /// With a policy of retries, a status of its list is delivered with the reason why it is the last.
    private func judgeRetries() {
        guard plan.client.retries, [408, 425, 429, 502, 503, 504].contains(response.status) else { return }
        world.kernel.count("judge: retries")
        if response.retryStop == nil {
            world.fault("retries", "call \(number) got \(response.status) without a reason")
        }
    }

    // MARK: Figures

    /// A transfer slower than the limit must have failed.
    private func judgeSpeed(of reply: ReplyPlan) {
        guard let slowest = plan.client.slowestBytes, response.isWhole, call.reading == .fetch,
            call.kind != .head, reply.ending == .complete, plan.client.transfers == nil
        else { return }
        let state = world.calls[number]
        guard state.bodyEnd > state.bodyBegin else { return }
        world.kernel.count("judge: speed")
        let time = (state.bodyEnd - state.bodyBegin) / 1000
        // Work of callers may keep the loop busy, and a stop the program, which is not the server's fault.
        let busy = plan.calls.map(\.work).reduce(0, +) + (plan.kernel?.stop?.length ?? 0)
        let most = 3 * plan.client.slowestTime + 2 * plan.network.longestDelay + busy + 10_000
        if response.body.count < slowest, time > UInt64(most) {
            world.fault("speed", "call \(number) got \(response.body.count) bytes in \(time) microseconds")
        }
    }

    /// Bodies keep their limits of speed and of silent content, and the caller has been told of all bytes.
    private func judgeTransfer(of reply: ReplyPlan, _ place: Int) {
        let state = world.calls[number]
        let sentBody = state.sentBodies[place] ?? 0
        guard response.isWhole, call.kind != .head, plan.client.hedging == nil, reply.ending == .complete,
            call.download == nil
        else { return }
        let passed = (world.kernel.now - state.bodyBegin) / 1000
        if let rate = plan.client.transfers?.receivingRate {
            world.kernel.count("judge: speed of receiving")
            judge(sentBody, took: passed, at: rate)
        }
        if let rate = plan.client.transfers?.sendingRate, state.tries.count == 1, !reply.isEarly,
            ![.get, .head].contains(call.kind)
        {
            world.kernel.count("judge: speed of sending")
            judge(call.upload, took: (world.kernel.now - start) / 1000, at: rate)
        }
        if let limit = plan.client.transfers?.silentContent, response.headers["Content-Encoding"] == "gzip",
            let members = reply.emptyMembers
        {
            world.kernel.count("judge: silent content")
            if members * ReplyPlan.emptyMemberSize > limit {
                world.fault("limit", "call \(number) got \(members) members that decode to nothing")
            }
        }
        judgeProgress(state, of: reply, sentBody: sentBody)
    }

    private func judgeProgress(_ state: World.CallState, of reply: ReplyPlan, sentBody: Int) {
        guard call.watchesProgress == true, !plan.client.rebuildsRequests else { return }
        world.kernel.count("judge: progress of a transfer")
        if sentBody > 0, state.told.download != sentBody {
            let told = state.told.download.map(String.init) ?? "nothing"
            world.fault("progress", "call \(number) received \(sentBody) bytes, and was told of \(told)")
        }
        if call.upload > 0, ![.get, .head].contains(call.kind), state.tries.count == 1, !reply.isEarly,
            state.told.upload != call.upload
        {
            let told = state.told.upload.map(String.init) ?? "nothing"
            world.fault("progress", "call \(number) sent \(call.upload) bytes, and was told of \(told)")
        }
    }

    /// Judges the time of a body, in microseconds. The last piece, and what comes with a head, costs none.
    private func judge(_ bytes: Int, took time: UInt64, at rate: Int) {
        let free = max(rate / 4, 1024) + 2 * 16_709
        guard bytes > free, time < UInt64((bytes - free) * 1_000_000 / rate) else { return }
        world.fault("speed", "call \(number) moved \(bytes) bytes in \(time) microseconds")
    }

    /// What the client reports of its connection must be what the world has seen.
    private func judge(_ transaction: HTTPTransaction, of reply: ReplyPlan) {
        judgeTimes(transaction, of: reply)
        judgeLoading(transaction)
        guard plan.client.proxy == .none, let connection = field("X-Connection").flatMap(connection),
            let turn = field("X-Turn"), connection.times.connected != nil
        else { return }
        world.kernel.count("judge: figures of a connection")
        if let address = connection.address, transaction.endpoint?.address != address {
            world.fault("figures", "the endpoint is \(transaction.place), not \(address)")
        }
        if let host = connection.place?.host, transaction.name != world.name(host) {
            world.fault("figures", "the name is \(transaction.name), not \(world.name(host))")
        }
        if transaction.isReused != (turn > 1) {
            world.fault("figures", "request \(turn) of a connection, reused: \(transaction.isReused)")
        }
        guard !transaction.isReused, transaction.connectTime != nil else { return }
        if (transaction.tlsTime != nil) != plan.hosts[connection.place?.host ?? 0].isSecure {
            world.fault("figures", "tlsTime is \(String(describing: transaction.tlsTime))")
        }
    }

    /// Files of settings that hang have a second if there are former ones. The time of TLS has that.
    private func judgeLoading(_ transaction: HTTPTransaction) {
        guard world.settings?.mayHang == true, let time = transaction.tlsTime, plan.kernel?.stop == nil,
            plan.hosts.allSatisfy({ $0.ticketPause == nil }),
            !Reasons(world: world, number: number).areSettingsUnclear
        else { return }
        world.kernel.count("judge: time of settings")
        if time.clampedNanoseconds > 3_000_000_000 + world.callersWork {
            world.fault("settings", "call \(number) waited \(time) for files, of which there are former ones")
        }
    }

    /// A response comes after its request, and not before the server sends it.
    private func judgeTimes(_ transaction: HTTPTransaction, of reply: ReplyPlan) {
        // The request that arrived last need not be the one that was answered, if its connection was busy.
        guard let last = world.calls[number].tries.last else { return }
        world.kernel.count("judge: figures of time")
        let response = transaction.responseTime.clampedNanoseconds
        let request = transaction.requestTime.clampedNanoseconds
        let isEarly = last.reply.isEarly || reply.isEarly || plan.client.hedging != nil
        let delay = isEarly ? 0 : UInt64(min(last.reply.delay, reply.delay)) * 1000
        if response < request + delay || response > world.kernel.now - start {
            world.fault("figures", "call \(number): response \(response), request \(request), \(delay)")
        }
        guard let body = transaction.bodyTime, let total = transaction.totalTime else { return }
        if total.clampedNanoseconds != response + body.clampedNanoseconds {
            world.fault("figures", "call \(number) took \(total), of \(transaction.responseTime) and \(body)")
        }
    }

    private func connection(_ number: Int) -> SimulatedConnection? {
        let all = world.kernel.allConnections
        return all.indices.contains(number - 1) ? all[number - 1] : nil
    }
}
