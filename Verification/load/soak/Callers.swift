import DirectHTTP

/// The tasks that make calls until they are stopped, and the one that probes servers which are back.
struct Callers: Sendable {
    let settings: SoakSettings
    let clients: Clients
    let ledger: Ledger

    init(_ settings: SoakSettings, _ ledger: Ledger) throws {
        self.settings = settings
        self.ledger = ledger
        clients = try Clients(settings)
    }

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await probe() }
            for number in 0..<settings.callers { group.addTask { await calls(of: number) } }
        }
    }

    /// Every fourth caller runs on the client's executor, as a server's handlers would.
    private func calls(of number: Int) async {
        let caller = Caller(settings, clients, ledger)
        var chance = Chance(seed: settings.seed &+ UInt64(number) &* 7919)
        while !ledger.isStopped {
            if number.isMultiple(of: 4) {
                await withTaskExecutorPreference(clients.bare.executor) { await caller.call(&chance) }
            } else {
                await caller.call(&chance)
            }
            try? await Task.sleep(for: .milliseconds(chance.below(30)))
        }
    }

    /// Measures how long a server that is back remains out of reach for callers.
    private func probe() async {
        await withDiscardingTaskGroup { group in
            for await name in ledger.probes.names {
                guard let peer = settings.peers.first(where: { $0.name == name }) else {
                    fail("no peer \(name)")
                }
                group.addTask { ledger.recovered(after: await recovery(of: peer), name) }
            }
        }
    }

    private func recovery(of peer: Peer) async -> Duration? {
        let start = ContinuousClock.now
        let name = peer.content.isEmpty ? settings.blobs.smallest.name : peer.content
        var request = HTTPClient.Request(.get, peer.url("/blob/\(name)", relayed: false))
        request.timeouts = RequestTimeouts(total: .seconds(2))
        while ContinuousClock.now - start < .seconds(20) {
            if let response = try? await clients.bare.fetch(request), response.status == 200 {
                return ContinuousClock.now - start
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }
}
