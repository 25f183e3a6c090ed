/// Judges what a proxy of this machine does for one program.
struct TunnelJudge {
    let world: World
    let number: Int
    let plan: TunnelPlan
    private var program: ProgramPlan { plan.programs[number] }
    private var state: TunnelLedger.Program { world.tunnels.programs[number] }

    /// `nil` where there is no such program.
    init?(_ world: World, number: Int) {
        guard let plan = world.plan.tunnels, plan.programs.indices.contains(number) else { return nil }
        (self.world, self.number, self.plan) = (world, number, plan)
    }

    func fault(_ judge: String, _ words: String) {
        world.fault(judge, "program \(number) (\(program.road)): \(words)")
    }

    // MARK: Who is served, and where

    private var isMapped: Bool { program.host < plan.mapped && !program.namesAddress }
    var mayEnter: Bool { !plan.asksForCredentials || program.login == .right }

    /// The addresses that may be dialled for the program: those of the map whatever they are, and those of
    /// the public internet, which none of IPv6 in these worlds is.
    private var places: [Int] {
        let addresses = world.plan.hosts[program.host].addresses
        if isMapped { return Array(addresses.indices) }
        if plan.refusesOthers, !plan.hasResolver || program.namesAddress { return [] }
        let all = program.namesAddress ? [0] : Array(addresses.indices)
        return all.filter { !addresses[$0].isV6 }
    }

    /// A connection goes to an address that the settings allow for a program that has shown its credentials.
    func judgeDial(to place: Place) {
        world.kernel.count("judge: address for a program")
        if !mayEnter { fault("credentials", "served without any that are right") }
        if place.host != program.host || !places.contains(place.address) {
            fault("address", "\(place) is dialled")
        }
    }

    /// What a program has sent goes to one connection.
    func judgeArrival(ofRequest request: Int, on connection: SimulatedConnection) {
        world.kernel.count("judge: bytes of a program")
        world.tunnels.programs[number].connections[request, default: []].insert(connection.number)
        if state.connections[request, default: []].count > 1 {
            fault("two addresses", "bytes of request \(request) go to \(state.connections[request] ?? [])")
        }
    }

    // MARK: Bytes

    /// Judges bytes that have come out at the other end.
    func judge(_ bytes: [UInt8], isUp: Bool) {
        let (direction, body) = (state[isUp], Pattern.tunnel(number, isUp: isUp))
        if !Pattern.matches(bytes, body: body, from: direction.received)
            || direction.received + bytes.count > direction.sent
        {
            fault("tunnel", "other bytes \(isUp ? "up" : "down") behind \(direction.received)")
        }
        world.tunnels.programs[number][isUp].received += bytes.count
    }

    /// An end comes out only where one went in: a part is never taken for the whole.
    func judgeEnd(isUp: Bool) {
        world.kernel.count("judge: end of a tunnel")
        world.tunnels.programs[number][isUp].hasEnded = true
        if !state[isUp].isFinished {
            fault("end", "\(isUp ? "up" : "down") behind \(state[isUp].received), where there was none")
        }
    }

    // MARK: At the end

    /// Whether nothing but the two sides can end a tunnel. A proxy is stopped when its programs are done, and
    /// what is on its way to their targets then has the time that it waits.
    private var isCalm: Bool {
        let network = world.plan.network
        return network.resets == 0 && network.socketFailures == 0 && network.descriptors == nil
            && plan.stop == nil && plan.drain > 0
    }

    func judgeAtTheEnd() {
        judgeAnswer()
        judgeReports()
        guard isCalm, state.answer == 200 else { return }
        for isUp in [true, false] { judgeDelivery(isUp: isUp) }
    }

    private func judgeAnswer() {
        guard isCalm, !state.hasLeft else { return }
        world.kernel.count("judge: answer to a program")
        let answer = state.answer ?? 0
        let isFull = plan.most < plan.programs.count && answer == 503
        let canWork = places.contains { world.plan.hosts[program.host].addresses[$0].fate == .works }
        let isRight =
            if !mayEnter { answer == 407 } else if isFull { true } else if canWork {
                answer == 200
            } else if places.isEmpty {
                answer == 403
            } else { [403, 502, 504].contains(answer) }
        if !isRight { fault("answer", "\(answer), with the addresses \(places)") }
    }

    /// What a side has sent comes out, whatever it does then, unless the other side breaks off.
    private func judgeDelivery(isUp: Bool) {
        let (own, other) = isUp ? (program.up, program.down) : (program.down, program.up)
        guard other.ending != .resets else { return }
        world.kernel.count("judge: bytes of a tunnel")
        let direction = state[isUp]
        if direction.received != direction.sent {
            fault("tunnel", "\(direction.received) of \(direction.sent) \(isUp ? "up" : "down")")
        }
        if own.ending == .ends, program.road != .http, !direction.hasEnded {
            fault("end", "that \(isUp ? "of the program" : "of the target") was not passed on")
        }
    }

    /// Each tunnel and each request is reported once, as it was.
    private func judgeReports() {
        world.kernel.count("judge: report of a tunnel")
        let (count, expected) = (state.reports.count, mayEnter ? state.asked : 0)
        if count > expected || isCalm && count < expected && !state.hasLeft {
            fault("report", "\(count) reports of \(expected)")
        }
        let served = state.reports.filter { !$0.isRefused }
        for report in served {
            let addresses = places.map { "\(world.address($0, ofHost: program.host))" }
            if !addresses.contains(report.address ?? "") { fault("report", "of \(report.address ?? "none")") }
        }
        guard isCalm, !state.hasLeft, let last = state.reports.last, state.reports.count == 1 else { return }
        if last.isRefused == (state.answer == 200) { fault("report", "refused, with \(state.answer ?? 0)") }
        guard program.road != .http, !last.isRefused else { return }
        let areEnding = program.up.ending == .ends && program.down.ending == .ends
        if areEnding != last.isComplete, !areEnding || state.up.hasEnded && state.down.hasEnded {
            fault("report", "complete: \(last.isComplete)")
        }
        if last.sent < state.up.received || last.received < state.down.received || last.sent > state.up.sent
            || last.received > state.down.sent
        {
            fault("report", "\(last.sent) and \(last.received) bytes")
        }
    }
}

extension Pattern {
    /// The number of the bytes of one direction of a program's tunnel.
    static func tunnel(_ number: Int, isUp: Bool) -> Int { 2 * number + (isUp ? 1 : 0) }
}
