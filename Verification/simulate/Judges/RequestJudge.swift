internal import DirectCore

/// Judges what a server has received: secrets, the fields that settings ask for, the wait for 100 (Continue).
struct RequestJudge {
    let world: World
    let number: Int
    let host: Int
    private var plan: Plan { world.plan }

    func judge(_ head: ReceivedHead, on connection: SimulatedConnection) {
        // What the client gave up long ago says nothing about what it does now.
        guard connection.isOpenForClient else { return }
        judgeClientSecret(head)
        judgeLogin(head)
        judgeScheme(head)
        judgeCookie(head)
        judgeSocket(connection)
        judgeAcceptEncoding(head)
        ResolverJudge(world: world).judgeRequest(of: number, host: host, on: connection)
        KeepingJudge(world, call: number)?.judge(head, of: number, host: host)
    }

    /// The client's own secret is for the origin that the call begins at. After a redirect to another one it
    /// is sent nowhere, not even on the way back.
    private func judgeClientSecret(_ head: ReceivedHead) {
        guard plan.client.hasOwnSecret, plan.calls[number].isPaged != true else { return }
        let isBeyondBase = plan.client.hasBase == true && plan.calls[number].host != 0
        if host != plan.calls[number].host || isBeyondBase { world.calls[number].hasCrossed = true }
        // Each attempt of a download begins anew.
        if plan.calls[number].download != nil, plan.calls[number].isPlain != true,
            head.target.hasSuffix(world.path(ofCall: number))
        {
            world.calls[number].hasCrossed = false
        }
        let isSent = head.fields.contains { $0.value.contains(World.clientSecret) }
        world.kernel.count("judge: the client's own secret")
        if isSent, world.calls[number].hasCrossed, !world.calls[number].mayHaveMissedCrossing {
            world.fault("secrets", "\(world.name(host)) got the client's secret after a redirect")
        }
        if !isSent, !world.calls[number].hasCrossed {
            world.fault("fields", "\(world.name(host)) did not get the client's field")
        }
    }

    /// A login with Basic is in UTF-8 (RFC 7617, section 2.1), and for the host that the call begins at.
    private func judgeLogin(_ head: ReceivedHead) {
        let call = plan.calls[number]
        guard call.logsIn == true else { return }
        world.kernel.count("judge: login")
        let sent = head.value(of: "authorization") ?? "missing"
        if host != call.host, sent == World.loginField {
            world.fault("secrets", "\(world.name(host)) got the login for \(world.name(call.host))")
        }
        let isFirst = host == call.host && world.calls[number].requests == 0
        if isFirst, !plan.client.rebuildsRequests, sent != World.loginField {
            world.fault("fields", "Authorization is \(sent), not \(World.loginField)")
        }
    }

    /// What the caller sends to a plain URL is not for the same name with TLS, behind a redirect.
    private func judgeScheme(_ head: ReceivedHead) {
        let (call, state) = (plan.calls[number], world.calls[number])
        guard call.isPlain == true, call.carriesSecrets, call.download == nil, call.isPaged != true,
            plan.network.resets == 0,
            state.hasCrossed, !state.mayHaveMissedCrossing
        else { return }
        world.kernel.count("judge: secrets behind a change of the scheme")
        for name in ["authorization", "x-api-key"] {
            if head.value(of: name)?.reveals(world.secret(ofHost: call.host)) == true {
                world.fault("secrets", "\(world.name(host)) got \(name) behind a change of the scheme")
            }
        }
    }

    /// The target of a redirect gets the cookie that came with it.
    private func judgeCookie(_ head: ReceivedHead) {
        let (client, call) = (plan.client, plan.calls[number])
        guard client.keepsCookies, plan.keeping == nil, !plan.fillsJars, call.isAlone != true,
            call.download == nil, client.hedging == nil, client.responseLimit == nil,
            plan.hosts.allSatisfy({ $0.sharesName != true }), plan.network.resets == 0,
            plan.hosts[host].addresses.allSatisfy({ $0.fate == .works }),
            let last = world.calls[number].tries.last, last.place?.host == host, last.reply.leads(to: host),
            last.reply.setsCookie, last.reply.ending == .complete, !last.reply.isEarly
        else { return }
        world.kernel.count("judge: cookie of a redirect")
        if head.value(of: "cookie")?.reveals(world.secret(ofHost: host)) != true {
            world.fault("cookies", "call \(number) lacks the cookie that its redirect has set")
        }
    }

