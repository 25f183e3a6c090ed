/// Judges requests that are sent twice at a time.
struct HedgeJudge {
    let world: World
    let number: Int
    private var plan: Plan { world.plan }

    /// A request is under way once. With hedging it may be twice, at two addresses, unless a server may act
    /// on both.
    func judgeArrival(_ head: ReceivedHead, of request: RequestUnderWay) {
        let others = world.calls[number].underWay.filter {
            $0.isAwaited && $0.connection !== request.connection
        }
        world.calls[number].underWay.append(request)
        world.calls[number].used.append(request.connection)
        world.kernel.count("judge: sent once at a time")
        guard !others.isEmpty, request.isAwaited else { return }
        guard plan.client.hedging != nil, ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"].contains(head.method)
        else {
            return world.fault("hedge", "\(head.method) of call \(number) is under way twice")
        }
        world.kernel.count("judge: hedge")
        world.calls[number].isHedged = true
        if others.count > 1 { world.fault("hedge", "call \(number) is under way \(others.count + 1) times") }
        // One that is sent again, because its connection was dead, does not know where its hedge is; and one
        // that has lost against a redirect is closed when its task has its turn.
        let isFirstTry =
            !world.kernel.hasLostRequests
            && world.calls[number].tries.allSatisfy {
                $0.reply.ending != .closesBefore && $0.reply.status != 408
                    && !(300..<400).contains($0.reply.status)
            }
            && !world.calls[number].used.contains(where: \.isBroken)
        let place = request.connection.place
        if isFirstTry, place != nil, others.contains(where: { $0.connection.place == place }) {
            world.fault("hedge", "call \(number) is under way twice at one address")
        }
    }

    /// Where everything works, the first response that takes long enough for a request to another address
    /// makes the client send one. Later ones may find the budget of hedges spent.
    static func judgeAtTheEnd(_ world: World) {
        let (plan, client) = (world.plan, world.plan.client)
        guard let wait = client.hedging?.delay, client.proxy == .none, client.perOrigin == nil,
            client.connections == nil, client.connectLimit == nil, client.responseLimit == nil,
            !client.isReleasedEarly,
            plan.network.descriptors == nil, plan.network.socketFailures == 0, plan.network.resets == 0,
            plan.hosts.allSatisfy({ $0.ticketPause == nil && $0.hasSocket != true }),
            plan.calls.allSatisfy({ !$0.isFlooded && !$0.isReadLate })
        else { return }
        let late = plan.calls.indices.first { number in
            let call = plan.calls[number]
            guard [.get, .head, .put].contains(call.kind), call.total == nil, call.download == nil,
                !plan.isCancelled(number), !call.expectsContinue, world.calls[number].reply != nil,
                let first = world.calls[number].tries.first, !first.reply.isEarly,
                let host = first.place?.host, plan.hosts[host].addresses.count > 1,
                plan.hosts[host].addresses.allSatisfy({ $0.fate == .works })
            else { return false }
            let opening = plan.hosts[host].resolveTime + 14 * plan.network.longestDelay
            let enough = max(wait, 10_000) + opening + 4 * plan.network.longestThreadStart
            return first.reply.delay > enough + Int(world.slack / 1000) + 20_000
        }
        guard let late else { return }
        world.kernel.count("judge: late response")
        if !world.calls.contains(where: \.isHedged) {
            world.fault("hedge", "call \(late) was not hedged, however late its response")
        }
    }

    /// When a call is over, the request that has lost is given up.
    func judgeEnd(reply: Int?) {
        guard let reply, world.calls[number].isHedged else { return }
        world.kernel.count("judge: loser of a hedge")
        let losers = world.calls[number].underWay.filter { $0.reply != reply && !$0.isAnswered }
        guard !losers.isEmpty else { return }
        world.kernel.count("caller: hedge won or lost")
        let (world, number) = (world, number)
        world.kernel.after(nanoseconds: world.slack) {
            for loser in losers where loser.isAwaited {
                world.fault("hedge", "connection \(loser.connection.number) still waits for call \(number)")
            }
        }
    }
}

extension CallPlan {
    /// Whether a server may answer before it reads the upload: it sees the next request behind all of it.
    fileprivate var isReadLate: Bool {
        upload > 0 && ![.get, .head].contains(kind) && replies.contains { $0.isEarly }
    }
}
