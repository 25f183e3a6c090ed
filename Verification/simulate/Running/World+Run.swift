internal import CSimulation
internal import DirectIO

extension World {
    /// What a world may leave behind: the process makes room for more of this and that once.
    private static let mostMemory = 1024 * 1024

    /// What OpenSSL may need for a connection, and for the client.
    private static let mostTLSMemory = 400 * 1024

    /// Runs a world and returns what the judges say, of the memory that is left behind too.
    static func run(_ plan: Plan, isTraced: Bool = false) -> Verdict {
        var before = sim_used_memory()
        var verdict = runOnce(plan, isTraced: isTraced)
        guard verdict.faults.isEmpty, sim_used_memory() > before + mostMemory else { return verdict }
        // What is kept for good is made once, and what a world has held is freed now and then later. A leak
        // comes again each time.
        let runs = 8
        before = sim_used_memory()
        for _ in 0..<runs { _ = runOnce(plan, isTraced: false) }
        let kept = max(0, Int(sim_used_memory()) - Int(before)) / runs
        guard kept > mostMemory else { return verdict }
        verdict.faults.append("memory: each run keeps \(kept) bytes")
        return verdict
    }

    private static func runOnce(_ plan: Plan, isTraced: Bool) -> Verdict {
        let before = sim_live_connections()
        // The first call forgets the most of before.
        _ = sim_take_most()
        let usual = sim_take_most()
        let world = World(plan, isTraced: isTraced)
        Material.shared.beginWorld(
            seed: plan.seed,
            sharesTicketKeys: plan.peers?.sharesTicketKeys == true,
            encryptsNames: plan.encryption != nil
        )
        world.run()
        if sim_live_connections() != before {
            world.fault("leak", "\(sim_live_connections() - before) TLS connections were never freed")
        }
        // What a handshake may need is little, whatever the server sends.
        let most = sim_take_most() - usual
        if most > mostTLSMemory * (1 + world.kernel.mostConnections) {
            world.fault("memory", "OpenSSL had \(most) bytes, of \(world.kernel.mostConnections) connections")
        }
        sim_enter(0)
        defer { world.kernel.dissolve() }
        return Verdict(
            faults: world.faults,
            hash: world.kernel.record.hash,
            steps: world.kernel.steps,
            counts: world.kernel.counts,
            connections: world.kernel.allConnections.count,
            trace: world.kernel.record.lines ?? [],
            time: world.kernel.now
        )
    }

    private func run() {
        openServers()
        kernel.begin()
        do throws(Kernel.Fault) {
            if let tunnels = plan.tunnels {
                let stage = ProxyStage(self, tunnels)
                stage.begin()
                try drive { stage.isDone }
            } else {
                let callers = Callers(self)
                callers.begin()
                try drive { callers.areDone }
            }
            for run in runs { run.close() }
            // The client is gone by now. What it leaves behind has to end by itself, but not while stopped.
            let end = kernel.now + 300_000_000_000 + UInt64(plan.kernel?.stop?.length ?? 0) * 1000
            // A resolver's cache may ask ahead, with more than one connection after each other.
            try drive { [kernel, loop] in
                kernel.connections.isEmpty && kernel.datagramSockets.isEmpty && kernel.threads == 0
                    && kernel.hasNoWork && loop.isUnused
                    || kernel.now > end
            }
            var open = kernel.connections.count + kernel.datagramSockets.count + kernel.disk.openCount
            open += kernel.listeners.count
            if open > 0 { fault("descriptors", "\(open) were never closed") }
            judgeDrafts()
            // Servers still read what is on its way to them.
            try drive { [kernel] in kernel.isQuiet }
            closeServers()
            try drive { [kernel] in kernel.isQuiet }
            kernel.count("judge: released clients")
            let left = clients.count { $0.state != nil }
            if left > 0 { fault("leak", "\(left) clients were never released") }
        } catch {
            let open = calls.indices.filter { !calls[$0].isOver }
            fault(error == .hang ? "hang" : "endless", "with unfinished calls \(open)")
            // Its tasks stay suspended for ever.
            closeServers()
        }
        kernel.count("judge: memory")
        judgeAtTheEnd()
    }

    private func drive(until isOver: () -> Bool) throws(Kernel.Fault) {
        try kernel.run({ loop.turn() }, until: isOver)
    }

    private func closeServers() {
        for connection in accepted.joined() { kernel.serverCloses(connection) }
    }

    /// Judges that no temporary file is left, unless the disk may have failed to remove it.
    private func judgeDrafts() {
        let drafts = kernel.disk.names.filter { $0.contains(".direct-http") }
        let hasPower = plan.keeping?.ends.allSatisfy { !$0.isPowerFailure } ?? true
        if hasPower, plan.disk?.failures ?? 0 == 0, !drafts.isEmpty { fault("file", "\(drafts) are left") }
    }
}
