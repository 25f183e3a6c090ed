internal import DirectCore
internal import DirectHTTP
internal import Glibc

/// Judges the use of connections: which are opened, which are used again, and which are given up.
struct PoolJudge {
    let world: World
    private var plan: Plan { world.plan }

    /// No connection is opened beside one that is idle.
    ///
    /// Only where one call is under way, and has sent nothing yet: otherwise the dial may have begun before
    /// that connection was idle.
    func judgeDial(to place: Place) {
        guard let time = loneBeginning(at: place.host), !canBeUnfit(at: place.host) else { return }
        world.kernel.count("judge: reuse")
        let idle = world.kernel.allConnections.first { connection in
            connection.place?.host == place.host && connection.isAtRest
                && connection.times.idle + 50_000_000 + world.callersWork < time
        }
        if let idle {
            world.fault("reuse", "host \(place.host) is dialled beside connection \(idle.number)")
        }
    }

    /// No connection is closed that could serve the next request.
    func judgeClose(of connection: SimulatedConnection) {
        guard let host = connection.place?.host, !canBeUnfit(at: host), plan.client.connections == nil,
            !world.kernel.isClientReleased, plan.keeping == nil,
            !(plan.client.retries && plan.client.perOrigin != nil),
            !plan.client.isReleasedEarly, plan.network.descriptors == nil, !plan.asksProgram,
            plan.calls.allSatisfy({ $0.follows || $0 == plan.calls.first }),
            // A head that is sent in parts may be given up as too slow.
            plan.client.slowestBytes == nil || plan.network.shortSends == 0,
            // A redirect is resolved anew, so it may need the slot for another route.
            !(plan.client.perOrigin != nil && plan.client.resolving == .request)
        else { return }
        world.kernel.count("judge: closing")
        guard connection.isIdle, !connection.isBroken, connection.down.outstanding == 0,
            !connection.down.isFinished
        else { return }
        world.fault("waste", "connection \(connection.number) is closed although it could be used again")
    }

    /// Returns when the only call under way began; `nil` if there are others, or if it has sent a request.
    private func loneBeginning(at host: Int) -> UInt64? {
        guard world.activeCalls == 1,
            let number = world.calls.indices.first(where: {
                world.calls[$0].start != nil && !world.calls[$0].isOver
            }),
            plan.calls[number].host == host, world.calls[number].tries.isEmpty
        else { return nil }
        return world.calls[number].start
    }

    /// Whether an idle connection to the host may be one that the client must not or cannot use.
    private func canBeUnfit(at host: Int) -> Bool {
        let client = plan.client
        // A connection of an earlier run is not this one's, and one to an address that its host has left is
        // not used. Resolvers that are not good may answer without the address that a connection is to.
        return plan.keeping != nil || plan.hostsMove || client.hedging != nil
            || plan.resolvers?.isGood == false
            || plan.hosts[host].strictness != nil
            || client.usesPerConnection != nil
            || client.idleTimeout != nil || plan.network.resets > 0
            || plan.hosts[host].updatesKeys || plan.hosts[host].ticketPause != nil
            || plan.calls.contains { $0.kind == .prewarm || $0.tls != nil }
            || plan.hosts[host].idleClose != nil
            || plan.hosts[host].addresses.contains { $0.fate != .works }
            || plan.calls.contains {
                leavesBody($0) || sendsBodyUnasked($0) || $0.replies.contains(where: endsConnection)
            }
    }

    /// Whether it may be unknown what a server that refuses the call has made of the body, which it has not
    /// asked for.
    private func sendsBodyUnasked(_ call: CallPlan) -> Bool {
        call.expectsContinue && call.replies.contains { $0.status >= 300 }
    }

    /// Whether a reply may cost its connection.
    private func endsConnection(_ reply: ReplyPlan) -> Bool {
        reply.ending != .complete || reply.isEarly || [408, 417, 421].contains(reply.status)
    }

    /// Whether a body whose end has not arrived yet is not read: it cannot be waited for.
    private func leavesBody(_ call: CallPlan) -> Bool {
        call.reading == .firstPiece || call.download != nil
            || call.reading == .none && call.replies.contains { $0.parts > 1 || $0.framing == .chunked }
    }