    /// No redirect leads from another origin to a Unix domain socket, unless the program has chosen it.
    private func judgeSocket(_ connection: SimulatedConnection) {
        if host != plan.calls[number].host { world.calls[number].hasLeft = true }
        guard connection.path != nil, plan.calls[number].download == nil, !plan.client.rebuildsRedirects
        else {
            return
        }
        world.kernel.count("judge: way to a socket")
        if world.calls[number].hasLeft {
            world.fault("socket", "a redirect has led call \(number) to \(connection.path ?? "")")
        }
    }

    /// No plain request is sent to a host of which the client knows that it wants TLS only.
    func judgeStrictness() {
        guard plan.client.keepsHSTS == true else { return }
        world.kernel.count("judge: TLS only")
        // What counts is what it knows when the call begins.
        let start = world.calls[number].pageStart ?? world.calls[number].start ?? 0
        // The clients of several users have learned it each for itself.
        let isLearned = !plan.hasUsers && world.isStrict(host, run: plan.run(ofCall: number), before: start)
        let isKnown = plan.hosts[host].strictness == .known || isLearned
        if isKnown { world.fault("TLS only", "a plain request for \(world.name(host)), call \(number)") }
    }

    /// The codings asked for are those of the settings.
    private func judgeAcceptEncoding(_ head: ReceivedHead) {
        let codings: String? =
            switch plan.client.decoding {
            case .none: nil
            case .gzip: "gzip"
            case .deflate: "deflate"
            case .both: "gzip, deflate"
            }
        // A part of coded content could not be decoded.
        let expected = plan.calls[number].download == nil ? codings : "identity"
        world.kernel.count("judge: codings")
        let received = head.value(of: "accept-encoding")
        if received != expected {
            world.fault("fields", "Accept-Encoding is \(received ?? "missing"), not \(expected ?? "missing")")
        }
    }

    /// Without a 100 (Continue) the body comes after the time that the settings say.
    ///
    /// - Parameter passed: The nanoseconds between the head and the body.
    func judgeWait(_ passed: UInt64) {
        // A server that pauses in its handshake, or still reads an earlier upload, sees the head late. It
        // reads whole chunks, which take their time if their rate is limited.
        guard plan.client.transfers?.sendingRate == nil, plan.hosts.allSatisfy({ $0.ticketPause == nil }),
            !plan.calls.contains(where: { $0.replies.contains { $0.isEarly && $0.lateReading > 0 } })
        else { return }
        world.kernel.count("judge: wait for 100 (Continue)")
        let call = plan.calls[number]
        let limit = UInt64(plan.client.continueLimit ?? 1_000_000) * 1000
        let way = UInt64(plan.network.longestDelay) * 1000
        // The server itself may have been late when the head came: callers' work, and what a task takes until
        // its second yield, keep it from running, too.
        let late = UInt64(plan.network.jobCost * 10 + plan.network.byteCost * 660_000) + world.callersWork
        // A record of TLS, of which a server reads only the whole, may wait for room.
        let waits = UInt64(17_000 / min(plan.network.sendBuffer, plan.network.receiveBuffer))
        // What a file or the program's own code gives is sent on a thread, and after each wait on a new one.
        // Anything else goes on where a thread may have to begin.
        let threads = call.kind == .file ? 4 : call.kind.isOneShot ? 2 + waits : 1
        let pauses = UInt64(call.uploadPause) + threads * UInt64(plan.network.longestThreadStart)
        let slack = world.slack + pauses * 1000
        if passed + way + late < limit || passed > limit + 2 * (waits + 1) * way + slack {
            world.fault("continue", "the body came \(passed / 1000) microseconds after the head")
        }
    }
}
