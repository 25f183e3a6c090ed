/// A proxy of this machine (DirectProxy), in place of a client, and the programs behind it.
struct TunnelPlan: Codable, Equatable {
    /// Whether the proxy asks for its credentials.
    var asksForCredentials = true
    /// Whether it refuses hosts that are not in its map, and how many of the world's hosts are in it.
    var refusesOthers = false
    var mapped = 3
    /// Whether a resolver of its own is asked for the others, and not the system.
    var hasResolver = false
    /// Its limits: of silence, of silence once a program has ended its sending, and of tunnels at a time.
    var idle = 60_000_000
    var halfClosed = 60_000_000
    var most = 10_000
    /// When it is stopped, if that is not when all programs have ended, and what it waits for tunnels then.
    var stop: Int?
    var drain = 5_000_000
    var programs = [ProgramPlan()]
}

/// A program behind the proxy, and what it has to do with its target. Its target's port is its own.
struct ProgramPlan: Codable, Equatable {
    enum Road: String, Codable {
        case connect, socks, http
    }

    enum Login: String, Codable {
        case right, wrong, none
    }

    /// What one side sends, and what it does then.
    struct Side: Codable, Equatable {
        enum Ending: String, Codable {
            /// Ends its sending, and reads on.
            case ends
            /// Breaks the connection off, once the proxy has taken all.
            case resets
            /// Sends nothing more, and does not end.
            case rests
        }

        var size = 100
        var ending = Ending.ends
        /// The bytes of a write, and the pause behind each.
        var piece = 65_536
        var pause = 0
    }

    var road = Road.connect
    var login = Login.right
    var host = 0
    var start = 0
    /// Whether it asks for the first address of the host instead of its name.
    var namesAddress = false
    /// Whether it sends all that it has to say before it has read any answer.
    var isEager = false
    /// The number of its requests for an `http` URL, and whether their content comes in chunks, or that of
    /// the responses until the end of the connection.
    var requests = 1
    var isChunked = false
    var endsByClose = false
    var up = Side()
    var down = Side()

    /// How much is sent in each direction of a request, or of a tunnel. With `http` a side that does not end
    /// as it should sends half.
    func share(isUp: Bool) -> Int {
        let side = isUp ? up : down
        return road == .http && side.ending != .ends ? side.size / 2 : side.size
    }
}

extension Plan {
    /// Programs use a proxy of this machine. There is no client.
    mutating func haveTunnels(_ dice: inout Dice) {
        if dice.chance(70) { calmDown() }
        (client, kernel, calls, peers) = (ClientPlan(), KernelPlan(), [], nil)
        hosts = (0..<dice.number(in: 1...Material.mostHosts)).map { _ in
            var host = HostPlan(resolveTime: dice.one(of: [1000, 50_000, 1_000_000]))
            host.addresses = (0..<dice.number(in: 1...3)).map { _ in
                let fate =
                    dice.chance(65) ? AddressPlan.Fate.works : dice.one(of: [.refuses, .fails, .silent])
                return AddressPlan(fate: fate, isV6: dice.chance(20))
            }
            return host
        }
        var plan = TunnelPlan(asksForCredentials: dice.chance(70), refusesOthers: dice.chance(35))
        (plan.mapped, plan.hasResolver) = (dice.number(in: 0...hosts.count), dice.chance(50))
        (plan.idle, plan.halfClosed) = (
            dice.one(of: [3, 60]) * 1_000_000, dice.one(of: [2, 60]) * 1_000_000
        )
        if dice.chance(10) { plan.most = dice.number(in: 1...3) }
        if dice.chance(15) { plan.stop = dice.number(in: 0...400) * 1000 }
        plan.drain = dice.one(of: [0, 5_000_000, 5_000_000])
        plan.programs = (0..<dice.number(in: 2...10)).map { _ in
            ProgramPlan(drawnFrom: &dice, hosts: hosts.count, asks: plan.asksForCredentials)
        }
        tunnels = plan
    }
}

extension ProgramPlan {
    fileprivate init(drawnFrom dice: inout Dice, hosts: Int, asks: Bool) {
        road = dice.one(of: [.connect, .connect, .socks, .http])
        if asks, dice.chance(25) { login = dice.one(of: [.wrong, .none]) }
        (host, start) = (dice.below(hosts), dice.below(100) * 1000)
        (namesAddress, isEager) = (dice.chance(15), dice.chance(40))
        (up, down) = (Side(drawnFrom: &dice), Side(drawnFrom: &dice))
        guard road == .http else {
            // Its first byte tells the target that its connection is the one that is used.
            up.size = max(1, up.size)
            return
        }
        (isChunked, endsByClose) = (dice.chance(50), dice.chance(20))
        if up.ending == .ends, down.ending == .ends, !endsByClose { requests = dice.number(in: 1...3) }
    }
}

extension ProgramPlan.Side {
    fileprivate init(drawnFrom dice: inout Dice) {
        size = dice.one(of: [0, 1, 100, 5000, 100_000, 300_000])
        ending = dice.one(of: [.ends, .ends, .ends, .resets, .rests])
        piece = size > 5000 ? dice.one(of: [10_000, 65_536]) : dice.one(of: [1, 100, 65_536])
        if size / piece < 40 { pause = dice.one(of: [0, 0, 5000, 100_000]) }
    }
}