    /// A request that must not be sent twice is not sent on a connection whose end has arrived long ago.
    func judge(_ bytes: UnsafeRawBufferPointer, sentOn connection: SimulatedConnection) {
        if connection.isStopped, connection.times.sentAfterStop == nil {
            connection.times.sentAfterStop = world.kernel.now
        }
        guard bytes.starts(with: "POST ".utf8), !plan.client.repeatsAnyMethod else { return }
        world.kernel.count("judge: stale connection")
        let job = UInt64(plan.network.jobCost * 20) + world.callersWork
        guard let ended = connection.times.ended else { return }
        // What had ended when the call began is noticed, whatever has kept the loop busy before.
        let number = callNumber(inRequestLine: bytes)
        let begin = number.flatMap { world.calls[$0].start } ?? 0
        // A server that ends each connection at once would be dialled again without end. So a request whose
        // file is measured first is sent on the connection that was made for it, whatever has become of that.
        let isMeasured = number.map { plan.calls[$0].kind == .file } == true
        if isMeasured, connection.times.connect >= begin, connection.times.lastRequest == nil { return }
        if ended + 1000 < begin || ended + 1_000_000 + job < world.kernel.now {
            world.fault("stale", "a request is sent on connection \(connection.number), which has ended")
        }
    }

    /// Returns the number of the call whose request begins with these bytes.
    private func callNumber(inRequestLine bytes: UnsafeRawBufferPointer) -> Int? {
        let words = bytes.prefix(200).split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count > 2, let digits = words[1].split(separator: UInt8(ascii: "/")).last else {
            return nil
        }
        return Int(String(decoding: digits, as: UTF8.self)).flatMap {
            world.calls.indices.contains($0) ? $0 : nil
        }
    }

    /// No call fails because descriptors have run out while there is an idle connection that could be closed.
    func judgeShortage(_ error: any Error, ofCall number: Int) {
        guard let error = error as? HTTPError, case .system(let system) = error.reason,
            system.isDescriptorShortage
        else { return }
        world.kernel.count("judge: shortage of descriptors")
        // What became idle after the last refusal cannot have been of use.
        let since = world.kernel.lastShortage - 300_000_000
        let idle = world.kernel.allConnections.first { $0.isAtRest && $0.times.idle < since }
        if let idle, plan.network.descriptors != nil {
            world.fault("shortage", "call \(number) had no descriptor, and connection \(idle.number) is idle")
        }
    }

    /// Judges what can be told at the end only.
    func judgeAtTheEnd() {
        for connection in world.kernel.allConnections { judgeOpening(of: connection) }
        judgeSiblings()
    }

    /// A proxy has to answer within the limits, however many bytes it sends.
    private func judgeOpening(of connection: SimulatedConnection) {
        // A connection made ahead may be idle from the beginning, and a request may wait for its turn.
        guard plan.client.proxy != .none, connection.path == nil, connection.place == nil,
            let limit = plan.client.connectLimit,
            !plan.calls.contains(where: { $0.kind == .prewarm }), plan.client.transfers?.sendingRate == nil
        else { return }
        world.kernel.count("judge: time of a proxy")
        // Connecting, TLS with the proxy, and the conversation with it have the limit each.
        let longest = UInt64(limit) * 1000 * 3 + world.slack
        let end = connection.times.tunnel ?? connection.times.closed ?? world.kernel.now
        if end - connection.times.connect > longest {
            world.fault("opening", "a proxy was waited for: \((end - connection.times.connect) / 1000)")
        }
    }

    /// When a request on a connection that was used before is not answered in time, no other one of those to
    /// the same address is used any more that have not been heard from since.
    private func judgeSiblings() {
        guard let limit = plan.client.responseLimit, plan.client.proxy == .none, plan.network.resets == 0,
            !plan.client.isReleasedEarly, plan.keeping == nil,
            !plan.calls.contains(where: { $0.cancellation != nil || $0.upload > 0 })
        else { return }
        let stopped = world.kernel.allConnections.filter { $0.wasIdleWhenStopped }
        for first in stopped {
            guard let sent = first.times.sentAfterStop, let stop = first.times.stopped,
                let closed = first.times.closed,
                sent > stop + 50_000_000, closed >= sent + UInt64(limit) * 1000
            else { continue }
            world.kernel.count("judge: siblings of a connection")
            for second in stopped
            where second !== first && second.address == first.address && second.port == first.port {
                guard let later = second.times.sentAfterStop, later > closed + world.slack,
                    (second.times.closed ?? .max) > later + world.slack
                else { continue }
                world.fault("siblings", "connection \(second.number) was used after \(first.number)")
            }
        }
    }
}
